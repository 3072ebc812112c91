"""Counts how many questions of a split lack a gold answer or gold pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from reflex_bench.envs.base import Task
from reflex_bench.envs.hotpotqa.corpus.corpus import LocalCorpus
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import normalise


def gold_notes(tasks: Sequence[Task], corpus: object, own_pages: bool) -> Iterator[str]:
    """Yield one line for everything that some questions lack.

    Args:
        tasks: of the split, as they are run.
        corpus: what is searched; what a live wiki holds nobody knows.
        own_pages: whether each question is played on its own paragraphs alone.
    """

    def lacking(missing: Callable[[Question], bool]) -> str:
        number = sum(missing(task.data) for task in tasks)
        return f"{number} of {len(tasks)} questions" if number else ""

    local = corpus if isinstance(corpus, LocalCorpus) and not own_pages else None
    if local and (some := lacking(lambda each: not all(map(local.holds, each.gold_titles)))):
        yield f"gold pages of {some} are not in the corpus"
    if some := lacking(lambda each: bool(each.pages) and not each.has_gold_pages):
        yield f"gold pages of {some} are not among the question's own paragraphs, which are what cot-gold is shown"
    if some := lacking(lambda each: not normalise(each.answer)):
        yield f"the gold answers of {some} have no word that is scored, so that an empty answer is right"
