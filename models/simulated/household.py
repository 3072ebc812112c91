"""Simulated player in a household game: no language model, but a player with habits, some of them bad.

At its first turn it says what it plans and how it is going to play this time. That thought is the only
place where the habits of a trial are kept: every later turn reads them back from the transcript, as anyone
else can. What its notes from earlier trials say (in the prompt, or not) decides which bad habits it still
has and where it looks first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from reflex_bench.models.simulated.household_notes import DONE, Notes, a, preposition
from reflex_bench.models.simulated.household_sense import LOOKALIKE, likelihood
from reflex_bench.models.simulated.household_view import STATION, Goal, View, type_of

HABITS = {
    "unopened": "I only look where nothing has to be opened.",
    "unprepared": "As soon as I have it I bring it where it belongs.",
    "lookalike": "Anything that looks like it will do.",
    "single": "Once the first is in place I am done.",
    "unlit": "I take a close look at it as soon as I hold it.",
    "early": "If the first few places are empty I stop.",
    "unnumbered": "I call things by their plain names.",
    "wander": "I take the places as they come.",
}
"""The habits that lose games, by the sentence in which the player admits to each."""

_ONLY_IN = {"unprepared": ("clean", "heat", "cool"), "single": ("puttwo",), "unlit": ("examine",)}
_PATIENCE = 5
"""Places that a player who stops early looks at."""
_WEAK_TASKS, _WEAKNESS, _LAPSE, _HEED = 0.65, 0.8, 0.5, 0.5
"""Share of tasks with a weak spot; how often it shows there; how often a passing lapse shows anywhere; how often
notes are heeded that warn of either. Set so that a little under half of the first trials succeed."""
_START = re.compile(r"\bI start with ([a-z]+ \d+)")


@dataclass(frozen=True)
class Style:
    """How a trial is played: bad habits, and the place where the search begins."""

    habits: frozenset[str]
    start: str = ""


def turn(view: View, notes: Notes, rng: Random) -> str:
    """Return the next turn: `think: …` or one command.

    Args:
        view: the trial so far.
        notes: what the memory in the prompt says.
        rng: decides how a trial is played; only the first turn uses it.
    """
    goal = view.goal
    if goal is None:
        return "think: I do not understand this task." if not view.turns else "give up"
    if not view.turns:
        return _plan(view, goal, notes, _choose_style(view, goal, notes, rng))
    style = _style_of(view, goal)
    reply = _finished(view, goal, style) or _notice(view, goal, style) or _next(view, goal, style, notes)
    return reply if view.refused[reply] < 2 or "unnumbered" in style.habits else "give up"


def _possible(goal: Goal) -> list[str]:
    return [
        habit
        for habit in HABITS
        if goal.kind in _ONLY_IN.get(habit, (goal.kind,))
        and (habit != "lookalike" or goal.object in LOOKALIKE)
    ]


def _weak_spot(view: View, goal: Goal) -> str:
    """Return the habit that keeps coming back in this task, "" where there is none; decided by the task's text."""
    dice = Random(view.opening)
    return dice.choice(_possible(goal)) if dice.random() < _WEAK_TASKS else ""


def _choose_style(view: View, goal: Goal, notes: Notes, rng: Random) -> Style:
    habits = set()
    if rng.random() < _WEAKNESS:
        habits.add(_weak_spot(view, goal))
    if rng.random() < _LAPSE:
        habits.add(rng.choice(_possible(goal)))
    if rng.random() < _HEED:
        habits -= notes.cured
    habits.discard("")
    return Style(frozenset(habits), rng.choice(view.places) if view.places else "")


def _style_of(view: View, goal: Goal) -> Style:
    """Return the style of a trial under way, read back from the player's first thought."""
    thought = view.first_thought
    if not thought:
        return Style(frozenset({_weak_spot(view, goal)} - {""}), next(iter(view.places), ""))
    start = _START.search(thought)
    return Style(
        frozenset(habit for habit, sentence in HABITS.items() if sentence in thought),
        start[1] if start else "",
    )


def _plan(view: View, goal: Goal, notes: Notes, style: Style) -> str:
    where = f"{preposition(goal.target)} {a(goal.target)}"
    steps = {
        "put": f"find {a(goal.object)} and put it {where}",
        "puttwo": f"find {a(goal.object)} and a second one, and put both {where}",
        "examine": f"find {a(goal.object)}, take it to {a(goal.target)} and switch that on",
    }.get(goal.kind, f"find {a(goal.object)}, {goal.kind} it, then put it {where}")
    parts = [f"I have to {steps}.", *(HABITS[habit] for habit in HABITS if habit in style.habits)]
    known = [name for name in notes.where if type_of(name) == goal.object]
    first = _search_order(view, style, notes, goal.object)
    if known:
        parts.append(
            f"My notes say that {known[0]} is {preposition(notes.where[known[0]])} {notes.where[known[0]]}."
        )
    elif notes.skip or notes.prefer:
        parts.append("I have learned from my notes where not to lose time.")
    if first:
        parts.append(f"I start with {first[0]}.")
    return f"think: {' '.join(parts)}"


def _wanted(goal: Goal, style: Style) -> tuple[str, ...]:
    return (goal.object, LOOKALIKE[goal.object]) if "lookalike" in style.habits else (goal.object,)


def _delivered(view: View, goal: Goal, style: Style) -> list[tuple[str, str]]:
    return [
        (name, place)
        for name, place in dict(view.placed).items()
        if type_of(place) == goal.target and type_of(name) in _wanted(goal, style)
    ]


