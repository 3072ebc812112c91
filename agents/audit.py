"""Whether a reflection is worth remembering, by rules.

The rules look at the text and at the trial it is about, never at how the next trial goes. Reflectors were seen to write
nothing but an answer (`42`), nothing at all, or what they had written before: 21 of the 200 ALFWorld reflections that
Shinn et al. (2023) published repeat an earlier one of their task word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflex_bench.agents.base import ENDED, Trajectory
from reflex_bench.agents.copying import copies, repeats_itself
from reflex_bench.agents.languages import is_english, spaced
from reflex_bench.agents.react import GIVE_UP

RULES: Mapping[str, str] = {
    "cites_trajectory": "name the steps or things of this attempt that it is about, and none that did not occur in it",
    "actionable": "say what to do next time, with an action or a place that exists here",
    "within_limits": "ask for no more steps than one attempt has, and for no action that does not exist",
    "known_history": "speak of no attempts and no reflections that there have not been",
    "not_repeated": "say something else than an earlier reflection",
    "prose": "write two to four sentences, without list, heading, code or actions line by line",
    "truncated": "end every sentence",
    "repeats_itself": "say every thing once",
    "copied_example": "use your own words, and nothing from the examples, the instructions or the list of the room",
}
"""The rules, and how each is told to a reflector that broke it."""

_PLACE = re.compile(r"\ban? ([a-z]+) (\d+)")
_NUMBERED = re.compile(r"\b([a-z]+) \(?(\d+)\)?")
_NUMBER = re.compile(r"\d")
_STEPS = re.compile(r"\bsteps? (\d+)(?:(?: ?[-–] ?| and | to )(\d+))?")
_PROPER = re.compile(r"[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van|and) )?[A-Z][\w'’-]+)*")
_BRACKETS = re.compile(r"\[([^\[\]]{2,300})\]")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_INSTRUCTION = re.compile(
    r"\b(?:should|must|need to|have to|ought to|will|next (?:time|trial|attempt)|this time|instead|try to|start by|"
    r"begin (?:with|by)|make sure|remember to|first)\b"
)
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
_SHORTEST_NAME = 3
_LIST_LINE = re.compile(
    r"\s*(?:[-*•>]\s|\d+[.)]\s|#+\s|```|\**Step \d+|(?:Thought|Action|Observation|Question)\b[ \d]*:)"
)
_LIST_LINES = 2
_LISTED_NUMBERS = re.compile(r"\b([a-z]+) \(?\d+\)?((?:,? (?:and |or )?\(?\d+\)?)+)(?: ([a-z]+))?")
""""shelves 7, 8 and 9": the numbers behind the first."""


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
    """The rules that a reflection fails, in the order of `RULES`; none where it is worth remembering.

    Args:
        text: the reflection.
        trajectory: the trial it is about.
        earlier: what was written after earlier trials of the task.
        max_steps: the step cap; None where it is not known.
        verbs: with what the environment's actions begin (`Prompts.verbs`); with none, every action is taken to exist.
        written: how the text came about.
    """
    text, names = spaced(text), _names(trajectory)
    holds: Mapping[str, Callable[[], bool]] = {
        "cites_trajectory": lambda: _cites(text.lower(), trajectory, names),
        "actionable": lambda: _is_actionable(text, names, verbs),
        "within_limits": lambda: _possible(text, max_steps, verbs),
        "known_history": lambda: _knows(text.lower(), trajectory.trial, bool(earlier)),
        "not_repeated": lambda: not any(_repeats(text, one) for one in earlier),
        "prose": lambda: sum(_LIST_LINE.match(line) is not None for line in written.lines) < _LIST_LINES,
        "truncated": lambda: written.whole,
        "repeats_itself": lambda: not repeats_itself(text, names.any),
        "copied_example": lambda: not _copied(text, trajectory, names, written.sources),
    }
    return tuple(rule for rule in RULES if not holds[rule]())


@dataclass(frozen=True, slots=True)
class _Names:
    """What occurs in a trial, in lower case.

    Attributes:
        numbered: (kind, number) of the things of a room that numbers its things.
        any: names of all sorts, words parted by single spaces.
        tried: (kind, number) of what the agent named itself.
    """

    numbered: frozenset[tuple[str, str]]
    any: frozenset[str]
    tried: frozenset[tuple[str, str]] = frozenset()

    def invented(self, text: str) -> bool:
        """Whether a text names a thing of a kind that occurs, under a number that does not.

        What the agent itself named in vain may be named again where a sentence tells of it, but not be asked for.
        """
        kinds = {kind for kind, _ in self.numbered}
        for sentence in _SENTENCE.split(text):
            asks = _INSTRUCTION.search(sentence) and not _DENIAL.search(sentence)
            known = self.numbered if asks else self.numbered | self.tried
            if any(pair[0] in kinds and pair not in known for pair in _pairs(sentence, kinds)):
                return True
        return False

    def occur(self, text: str) -> bool:
        """Whether a text names something that occurs; a number may be missing, an `s` may be added."""
        words = _words(text)
        forms = ("{}", "{}s", "{}es")
        plurals = (f"{name.removesuffix('f')}ves" for name in self.any if name.endswith("f"))
        named = (form.format(name) for name in self.any for form in forms)
        return any(f" {name} " in words for name in (*named, *plurals))


def _names(trajectory: Trajectory) -> _Names:
    seen = [trajectory.opening, *(step.observation for step in trajectory.steps)]
    # One "a top 10 hit" in a page makes no room; a room lists what stands in it at the beginning.
    room = len(_PLACE.findall(trajectory.opening)) > 1
    numbered = frozenset(pair for text in seen if room for pair in _PLACE.findall(text))
    names = {kind for kind, _ in numbered}
    tried = frozenset(
        pair for step in trajectory.steps if room for pair in _NUMBERED.findall(step.action or "")
    )
    for step in trajectory.steps:
        names.add(step.action or "")
        names.update(_BRACKETS.findall(step.action or ""))
    for text in seen:
        names.update(_proper(text))
        names.update(title for listed in _BRACKETS.findall(text) for title in listed.split(";"))
    tidy = (_words(name).strip() for name in names)
    return _Names(numbered, frozenset(name for name in tidy if len(name) >= _SHORTEST_NAME), tried)


def _pairs(text: str, kinds: Collection[str]) -> Iterator[tuple[str, str]]:
    """(kind, number) of the things that a text names, also in the plural ("shelves 7 and 8")."""
    for kind, number in _NUMBERED.findall(text):
        yield _singular(kind, kinds), number
    for kind, more, following in _LISTED_NUMBERS.findall(text):
        numbers = re.findall(r"\d+", more)
        # "desk 1, 2 shelves": the last one counts what follows.
        for number in numbers[: -1 if _singular(following, kinds) in kinds else None]:
            yield _singular(kind, kinds), number


def _singular(kind: str, kinds: Collection[str]) -> str:
    forms = (kind, kind.removesuffix("s"), kind.removesuffix("es"), f"{kind.removesuffix('ves')}f")
    return next((form for form in forms if form in kinds), kind)


def _proper(text: str) -> Iterator[str]:
    """Names as English writes them: capitals in the middle of a sentence, or several words with capitals in a row."""
    for found in _PROPER.finditer(text):
        name, before = found[0], text[max(0, found.start() - 2) : found.start()]
        inside = len(before) == 2 and before[1] == " " and (before[0].isalnum() or before[0] in ",;)")
        if inside:
            yield name
        elif " " in name:
            # The first word may have its capital from the sentence: "The Harrowgill Viaduct", "In Grauhafen".
            yield name
            yield name.partition(" ")[2]


def _words(text: str) -> str:
    """The words of a text in lower case, with one space between them and at both ends."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _cites(text: str, trajectory: Trajectory, names: _Names) -> bool:
    steps = [_count(number) for pair in _STEPS.findall(text) for number in pair if number]
    if names.invented(text) or any(not 1 <= number <= len(trajectory.steps) for number in steps):
        return False
    named = steps or names.occur(text)
    # Who writes in another language may translate the names of things, and then only their numbers are left.
    return bool(named) or (not is_english(text) and bool(_NUMBER.search(text)))


