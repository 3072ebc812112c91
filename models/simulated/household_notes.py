"""Notes of the simulated player after a failed household game, and what it takes from such notes.

Both ends are plain text: `write` sees nothing but the transcript of the failed trial, `read` nothing but
sentences, whoever wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from reflex_bench.models.simulated.household_view import STATION, Goal, View, type_of

DONE = {"clean": "cleaned", "heat": "heated", "cool": "cooled"}
_MAX_SUGGESTED, _MAX_REMEMBERED = 8, 3
_INSIDE = frozenset(
    (
        "cabinet",
        "drawer",
        "fridge",
        "microwave",
        "safe",
        "box",
        "garbagecan",
        "sinkbasin",
        "bathtubbasin",
        "cart",
    )
)
_WITHOUT_NUMBER = re.compile(
    r"(?:take|move|put|clean|heat|cool|use|open) [a-z]+(?: (?:from|to|in|on|with)|$)"
)
_NAME = re.compile(r"\b[a-z]+ \d+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_WHERE = re.compile(
    r"\b([a-z]+ \d+),? (?:is|was|are|lies|stands)?\s*(?:on|in|at|inside)(?: the)? ([a-z]+ \d+)"
)
_SKIP = re.compile(
    r"\b(?:skip|avoid|in vain|no need to|not worth|(?:do not|don't) (?:search|visit|go|check))\b"
)
_PREFER = re.compile(
    r"\b(?:next time|this time|should|must|first|start|begin|straight|not visited|unvisited|still)\b"
)
_CURES = (
    ("unopened", re.compile(r"(?<!not )(?<!never )(?<!n't )\bopen\b")),
    ("unprepared", re.compile(r"\b(?:clean|wash|heat|warm|cool|chill)\b.*\b(?:first|before)\b")),
    ("lookalike", re.compile(r"\b(?:instead of|rather than|and not an?|only an? \w+ counts)\b")),
    ("single", re.compile(r"\b(?:two|both|second)\b")),
    ("unlit", re.compile(r"\b(?:use|turn on|switch on|light)\b.*lamp")),
    (
        "early",
        re.compile(
            r"\b(?:do not|don't|never|without) giv(?:e|ing) up|keep (?:searching|looking)|search on\b"
        ),
    ),
    ("unnumbered", re.compile(r"\bnumbers?\b")),
)


@dataclass
class Notes:
    """What the memory in a prompt says.

    Attributes:
        where: objects that were seen, and the place.
        prefer: places to look first.
        skip: places not to look.
        cured: habits (`reflex_bench.models.simulated.household.HABITS`) that it warns against.
    """

    where: dict[str, str] = field(default_factory=dict)
    prefer: list[str] = field(default_factory=list)
    skip: set[str] = field(default_factory=set)
    cured: set[str] = field(default_factory=set)


def read(memory: str) -> Notes:
    """Takes the notes apart, sentence by sentence; what is not understood is passed over."""
    notes = Notes()
    for sentence in _SENTENCE.split(memory.lower()):
        sentence = sentence.rstrip(".!?; ")
        names = _NAME.findall(sentence)
        if _SKIP.search(sentence):
            notes.skip.update(names)
            continue
        notes.where.update(_WHERE.findall(sentence))
        if _PREFER.search(sentence):
            notes.prefer.extend(names)
        notes.cured.update(habit for habit, pattern in _CURES if pattern.search(sentence))
    return notes


def write(view: View, status: str, earlier: Sequence[str], rng: Random) -> str:
    """Return a reflection of two to four sentences on a failed trial.

    Args:
        view: the trial.
        status: how it ended, as the prompt says it.
        earlier: the reflections on still earlier trials.
        rng: decides the wording.
    """
    goal = view.goal
    if goal is None:
        return "I could not make out what the task asks for. Next time I should read the task sentence first."
    for diagnose in (_unnumbered, _wrong_object, _untreated, _only_one, _in_the_dark, _never_found):
        mistake = diagnose(view, goal)
        if mistake:
            break
    else:
        load = f"with {view.holding} in my hands" if view.holding else "with things that did not help"
        mistake = [
            f"I was stopped {load}.",
            f"Next time I must lose no time and go straight to the {goal.object}.",
        ]
    mistake[0] = f"{_ending(view, status, rng)}: {mistake[0]}"
    text = " ".join([*mistake, *_whereabouts(view, goal)])
    return f"The same as before, and I did not act on it: {text}" if text in earlier else text


def _ending(view: View, status: str, rng: Random) -> str:
    if "gave up" in status:
        return rng.choice(("I gave up", "I gave up too soon"))
    if "same actions" in status:
        return rng.choice(("I ended up doing the same thing over and over", "I went round in circles"))
    return rng.choice(("I ran out of steps", f"All {len(view.turns)} steps were used up"))


def _unnumbered(view: View, goal: Goal) -> list[str]:
    for command, times in view.refused.most_common(1):
        if times > 1 and _WITHOUT_NUMBER.match(command):
            return [
                f"the command '{command}' did nothing, {times} times, because I left out the number.",
                "Next time I must write every name with its number, and not repeat what did nothing.",
            ]
    return []


def _wrong_object(view: View, goal: Goal) -> list[str]:
    handled = [name for name, _ in view.placed] + [view.holding] * bool(view.holding)
    wrong = next((name for name in handled if type_of(name) != goal.object), None)
    if wrong is None:
        return []
    return [
        f"I took the {wrong}, but the task asks for {a(goal.object)}.",
        f"Next time only {a(goal.object)} counts, and not {a(type_of(wrong))}.",
    ]


def _untreated(view: View, goal: Goal) -> list[str]:
    raw = [pair for pair in _delivered(view, goal) if (goal.kind, pair[0]) not in view.treated]
    if goal.kind not in STATION or not raw:
        return []
    station = next(iter(view.of_type(STATION[goal.kind])), STATION[goal.kind])
    return [
        f"I put the {raw[0][0]} in place without having {DONE[goal.kind]} it.",
        f"Next time I must {goal.kind} it with {station} first, before I bring it to {raw[0][1]}.",
    ]


def _only_one(view: View, goal: Goal) -> list[str]:
    placed = _delivered(view, goal)
    if goal.kind != "puttwo" or len(placed) != 1:
        return []
    return [
        f"only one {goal.object} was in place, but two are asked for.",
        f"Next time I must bring a second {goal.object} to {placed[0][1]} as well.",
    ]


def _in_the_dark(view: View, goal: Goal) -> list[str]:
    if goal.kind != "examine" or not view.holding or view.lit:
        return []
    return [
        f"I held the {view.holding} but never switched on {a(goal.target)}.",
        f"Next time I must carry it to the {goal.target} and use the {goal.target} there.",
    ]


def _never_found(view: View, goal: Goal) -> list[str]:
    if any(type_of(name) == goal.object for name in view.first_seen):
        return []
    shut = [place for place in view.visited if place in view.closed]
    left = [place for place in view.places if place not in view.visited][:_MAX_SUGGESTED]
    if shut:
        return [
            f"I never found {a(goal.object)}, because I left {_list(shut)} closed.",
            f"Next time I should open {'it' if len(shut) == 1 else 'them'}: {_list(shut)}.",
        ]
    searched = f"any of {len(view.visited)} places" if len(view.visited) > 1 else "the one place I went to"
    sentences = [f"I had not seen {a(goal.object)} in {searched}."]
    if left:
        sentences.append(f"Next time I should go to {_list(left)} first, keep searching and not give up.")
    return sentences


def _delivered(view: View, goal: Goal) -> list[tuple[str, str]]:
    return [pair for pair in dict(view.placed).items() if type_of(pair[1]) == goal.target]


def _whereabouts(view: View, goal: Goal) -> list[str]:
    """Return where the wanted things are, and where there is no need to look again."""
    seen = [(name, place) for name, place in view.first_seen.items() if type_of(name) == goal.object]
    missing = "" if len(seen) > (goal.kind == "puttwo") else f"second {goal.object}" if seen else goal.object
    if goal.kind == "examine":
        lamps = [(name, place) for name, place in view.first_seen.items() if type_of(name) == goal.target]
        missing = missing or ("" if lamps else goal.target)
        seen += lamps
    facts = [f"the {name} was {preposition(place)} {place}" for name, place in seen[:_MAX_REMEMBERED]]
    sentences = [f"I remember that {' and '.join(facts)}."] if facts else []
    empty = [place for place in view.visited if place in view.contents and place not in dict(seen).values()]
    if missing and empty:
        sentences.append(f"I can skip {_list(empty)}: no {missing} there.")
    return sentences


def preposition(place: str) -> str:
    """Return `in` for what has a door, a lid or a rim, else `on`."""
    return "in" if type_of(place) in _INSIDE else "on"


def a(noun: str) -> str:
    """Return the noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _list(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"
