"""Audit of reflections by rules: whether one is worth remembering.

The rules look at the text and at the trial it is about, never at how the next trial goes. Reflectors were seen to write
nothing but an answer (`42`), nothing at all, or what they had written before: 21 of the 200 ALFWorld reflections that
Shinn et al. (2023) published repeat an earlier one of their task word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reflex_bench.agents.base import ENDED, Trajectory
from reflex_bench.agents.react import GIVE_UP
from reflex_bench.agents.reflection.copying import copies, repeats_itself
from reflex_bench.agents.reflection.instructions import INSTRUCTION
from reflex_bench.agents.reflection.languages import is_english, spaced
from reflex_bench.agents.reflection.names import Names, names_of, proper_names, spaced_words
from reflex_bench.agents.reflection.novelty import asks_for_the_same

RULES: Mapping[str, str] = {
    "cites_trajectory": "name the steps or things of this attempt that it is about, and none that did not occur in it",
    "actionable": "say what to do next time, with an action or a place that exists here",
    "within_limits": "ask for no more steps than one attempt has, and for no action that does not exist",
    "known_history": "speak of no attempts and no reflections that there have not been",
    "not_repeated": "say something else than an earlier reflection",
    "new_action": "ask for something that this attempt did not do",
    "prose": "write two to four sentences, without list, heading, code or actions line by line",
    "truncated": "end every sentence",
    "repeats_itself": "say every thing once",
    "copied_example": "use your own words, and nothing from the examples, the instructions or the list of the room",
}
"""The rules, and how each is told to a reflector that broke it."""

_NUMBER = re.compile(r"\d")
_STEPS = re.compile(r"\bsteps? (\d+)(?:(?: ?[-–] ?| and | to )(\d+))?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_FORM = re.compile(r"\b(?:write|spell|format|numbers?|brackets?|one line)\b")
"""How an action is written is in the agent's hands in every environment."""
_DENIAL = re.compile(r"\b(?:not|never|avoid|instead of|no such|nothing|invalid|unknown|without)\b|n't\b")
_CALL = re.compile(r"\b([A-Z][A-Za-z_]{1,30})\[")
_QUOTED = re.compile(
    r"\b(?:commands?|actions?|type|write|say|enter|execute)\b[^\"'`.]{0,20}[\"'`]([^\"'`\n]{1,80})[\"'`]"
)
_AMOUNT = re.compile(
    r"\b(\d+|forty|fifty|sixty|seventy|eighty|ninety|hundred)\s+(?:more |further |additional |other )?"
    r"(?:steps|actions|turns|commands|moves)\b"
)
_TENS = {"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
_ENDLESS = re.compile(
    r"\bas many (?:steps|actions|turns) as|\b(?:unlimited|endless) (?:steps|actions|turns)\b"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {word: number for words in (_ORDINALS, _CARDINALS) for number, word in enumerate(words, 1)}
_ATTEMPT = re.compile(
    rf"\b(?:attempt|trial) (?:number )?(\d+)\b|\b({'|'.join(_ORDINALS)}) (?:attempt|trial)\b"
)
_BEFORE = r"(?:last|past|previous|earlier|prior)"
_SO_MANY = rf"({'|'.join(_CARDINALS)}|\d+)"
_PAST = re.compile(rf"\b(?:{_BEFORE} {_SO_MANY}|{_SO_MANY} {_BEFORE}) (?:attempts|trials|tries)\b")
_ATTEMPTS = re.compile(r"\b(?:previous|earlier|prior) (?:attempts|trials|tries)\b")
_NOTES = re.compile(rf"\b{_BEFORE} (?:reflections?|notes?|lessons?)\b|\bsame as before\b")
_REPEATED = 0.9
"""A text is a repeat when an earlier one makes up this share of it, as when only "Again:" was put before it."""
_LIST_LINE = re.compile(
    r"\s*(?:[-*•>]\s|\d+[.)]\s|#+\s|```|\**Step \d+|\*\*[^*]{1,40}\*\*:?\s*$"
    r"|(?:Thought|Action|Observation|Question)\b[ \d]*:)"
)
_LIST_LINES = 2


@dataclass(frozen=True, slots=True)
class Written:
    """What is known of a reflection beside its text.

    Attributes:
        lines: those of the reply that it was made from.
        whole: False where it breaks off.
        sources: what the reflector was shown beside the trial: instructions and examples.
    """

    lines: tuple[str, ...] = ()
    whole: bool = True
    sources: tuple[str, ...] = ()


WRITTEN = Written()


def audit(
    text: str,
    trajectory: Trajectory,
    earlier: Sequence[str],
    max_steps: int | None,
    verbs: Sequence[str],
    written: Written = WRITTEN,
) -> tuple[str, ...]:
    """Return the rules that a reflection fails, in the order of `RULES`; none where it is worth remembering.

    Args:
        text: the reflection.
        trajectory: the trial it is about.
        earlier: what was written after earlier trials of the task.
        max_steps: the step cap; None where it is not known.
        verbs: with what the environment's actions begin (`Prompts.verbs`); with none, every action is taken to exist.
        written: how the text came about.
    """
    text, names = spaced(text), names_of(trajectory)
    holds: Mapping[str, Callable[[], bool]] = {
        "cites_trajectory": lambda: _cites(text.lower(), trajectory, names),
        "actionable": lambda: _is_actionable(text, names, verbs),
        "within_limits": lambda: _possible(text, max_steps, verbs),
        "known_history": lambda: _knows(text.lower(), trajectory.trial, bool(earlier)),
        "not_repeated": lambda: not any(_repeats(text, one) for one in earlier),
        "new_action": lambda: not _asks_for_the_same(text, trajectory, names, verbs),
        "prose": lambda: sum(_LIST_LINE.match(line) is not None for line in written.lines) < _LIST_LINES,
        "truncated": lambda: written.whole,
        "repeats_itself": lambda: not repeats_itself(text, names.any),
        "copied_example": lambda: not _copied(text, trajectory, written.sources),
    }
    return tuple(rule for rule in RULES if not holds[rule]())


def _cites(text: str, trajectory: Trajectory, names: Names) -> bool:
    steps = [_count(number) for pair in _STEPS.findall(text) for number in pair if number]
    if any(not 1 <= number <= len(trajectory.steps) for number in steps):
        return False
    if any(names.invented(each, _asks(each)) for each in _SENTENCE.split(text)):
        return False
    named = steps or names.occur(text)
    # Who writes in another language may translate the names of things, and then only their numbers are left.
    return bool(named) or (not is_english(text) and bool(_NUMBER.search(text)))


def _asks(sentence: str) -> bool:
    """Return whether a sentence asks for something, and does not warn of it."""
    return bool(INSTRUCTION.search(sentence)) and not _DENIAL.search(sentence)


def _is_actionable(text: str, names: Names, verbs: Sequence[str]) -> bool:
    sentences = _SENTENCE.split(text.lower())
    if is_english(text):
        return any(_instructs(each, names, verbs) for each in sentences)
    # How other languages ask for something is not known here: that something is named must do.
    acts = [spaced_words(verb) for verb in verbs]
    return any(names.occur(each) or any(act in spaced_words(each) for act in acts) for each in sentences)


def _asks_for_the_same(text: str, trajectory: Trajectory, names: Names, verbs: Sequence[str]) -> bool:
    things = names.any | {" ".join(pair) for pair in names.numbered}
    asking = (each for each in _SENTENCE.split(text) if INSTRUCTION.search(each.lower()))
    return asks_for_the_same(asking, trajectory.steps, things, verbs)


def _instructs(sentence: str, names: Names, verbs: Sequence[str]) -> bool:
    words = spaced_words(sentence)
    acts = [spaced_words(verb) for verb in verbs]
    if not INSTRUCTION.search(sentence) and not words.startswith(tuple(acts)):
        return False
    return any(act in words for act in acts) or bool(_FORM.search(sentence)) or names.occur(sentence)


def _possible(text: str, max_steps: int | None, verbs: Sequence[str]) -> bool:
    lower = text.lower()
    amounts = [_TENS.get(amount) or _count(amount) for amount in _AMOUNT.findall(lower)]
    if _ENDLESS.search(lower) or (max_steps is not None and any(amount > max_steps for amount in amounts)):
        return False
    known = tuple(spaced_words(verb) for verb in (*verbs, GIVE_UP, "think"))
    for sentence in _SENTENCE.split(text):
        # What was tried in vain, or is warned of, may well not exist.
        if not verbs or not INSTRUCTION.search(sentence.lower()) or _DENIAL.search(sentence.lower()):
            continue
        asked_for = [*_CALL.findall(sentence), *_QUOTED.findall(sentence)]
        if not all(spaced_words(action).startswith(known) for action in asked_for):
            return False
    return True


def _knows(text: str, trial: int, noted: bool) -> bool:
    """Return whether all attempts and notes that are spoken of exist. The attempt to come may be spoken of, too."""
    named = [_count(word) for pair in _ATTEMPT.findall(text) for word in pair if word]
    past = [_count(word) for pair in _PAST.findall(text) for word in pair if word]
    if any(number > trial + 1 for number in named) or any(number > trial for number in past):
        return False
    return (trial > 1 or not _ATTEMPTS.search(text)) and (noted or not _NOTES.search(text))


def _count(word: str) -> int:
    # Nine digits are more than any limit, and Python refuses to read some thousand.
    return _COUNTS.get(word) or int(word[:9])


def _copied(text: str, trajectory: Trajectory, sources: Sequence[str]) -> bool:
    """Return whether a text has words, or names of things, that the reflector had from elsewhere than the trial."""
    steps = trajectory.steps
    own = [part for step in steps for part in (step.thought, step.action or "", step.observation)]
    # The task may be named, and so may how the trial ended; not so the list of the room.
    own += [trajectory.task.text, *(ended.format(steps=len(steps)) for ended in ENDED.values())]
    if copies(text, [*sources, trajectory.opening], own):
        return True
    foreign = {name for source in sources for name in proper_names(source) if " " in name}
    here = spaced_words(" ".join([trajectory.opening, *own]))
    return any(
        spaced_words(name) in spaced_words(text) and spaced_words(name) not in here for name in foreign
    )


def _repeats(text: str, earlier: str) -> bool:
    now, before = spaced_words(text), spaced_words(earlier)
    return bool(before.strip()) and before in now and len(before) >= _REPEATED * len(now)
