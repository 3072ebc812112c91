"""Checks whether a reflection asks for anything that its trial has not done already."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from reflex_bench.agents.base import Step
from reflex_bench.agents.reflection.copying import words

_WINDOW, _SKIPPED = 10, 5
"""Words behind a verb in which the thing that it is about stands, and how many may stand before the thing."""
_LOOKUPS = ("lookup", "look up")
_ANY = "start"
_RETURNS = (("start",), ("begin",), ("return",), ("go", "back"))
"""What is said of a thing without saying which action is meant; any action on it counts."""
_NOTHING_MORE = ("Could not find", "(whole page shown)")
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_SIMILAR = re.compile(r"Similar: \[([^\]]*)\]")


def asks_for_the_same(
    sentences: Iterable[str], steps: Sequence[Step], names: Collection[str], verbs: Sequence[str]
) -> bool:
    """Return whether every action that is asked for is one that the trial took.

    Looking something up counts as new only where the page can hold more than was shown. Where no action is named
    together with a thing, nothing can be said, and the answer is False.

    Args:
        sentences: those of a reflection that ask for something.
        steps: of the trial.
        names: the things that occur in it, as words parted by single spaces.
        verbs: with what the environment's actions begin.
    """
    known = {form: _ANY for verb in _RETURNS for form in _forms(verb)}
    known |= {form: " ".join(words(verb)) for verb in verbs for form in _forms(words(verb))}
    asked = {pair for sentence in sentences for pair in _asked(words(sentence), known, names)}
    main = {pair for pair in asked if pair[0] not in _LOOKUPS}
    done = {pair: [step.observation for step in steps if _is(step, *pair)] for pair in main}
    if not main or not all(done.values()):
        return False
    more = any(not any(mark in seen for mark in _NOTHING_MORE) for each in done.values() for seen in each)
    return not more or not asked - main


def _is(step: Step, verb: str, name: str) -> bool:
    """Return whether a step took an action on a thing: `Search[…]` on the title, a command on every name in it."""
    action = step.action or ""
    bracket = _BRACKETS.search(action)
    if bracket is None:
        said = " ".join(words(action))
        return (verb == _ANY or said.startswith(f"{verb} ")) and f" {name} " in f"{said} "
    # A title that the answer lists is another than the one that was not found, if only by its parenthesis.
    similar = _SIMILAR.search(step.observation)
    listed = {_title(each) for each in similar[1].split(";")} if similar else set()
    meant = verb == _ANY or words(action[: bracket.start()]) == verb.split()
    return meant and _title(bracket[1]) == name and name not in listed


def _title(text: str) -> str:
    return " ".join(words(text)).removeprefix("the ")


def _asked(
    said: Sequence[str], verbs: Mapping[tuple[str, ...], str], names: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield every verb with the thing that it is about; one that looks something up, with the word that follows."""
    for place in range(len(said)):
        form = next((each for each in verbs if tuple(said[place : place + len(each)]) == each), None)
        if form is None:
            continue
        after = said[place + len(form) : place + len(form) + _WINDOW]
        name = " ".join(after[:1]) if verbs[form] in _LOOKUPS else _first_name(after, names)
        if name:
            yield verbs[form], name


def _forms(verb: Sequence[str]) -> Iterator[tuple[str, ...]]:
    first, *rest = verb
    yield (first, *rest)
    yield (f"{first.removesuffix('e')}ing", *rest)


def _first_name(after: Sequence[str], names: Collection[str]) -> str:
    for start in range(min(len(after), _SKIPPED)):
        for end in range(len(after), start, -1):
            if " ".join(after[start:end]) in names:
                return " ".join(after[start:end]).removeprefix("the ")
    return ""
