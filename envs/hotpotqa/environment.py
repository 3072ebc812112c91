"""HotPotQA as an environment of the harness."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import checked_options
from reflex_bench.envs import prompts
from reflex_bench.envs.base import Action, Episode, ParsePolicy, Prompts, Split, Task
from reflex_bench.envs.cache import cache_folder
from reflex_bench.envs.hotpotqa import splits
from reflex_bench.envs.hotpotqa.corpus.corpus import Corpus, LocalCorpus, read_pages
from reflex_bench.envs.hotpotqa.corpus.documents import Document
from reflex_bench.envs.hotpotqa.corpus.wikipedia import ENGLISH, Wikipedia
from reflex_bench.envs.hotpotqa.episode import HotpotEpisode
from reflex_bench.envs.hotpotqa.gold import gold_notes
from reflex_bench.envs.hotpotqa.metrics import METRICS
from reflex_bench.envs.hotpotqa.parsing import tools as native
from reflex_bench.envs.hotpotqa.parsing.actions import read_action
from reflex_bench.envs.hotpotqa.profiles import PROFILES, REFLEX, WHOLE_PAGE
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule, success_rule
from reflex_bench.envs.metrics import Metric
from reflex_bench.envs.sampling import Sampling, check_generated

TITLES = "as redirects"
"""How titles are matched (`corpus`); runs made before the fifth rule have no such setting."""


class Options(BaseModel):
    """What can be set for HotPotQA."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    split: str = splits.PROCEDURAL
    """`procedural` or `procedural:seed=7` (an invented world), or an official development set from the hub:
    `distractor`, `fullwiki`."""
    data: Path | None = None
    """An official JSON or JSON-lines file, read instead of the hub."""
    seed: int | None = Field(default=None, ge=0)
    """Of the invented world; 0 unless given."""
    sample: str | None = None
    """A published sample of the development set: `reflexion-100` or `react-500`."""
    task_ids: tuple[str, ...] = ()
    """Only these tasks."""
    task_type: Literal["bridge", "comparison"] | None = None
    """Only tasks of this type."""
    sampling: Sampling = "stratified"
    """Which tasks stand for the split where not all are taken: `stratified` by type and level, or the `first` by id."""
    corpus: str = "split"
    """What is searched: `split` (all pages of the whole split), `question` (the question's own), `file:PATH` or
    `wikipedia`."""
    on_miss: Literal["similar", "best"] = "similar"
    """A search that finds no page lists similar titles, or opens the best match (not for `wikipedia`)."""
    profile: Literal["reflex", "react", "reflexion"] = "reflex"
    """The wording of observations."""
    success: str = "em"
    """`em`, `contains`, or `f1>=0.8`."""
    feedback: Literal["oracle", "none"] = "oracle"
    """Whether Finish is answered with a verdict from the gold answer."""
    offline: bool = False
    """`wikipedia` answers from its snapshot alone."""
    snapshot: Path | None = None
    """File with every answer of `wikipedia`; by default in the cache folder."""
    wikipedia_url: str = Field(default=ENGLISH, pattern="^https?://")
    """The `api.php` of the wiki."""


def _check_used(options: Options, split: str) -> None:
    """Raise `UsageError` where an option was given that another one makes meaningless."""
    if options.data is not None and options.seed is not None:
        raise UsageError("--data and a seed of the invented world exclude one another; leave out one of them")
    if options.data is not None and split == splits.PROCEDURAL and "split" in options.model_fields_set:
        raise UsageError(
            f"--data {options.data} and --split {options.split} exclude one another: procedural questions are "
            "generated; leave out one of them"
        )
    if options.offline and options.corpus != "wikipedia":
        raise UsageError(f"--offline goes with --corpus wikipedia, not with --corpus {options.corpus}")


