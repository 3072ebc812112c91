"""One trial at one question: Search, Lookup, Finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reflex_bench.envs.base import StepResult, Task
from reflex_bench.envs.hotpotqa.corpus.corpus import Corpus, Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document, fold
from reflex_bench.envs.hotpotqa.parsing.actions import split_command
from reflex_bench.envs.hotpotqa.profiles import Profile, matching
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule, answer_score


class HotpotEpisode:
    """A fresh reader with no page open, no lookup under way and no answer given.

    Args:
        task: with a `Question` as its data.
        corpus: what is searched.
        profile: what is told.
        rule: what counts as success.
        tells_verdict: whether the answer to Finish says if it was right.
        fallback: query -> page to open on a miss; without it, or where it gives none, similar titles are listed.
    """

    def __init__(
        self,
        task: Task,
        corpus: Corpus,
        profile: Profile,
        rule: SuccessRule,
        tells_verdict: bool,
        fallback: Callable[[str], Document | None] | None = None,
    ) -> None:
        self._task = task
        self._question: Question = task.data
        self._corpus = corpus
        self._profile = profile
        self._rule = rule
        self._tells_verdict = tells_verdict
        self._fallback = fallback
        self._page: Document | None = None
        self._keyword = ""
        self._lookups = 0
        self._answer: str | None = None
        self._last = StepResult("")
        self._gold = {fold(title) for title in self._question.gold_titles}
        self._reached: set[str] = set()

    def reset(self) -> str:
        """Return the question."""
        return f"Question: {self._task.text}"

    def step(self, command: str) -> StepResult:
        """Executes `Search[…]`, `Lookup[…]` or `Finish[…]`; after Finish, the last answer is repeated.

        Raises:
            EnvironmentFailure: the corpus could not be reached.
        """
        if self._answer is not None:
            return self._last
        call = split_command(command)
        if call is None or (not call[1] and call[0] != "Finish"):
            self._last = StepResult(self._profile.invalid.format(command=command.strip()), valid=False)
        elif call[0] == "Search":
            self._last = StepResult(self._search(call[1]))
        elif call[0] == "Lookup":
            self._last = StepResult(self._lookup(call[1]))
        else:
            self._last = self._finish(call[1])
        return self._last

    def _search(self, query: str) -> str:
        outcome = self._corpus.find(query, self._profile.similar)
        if isinstance(outcome, Missing):
            page = self._fallback(query) if self._fallback else None
            if page is None:
                if self._profile.miss_clears_page:
                    self._open(None)
                return self._profile.missed(query, outcome)
        else:
            page = outcome.document
        self._open(page)
        return self._profile.opened(query, page)

    def _open(self, page: Document | None) -> None:
        self._page = page
        if page is not None:
            self._reached |= {fold(page.title)} & self._gold
        if self._profile.search_resets_lookup:
            self._keyword, self._lookups = "", 0

    def _lookup(self, words: str) -> str:
        profile = self._profile
        if self._page is None:
            return profile.no_page
        keyword = words.lower() if profile.folds_keyword else words
        self._lookups = self._lookups + 1 if keyword == self._keyword else 1
        self._keyword = keyword
        found = matching(profile.units(self._page), words)
        if not found:
            return profile.none
        if self._lookups > len(found):
            return profile.exhausted
        return profile.hit.format(number=self._lookups, total=len(found), text=found[self._lookups - 1])

    def _finish(self, answer: str) -> StepResult:
        self._answer = answer
        won = self._rule.holds(answer, self._question.answer)
        right, wrong, untold = self._profile.verdicts
        text = (right if won else wrong) if self._tells_verdict else untold
        return StepResult(text, won=won, done=True)

    def result(self) -> Mapping[str, Any]:
        """Return the answer (None where Finish was never called), its scores, and the gold pages opened."""
        score = answer_score(self._answer, self._question.answer)
        return {
            "answer": self._answer,
            "gold_answer": self._question.answer,
            "em": score.em,
            "f1": score.f1,
            "precision": score.precision,
            "recall": score.recall,
            "gold_pages": len(self._gold),
            "gold_pages_reached": len(self._reached),
            "forced_finish": self._answer is None,
        }

    def close(self) -> None:
        """Do nothing: nothing is held."""
