"""View of a household game from its text alone, for the simulated player.

Everything here is rebuilt from the conversation at every call, in one pass over its turns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

_GOALS = (
    (
        "examine",
        re.compile(r"(?:look at|examine)(?: the)? (?P<object>\w+) (?:under|with) the (?P<target>\w+)"),
    ),
    ("puttwo", re.compile(r"(?:put|find) two (?P<object>\w+) (?:and put them )?(?:in|on) (?P<target>\w+)")),
    (
        "clean",
        re.compile(r"(?:put an? clean|clean some) (?P<object>\w+) (?:and put it )?(?:in|on) (?P<target>\w+)"),
    ),
    (
        "heat",
        re.compile(r"(?:put an? hot|heat some) (?P<object>\w+) (?:and put it )?(?:in|on) (?P<target>\w+)"),
    ),
    (
        "cool",
        re.compile(r"(?:put an? cool|cool some) (?P<object>\w+) (?:and put it )?(?:in|on) (?P<target>\w+)"),
    ),
    ("put", re.compile(r"put (?:an?|some) (?P<object>\w+) (?:in|on) (?P<target>\w+)")),
)
_TASK = re.compile(r"Your task is to: (.+?)\.?\s*$", re.MULTILINE)
_ROOM = re.compile(r"you see (.+?)\.\s*$", re.MULTILINE)
_LISTED = re.compile(r"\ban? ([a-z]+ \d+)")
_CONTENTS = re.compile(r"\b[OoIi]n (?:the ([a-z]+ \d+)|it), you see (.+)")
_CLOSED = re.compile(r"\b[Tt]he ([a-z]+ \d+) is closed")
_MOVED = re.compile(r"(?:take (.+) from|(?:move|put) (.+?) (?:to|in/on|in|on)) ([a-z]+ \d+)$")
_TREATED = re.compile(r"(clean|heat|cool) (.+) with ")

STATION = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
"""Where each treatment is done."""


def type_of(name: str) -> str:
    """Return `mug` for `mug 2`."""
    return name.rpartition(" ")[0] or name


@dataclass(frozen=True, slots=True)
class Goal:
    """The task sentence, taken apart.

    Attributes:
        kind: `put`, `clean`, `heat`, `cool`, `examine`, `puttwo`.
        object: the type of object wanted.
        target: the type of receptacle it goes to; for `examine` the type of lamp.
    """

    kind: str
    object: str
    target: str


@dataclass
class View:
    """What the transcript of one trial says.

    Attributes:
        opening: the first observation.
        goal: None where the task sentence has no known form.
        places: the receptacles of the room as the first observation lists them.
        turns: (thought, command, observation), either of the first two possibly "".
        at, holding: "" for nowhere and nothing.
        contents: what was last known to be in or on each place.
        first_seen: where each object was when it was first seen.
        closed: places known to be closed now.
        visited: places in the order of the first visit.
        placed: (object, place) in order.
        treated: (verb, object).
        lit: lamps that are on.
        refused: commands that were answered with "Nothing happens.", by how often.
        refused_here: those among them since the player last moved.
    """

    opening: str
    goal: Goal | None = None
    places: tuple[str, ...] = ()
    turns: list[tuple[str, str, str]] = field(default_factory=list)
    at: str = ""
    holding: str = ""
    contents: dict[str, list[str]] = field(default_factory=dict)
    first_seen: dict[str, str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    visited: list[str] = field(default_factory=list)
    placed: list[tuple[str, str]] = field(default_factory=list)
    treated: set[tuple[str, str]] = field(default_factory=set)
    lit: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    refused_here: set[str] = field(default_factory=set)

    @property
    def first_thought(self) -> str:
        """What the player set out to do, "" if it never said."""
        return next((thought for thought, _, _ in self.turns if thought), "")

    def found(self, kind: str) -> list[tuple[str, str]]:
        """Return objects of a type and where they are now, in the order of the visits."""
        return [
            (name, place) for place, names in self.contents.items() for name in names if type_of(name) == kind
        ]

    def of_type(self, kind: str) -> list[str]:
        """Return the places of a type, in the order of the room."""
        return [place for place in self.places if type_of(place) == kind]

    def add(self, said: str, seen: str) -> None:
        """Takes in one turn and its answer."""
        thought, command = split_turn(said)
        self.turns.append((thought, command, seen))
        if not command or not seen:
            return
        if seen.startswith("Nothing happens"):
            self.refused[command] += 1
            self.refused_here.add(command)
            return
        verb, _, rest = command.partition(" ")
        place = rest.removeprefix("to ")
        if verb == "go" or (verb == "examine" and place in self.places):
            self.at = place
            self.refused_here.clear()
            if place not in self.visited:
                self.visited.append(place)
        elif verb == "open":
            self.closed.discard(rest)
        elif verb == "close":
            self.closed.add(rest)
        elif verb == "use":
            self.lit.symmetric_difference_update({rest})
        elif treated := _TREATED.match(command):
            self.treated.add((treated[1], treated[2]))
        elif moved := _MOVED.match(command):
            self._move(moved[1], moved[2], moved[3])
        self._look(seen)

    def _move(self, taken: str | None, put: str | None, place: str) -> None:
        inside = self.contents.setdefault(place, [])
        if taken:
            self.holding = taken
            if taken in inside:
                inside.remove(taken)
        elif put:
            self.holding = ""
            inside.append(put)
            self.placed.append((put, place))

    def _look(self, seen: str) -> None:
        self.closed.update(_CLOSED.findall(seen))
        for place, listed in _CONTENTS.findall(seen):
            where = place or self.at
            self.contents[where] = _LISTED.findall(listed)
            for name in self.contents[where]:
                self.first_seen.setdefault(name, where)


def is_household(text: str) -> bool:
    """Return whether a first observation is that of a household game."""
    return bool(_TASK.search(text) and _ROOM.search(text))


def split_turn(said: str) -> tuple[str, str]:
    """Thought and command of a turn, either possibly ""."""
    thought = ""
    for line in said.splitlines():
        text = line.strip().lstrip("> ")
        if text.lower().startswith("think:"):
            thought = thought or text[len("think:") :].strip()
        elif text and text != "OK.":
            return thought, text.rstrip(".").lower()
    return thought, ""


def read_view(opening: str, turns: Iterable[tuple[str, str]]) -> View:
    """Return the view after the given turns.

    Args:
        opening: the first observation, task sentence included.
        turns: (what the player said, what the game answered).
    """
    view = View(opening)
    task = _TASK.search(opening)
    for kind, pattern in _GOALS:
        goal = pattern.match(task[1]) if task else None
        if goal:
            view.goal = Goal(kind, goal["object"], goal["target"])
            break
    room = _ROOM.search(opening)
    view.places = tuple(_LISTED.findall(room[1])) if room else ()
    for said, seen in turns:
        view.add(said, seen)
    return view