class HotpotEnvironment:
    """Questions over an encyclopedia, with Search, Lookup and Finish.

    Raises:
        UsageError: options that do not go together.
    """

    name = "hotpotqa"
    title = "HotPotQA"
    task_name = "question"
    cluster_name = "pair of gold pages"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.feedback: str = options.feedback
        self.profile = PROFILES[options.profile]
        self.max_steps = self.profile.max_steps
        self.rule = success_rule(options.success)
        if options.corpus == "wikipedia" and options.on_miss == "best":
            raise UsageError(
                "on_miss=best does not go with corpus=wikipedia: the live wiki is never guessed at"
            )
        if options.corpus not in ("split", "question", "wikipedia") and not options.corpus.startswith(
            "file:"
        ):
            raise UsageError(
                f"unknown corpus {options.corpus!r}; known: split, question, file:PATH, wikipedia"
            )
        self._split, self._seed = splits.parse_name(options.split, options.seed)
        _check_used(options, self._split)
        if options.sample is not None:
            splits.positions(options.sample)
        self._wanted = 0
        self._lock = threading.RLock()

    @cached_property
    def prompts(self) -> Prompts:
        """From `envs/prompts/hotpotqa.yaml`, in the words of the profile.

        The originals' profiles have their own words for what is no action; no example has a note that the profile does
        not give.
        """
        texts = prompts.load(self.name)
        if self.profile is not REFLEX:
            texts = prompts.without(texts, f" {WHOLE_PAGE}")
        if self.profile.answers_unread:
            texts = replace(texts, invalid_observation=self.profile.invalid)
        return texts

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """Return the split, by id, or the `count` tasks that stand for it; the data is read once.

        The invented world grows where it would have fewer than `count`.

        Raises:
            UsageError: the data is not there or not usable.
        """
        with self._lock:
            options = self.options
            self._wanted = count or 0
            split = splits.choose(self._source, options.sample, options.task_ids, options.task_type)
            corpus = self._corpus  # one that cannot be read must fail here, before the first paid call
            if options.corpus == "question":
                self._check_own_pages(split)
            taken = splits.subset(split, count, seed, options.sampling)
            notes = gold_notes(taken.tasks, corpus, options.corpus == "question")
            return replace(taken, notes=(*taken.notes, *notes))

    def enough_to_preview(self, count: int) -> int:
        """Return how many questions a dry run loads."""
        options = self.options
        if options.data is not None or self._split != splits.PROCEDURAL:
            return count
        check_generated(count, "questions")
        # At least one in five is of either type.
        return min(count, splits.DEFAULT_COUNT // (5 if options.task_type else 1))

    @cached_property
    def _source(self) -> splits.QuestionSource:
        if self.options.data is not None:
            return splits.file(self.options.data)
        if self._split == splits.PROCEDURAL:
            return splits.procedural(self._seed, self._wanted, self.options.task_type)
        return splits.hub(self._split)

    @cached_property
    def _corpus(self) -> Corpus:
        """What is searched; for `question` the union, which is what its size and hash are of."""
        options = self.options
        if options.corpus == "wikipedia":
            snapshot = options.snapshot or cache_folder() / "hotpotqa" / "wikipedia.jsonl"
            return Wikipedia(snapshot, options.wikipedia_url, options.offline)
        if options.corpus.startswith("file:"):
            return LocalCorpus("file", read_pages(Path(options.corpus.removeprefix("file:")).expanduser()))
        corpus = LocalCorpus(options.corpus, self._source.pages())
        if not corpus.size:
            raise UsageError(
                f"{self._source.name} carries no paragraphs; give corpus=file:PATH or corpus=wikipedia"
            )
        return corpus

    def _check_own_pages(self, split: Split) -> None:
        for task in split.tasks:
            question: Question = task.data
            if not question.pages:
                raise UsageError(
                    f"corpus=question: the task {task.id} carries no paragraphs; use corpus=split"
                )

    def gold_context(self, task: Task) -> str:
        """Return the paragraphs that hold the answer, each once (Reflexion's notebook repeats one for each fact in it).

        Raises:
            UsageError: the task carries no paragraphs.
        """
        pages = [page for page in task.data.pages if page.title in task.data.gold_titles]
        if not pages:
            raise UsageError(f"agent 'cot-gold': the task {task.id} carries no gold paragraphs")
        return "\n\n".join(f"{page.name}: {page.text}" for page in pages)

    def start(self, task: Task) -> Episode:
        """Return a fresh episode."""
        with self._lock:
            corpus = self._corpus
        if self.options.corpus == "question":
            corpus = LocalCorpus("question", task.data.pages)
        fallback: Callable[[str], Document | None] | None = None
        if self.options.on_miss == "best" and isinstance(corpus, LocalCorpus):
            fallback = corpus.best
        return HotpotEpisode(task, corpus, self.profile, self.rule, self.feedback == "oracle", fallback)

    def sample_observations(self) -> Sequence[str]:
        """Return every kind of answer, for the prompt hash."""
        from reflex_bench.envs.hotpotqa.sample_observations import sample_observations

        return list(sample_observations(self.profile, self.rule, self.feedback == "oracle"))

    def read_action(self, completion: str, policy: ParsePolicy) -> Action:
        """Finds Search, Lookup or Finish in a completion. Never raises."""
        return read_action(completion, policy)

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """Search, Lookup and Finish as native tools."""
        return tuple(native.tools())

    def read_call(self, name: str, arguments: str, thought: str, extra: int) -> Action:
        """Return the action of a native tool call. Never raises."""
        return native.from_tool_call(name, arguments, thought=thought, extra=extra)

    def as_call(self, command: str) -> tuple[str, str] | None:
        """Return a command as a native tool call."""
        return native.as_tool_call(command)

    def without_feedback(self) -> HotpotEnvironment:
        """Return the same environment, in which Finish is answered without a verdict."""
        silent = copy.copy(self)
        silent.feedback = "none"
        return silent

    def metrics(self) -> tuple[Metric, ...]:
        """Exact match, F1, and the gold pages that were opened."""
        return METRICS

    def generate(self, seed: int, tasks: int, out: Path) -> None:
        """Write questions in the official schema, and the encyclopedia that answers them."""
        from reflex_bench.envs.hotpotqa.generator import twin as generator

        generator.write(seed, tasks, out)

    def recognised_by(self, task: Task, opening: str) -> tuple[str, str]:
        """Return the question."""
        return "question", task.text

    def success_rule(self, name: str | None = None) -> SuccessRule:
        """Return the rule by which a question is solved, or another one by its name.

        Raises:
            UsageError: there is no such rule.
        """
        return self.rule if name is None else success_rule(name)

    def settings(self) -> Mapping[str, Any]:
        """Return what decides whether two rows can be compared."""
        with self._lock:
            corpus = self._corpus
        return {
            "profile": self.profile.name,
            "success": self.rule.name,
            "feedback": self.feedback,
            "corpus": corpus.kind,
            "corpus_size": corpus.size,
            "corpus_sha256": corpus.sha256,
            "on_miss": self.options.on_miss,
            "titles": TITLES,
        }

    def close(self) -> None:
        """Do nothing: nothing is held open."""


def create(options: Mapping[str, Any]) -> HotpotEnvironment:
    """Return the environment for these options; nothing is loaded yet.

    Args:
        options: the fields of `Options`.

    Raises:
        UsageError: an option that does not exist or does not fit, in one line.
    """
    return HotpotEnvironment(checked_options("environment 'hotpotqa'", Options, options))
