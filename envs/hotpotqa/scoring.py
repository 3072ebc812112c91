"""Official HotPotQA metrics, and the rules that decide success.

Source of every metric: `hotpot_evaluate_v1.py` of hotpotqa/hotpot (Yang et al., 2018, section 4). Its corner cases are
kept: answers that both normalise to nothing have EM 1 and F1 0, punctuation is deleted and not replaced by a space, and
only ASCII punctuation is. A null answer, on which the original crashes, is "no answer" here: 0 in every metric, and
never the same thing as the empty answer.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reflex_bench.core.errors import UsageError

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
# An F1 of exactly 4/5 may come out a rounding error short of 0.8.
_ROUNDING = 1e-9
_CLOSED_ANSWERS = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True, slots=True)
class Score:
    """One metric family of one question, each value between 0 and 1."""

    em: float = 0.0
    f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0


def normalise(text: str) -> str:
    """Lower case, ASCII punctuation deleted, articles blanked, white space collapsed, in this order."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(prediction: str | None, gold: str) -> bool:
    """Return True where both are the same after `normalise`; never for no answer."""
    return prediction is not None and normalise(prediction) == normalise(gold)


def answer_score(prediction: str | None, gold: str) -> Score:
    """Return EM and token F1 of an answer; all 0 for no answer.

    Where one side is `yes`, `no` or `noanswer` and the other is not the same, partial overlap does not count.
    """
    if prediction is None:
        return Score()
    ours, theirs = normalise(prediction), normalise(gold)
    em = float(ours == theirs)
    if ours != theirs and (ours in _CLOSED_ANSWERS or theirs in _CLOSED_ANSWERS):
        return Score(em)
    ours_tokens, theirs_tokens = ours.split(), theirs.split()
    same = sum((Counter(ours_tokens) & Counter(theirs_tokens)).values())
    if same == 0:
        return Score(em)
    precision, recall = same / len(ours_tokens), same / len(theirs_tokens)
    return Score(em, 2 * precision * recall / (precision + recall), precision, recall)


def support_score(predicted: Iterable[Sequence[Hashable]], gold: Iterable[Sequence[Hashable]]) -> Score:
    """Supporting facts as sets of (title, sentence index): titles as in the data, order and repeats without meaning."""
    ours, theirs = {tuple(fact) for fact in predicted}, {tuple(fact) for fact in gold}
    hits = len(ours & theirs)
    precision = hits / len(ours) if ours else 0.0
    recall = hits / len(theirs) if theirs else 0.0
    return Score(float(ours == theirs), _harmonic(precision, recall), precision, recall)


def joint_score(answer: Score, support: Score) -> Score:
    """Products of precision, recall and EM; F1 from the products."""
    precision, recall = answer.precision * support.precision, answer.recall * support.recall
    return Score(answer.em * support.em, _harmonic(precision, recall), precision, recall)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def evaluate(
    answers: Mapping[str, str | None],
    gold: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Iterable[Sequence[Hashable]]] | None = None,
) -> dict[str, float]:
    """Averages over a data set, under the official names (`em`, `f1`, `prec`, `recall`, `sp_em`, …, `joint_recall`).

    Every average is over all of `gold`: a question without an answer, or without cited facts, adds 0. The joint metrics
    of a question need both. Answers to questions that are not in `gold` are ignored.

    Args:
        answers: question id -> answer; None or absent for no answer.
        gold: official records (`_id` or `id`, `answer`, `supporting_facts` as pairs).
        facts: question id -> cited (title, sentence index) pairs; None where nothing was cited for any question.

    Raises:
        UsageError: no gold question, or an answer that is not text.
    """
    if not gold:
        raise UsageError("nothing to score: the list of gold questions is empty")
    sums = dict.fromkeys((p + m for p in ("", "sp_", "joint_") for m in ("em", "f1", "prec", "recall")), 0.0)
    for record in gold:
        key = str(record["_id"] if "_id" in record else record["id"])
        said, cited = answers.get(key), (facts or {}).get(key)
        if said is not None and not isinstance(said, str):
            raise UsageError(
                f"the answer to question {key!r} is a {type(said).__name__}; it must be text or null"
            )
        answer = answer_score(said, record["answer"])
        _add(sums, "", answer)
        if cited is not None:
            support = support_score(cited, record["supporting_facts"])
            _add(sums, "sp_", support)
            _add(sums, "joint_", joint_score(answer, support))
    return {name: total / len(gold) for name, total in sums.items()}


def _add(sums: dict[str, float], prefix: str, score: Score) -> None:
    sums[prefix + "em"] += score.em
    sums[prefix + "f1"] += score.f1
    sums[prefix + "prec"] += score.precision
    sums[prefix + "recall"] += score.recall


@dataclass(frozen=True, slots=True)
class SuccessRule:
    """What counts as a solved question.

    An answer without a single visible character is never a success, even though official EM gives it 1 where the gold
    answer normalises to nothing (2 of the 7,405 development questions).

    Attributes:
        metric: `em`; `f1`, with a threshold; or `contains`: the gold answer's tokens stand in the answer, in one run.
        threshold: least F1, above 0 and at most 1; meaningless for the others.
    """

    metric: Literal["em", "f1", "contains"] = "em"
    threshold: float = 1.0

    @property
    def name(self) -> str:
        """As it stands on a table's row, and as `success_rule` reads it."""
        return f"f1>={self.threshold:g}" if self.metric == "f1" else self.metric

    @property
    def label(self) -> str:
        """What it asks for, in words that follow "a task is solved when"."""
        if self.metric == "f1":
            return f"the F1 of its answer is at least {self.threshold:g}"
        if self.metric == "contains":
            return "its answer contains the gold answer (contains)"
        return "its answer matches the gold answer exactly (EM)"

    def is_solved(self, result: Mapping[str, Any]) -> bool:
        """Return whether the answer in a trial's recorded result solves the question.

        Raises:
            ValueError: the result has no answer and no gold answer.
        """
        answer, gold = result.get("answer"), result.get("gold_answer")
        if not isinstance(answer, str | None) or not isinstance(gold, str):
            raise ValueError("without an answer and a gold answer")
        return self.holds(answer, gold)

    def holds(self, answer: str | None, gold: str) -> bool:
        """Return whether `answer` solves the question; False for no answer."""
        if answer is None or not answer.strip():
            return False
        if self.metric == "f1":
            return answer_score(answer, gold).f1 >= self.threshold - _ROUNDING
        if self.metric == "contains" and normalise(gold):
            return f" {normalise(gold)} " in f" {normalise(answer)} "
        return exact_match(answer, gold)


def success_rule(text: str) -> SuccessRule:
    """Reads `em`, `contains` or `f1>=0.8`.

    Raises:
        UsageError: it is none of these, or the threshold is not above 0 and at most 1.
    """
    compact = "".join(text.lower().split())
    if compact == "em":
        return SuccessRule()
    if compact == "contains":
        return SuccessRule("contains")
    if compact.startswith("f1>="):
        try:
            threshold = float(compact[4:])
        except ValueError:
            threshold = 0.0
        if 0 < threshold <= 1:
            return SuccessRule("f1", threshold)
        raise UsageError(
            f"success rule {text!r}: the F1 threshold must be above 0 and at most 1, e.g. f1>=0.8"
        )
    raise UsageError(f"unknown success rule {text!r}; known: em, contains, f1>=<threshold>, e.g. f1>=0.8")