def _is_actionable(text: str, names: _Names, verbs: Sequence[str]) -> bool:
    sentences = _SENTENCE.split(text.lower())
    if is_english(text):
        return any(_instructs(each, names, verbs) for each in sentences)
    # How other languages ask for something is not known here: that something is named must do.
    acts = [_words(verb) for verb in verbs]
    return any(names.occur(each) or any(act in _words(each) for act in acts) for each in sentences)


def _instructs(sentence: str, names: _Names, verbs: Sequence[str]) -> bool:
    words = _words(sentence)
    acts = [_words(verb) for verb in verbs]
    if not _INSTRUCTION.search(sentence) and not words.startswith(tuple(acts)):
        return False
    return any(act in words for act in acts) or bool(_FORM.search(sentence)) or names.occur(sentence)


def _possible(text: str, max_steps: int | None, verbs: Sequence[str]) -> bool:
    lower = text.lower()
    amounts = [_TENS.get(amount) or _count(amount) for amount in _AMOUNT.findall(lower)]
    if _ENDLESS.search(lower) or (max_steps is not None and any(amount > max_steps for amount in amounts)):
        return False
    known = tuple(_words(verb) for verb in (*verbs, GIVE_UP, "think"))
    for sentence in _SENTENCE.split(text):
        # What was tried in vain, or is warned of, may well not exist.
        if not verbs or not _INSTRUCTION.search(sentence.lower()) or _DENIAL.search(sentence.lower()):
            continue
        asked_for = [*_CALL.findall(sentence), *_QUOTED.findall(sentence)]
        if not all(_words(action).startswith(known) for action in asked_for):
            return False
    return True


def _knows(text: str, trial: int, noted: bool) -> bool:
    """Whether all attempts and notes that are spoken of exist. The attempt to come may be spoken of, too."""
    named = [_count(word) for pair in _ATTEMPT.findall(text) for word in pair if word]
    past = [_count(word) for pair in _PAST.findall(text) for word in pair if word]
    if any(number > trial + 1 for number in named) or any(number > trial for number in past):
        return False
    return (trial > 1 or not _ATTEMPTS.search(text)) and (noted or not _NOTES.search(text))


def _count(word: str) -> int:
    # Nine digits are more than any limit, and Python refuses to read some thousand.
    return _COUNTS.get(word) or int(word[:9])


def _copied(text: str, trajectory: Trajectory, names: _Names, sources: Sequence[str]) -> bool:
    """Whether a text has words, or names of things, that the reflector had from elsewhere than the trial."""
    steps = trajectory.steps
    own = [part for step in steps for part in (step.thought, step.action or "", step.observation)]
    # The task may be named, and so may how the trial ended; not so the list of the room.
    own += [trajectory.task.text, *(ended.format(steps=len(steps)) for ended in ENDED.values())]
    if copies(text, [*sources, trajectory.opening], own):
        return True
    foreign = {name for source in sources for name in _proper(source) if " " in name}
    here = _words(" ".join([trajectory.opening, *own]))
    return any(_words(name) in _words(text) and _words(name) not in here for name in foreign)


def _repeats(text: str, earlier: str) -> bool:
    now, before = _words(text), _words(earlier)
    return bool(before.strip()) and before in now and len(before) >= _REPEATED * len(now)