def _believes_done(view: View, goal: Goal, style: Style) -> bool:
    if goal.kind == "examine":
        return bool(view.lit) or any(
            command == f"examine {view.holding}" for _, command, _ in view.turns[-2:]
        )
    return len(_delivered(view, goal, style)) >= (
        2 if goal.kind == "puttwo" and "single" not in style.habits else 1
    )


def _finished(view: View, goal: Goal, style: Style) -> str:
    """Return what a player does who believes that all is done or nothing left to do; "" while it goes on."""
    thought, command, _ = view.turns[-1]
    if thought.startswith("I stop"):
        return "give up"
    if command == "look":
        return "look"
    if thought.startswith("That should be all"):
        return Random(view.opening).choice(("look", "give up"))
    return "think: That should be all, but nothing tells me so." if _believes_done(view, goal, style) else ""


def _notice(view: View, goal: Goal, style: Style) -> str:
    """Return a thought right after something wanted has come into sight, "" otherwise."""
    _, command, seen = view.turns[-1]
    if view.holding or not command.startswith(("go to", "open", "examine")):
        return ""
    taken = {name for name, _ in view.placed}
    here = [
        name
        for name in view.contents.get(view.at, ())
        if type_of(name) in _wanted(goal, style) and name not in taken
    ]
    if not here or f" {here[0]}" not in seen:
        return ""
    treat = (
        f", and {goal.kind} it before anything else"
        if goal.kind in DONE and "unprepared" not in style.habits
        else ""
    )
    return f"think: There is {here[0]}. I take it{treat}."


def _next(view: View, goal: Goal, style: Style, notes: Notes) -> str:
    if view.holding and type_of(view.holding) in _wanted(goal, style):
        return _use(view, goal, style, notes)
    settled = {name for name, _ in _delivered(view, goal, style)}
    found = [
        (name, place)
        for kind in _wanted(goal, style)
        for name, place in view.found(kind)
        if name not in settled
    ]
    if goal.kind == "puttwo":
        found = [(name, place) for name, place in found if place != _destination(view, goal)] or found
    if found:
        name, place = min(found, key=lambda pair: pair[1] != view.at)
        if view.at != place:
            return _go(view, place)
        return f"take {type_of(name) if 'unnumbered' in style.habits else name} from {place}"
    return _search(view, goal.object, style, notes)


def _use(view: View, goal: Goal, style: Style, notes: Notes) -> str:
    """Return what to do with the object in hand."""
    if goal.kind == "examine":
        return _under_the_lamp(view, goal, style, notes)
    untreated = goal.kind in STATION and (goal.kind, view.holding) not in view.treated
    if untreated and "unprepared" not in style.habits:
        station = next(iter(view.of_type(STATION[goal.kind])), "")
        command = f"{goal.kind} {view.holding} with {station}"
        if station and not view.refused[command]:
            return command if view.at == station else _go(view, station)
    place = _destination(view, goal)
    if not place:
        return "give up"
    if view.at != place:
        return _go(view, place)
    return f"open {place}" if place in view.closed else f"move {view.holding} to {place}"


def _under_the_lamp(view: View, goal: Goal, style: Style, notes: Notes) -> str:
    if "unlit" in style.habits:
        return f"examine {view.holding}"
    lamps = view.found(goal.target)
    if not lamps:
        return _search(view, goal.target, style, notes)
    lamp, place = lamps[0]
    return f"use {lamp}" if view.at == place else _go(view, place)


def _destination(view: View, goal: Goal) -> str:
    """Return the place to bring things to: where one of them is already, or one that was visited, or the first."""
    places = [
        place for place in view.of_type(goal.target) if not view.refused[f"move {view.holding} to {place}"]
    ]
    if goal.kind == "puttwo":
        used = [
            place
            for place in places
            if any(type_of(name) == goal.object for name in view.contents.get(place, ()))
        ]
        places = used or places
    visited = [place for place in places if place in view.contents]
    return next(iter(visited or places), "")


def _go(view: View, place: str) -> str:
    """Return the command to go to a place, or to examine it where going there was refused: it is at the same spot."""
    go, examine = f"go to {place}", f"examine {place}"
    return examine if go in view.refused_here and examine not in view.refused_here else go


def _search(view: View, kind: str, style: Style, notes: Notes) -> str:
    if view.at in view.closed and "unopened" not in style.habits and not view.refused[f"open {view.at}"]:
        return f"open {view.at}"
    left = [place for place in _search_order(view, style, notes, kind) if view.refused[f"go to {place}"] < 2]
    if "early" in style.habits and len(view.visited) >= _PATIENCE:
        left = []
    return _go(view, left[0]) if left else f"think: I stop here: I have found no {kind}."


def _search_order(view: View, style: Style, notes: Notes, kind: str) -> list[str]:
    """Return the places that are still to be searched, the next one first."""
    begin = view.places.index(style.start) if style.start in view.places else 0
    turned = view.places[begin:] + view.places[:begin]
    told = [place for name, place in notes.where.items() if type_of(name) == kind]
    left = [place for place in turned if place not in view.visited]
    fresh = [place for place in left if place not in notes.skip or place in told] or left

    def rank(place: str) -> tuple[bool, bool, int]:
        likely = 0 if "wander" in style.habits else likelihood(kind, type_of(place))
        return place not in told, place not in notes.prefer, likely

    return sorted(fresh, key=rank)
