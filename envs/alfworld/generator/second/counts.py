"""Reads the table of what official games look like; `counts.yaml` says where its figures come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

NOWHERE = "nowhere"

Weights = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pieces:
    """One type of furniture in a kind of room.

    Attributes:
        more: weights of 0, 1, 2, … pieces beyond those that the package's layout names.
        opens: percent of the pieces that have a door.
    """

    more: tuple[int, ...]
    opens: int


@dataclass(frozen=True, slots=True)
class Contents:
    """One kind of object in a kind of room.

    Attributes:
        copies: weights of 1, 2, 3, … of them.
        sought: the same where the game is about this kind; empty where too few official games are.
        lie: weights of the receptacle types that they lie in, `A+B` for two at once; empty for what lies in none.
    """

    copies: tuple[int, ...]
    sought: tuple[int, ...]
    lie: Weights


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one type of task asks for in a kind of room.

    Attributes:
        share: percent of the type's games in this kind of room.
        behind: odds, in percent of what other objects have, that a target lies behind a door.
        into: weights of the receptacle types (of the lamp for `examine`).
        sought: weights of the object types.
    """

    share: int
    behind: int
    into: Weights
    sought: Weights


@dataclass(frozen=True, slots=True)
class Counts:
    """The whole table.

    Attributes:
        furniture: room kind, then receptacle type.
        objects: room kind, then object type.
        vessels: for each type of vessel, how many in 1,000 of each type of object beside it are in it.
        goals: task type, then room kind.
    """

    furniture: Mapping[str, Mapping[str, Pieces]]
    objects: Mapping[str, Mapping[str, Contents]]
    vessels: Mapping[str, Weights]
    goals: Mapping[str, Mapping[str, Wishes]]


@cache
def counts() -> Counts:
    """Return the table, read once."""
    import yaml

    text = (
        files("reflex_bench.envs.alfworld.generator.second")
        .joinpath("counts.yaml")
        .read_text(encoding="utf-8")
    )
    table = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe)
    return Counts(
        furniture={
            room: {kind: Pieces(_numbers(row["more"]), row.get("opens", 0)) for kind, row in kinds.items()}
            for room, kinds in table["furniture"].items()
        },
        objects={
            room: {
                kind: Contents(
                    _numbers(row["copies"]), _numbers(row.get("sought", "")), _weights(row.get("lie", ""))
                )
                for kind, row in kinds.items()
            }
            for room, kinds in table["objects"].items()
        },
        vessels={vessel: _weights(row) for vessel, row in table["vessels"].items()},
        goals={
            task: {
                room: Wishes(row["share"], row["behind"], _weights(row["into"]), _weights(row["sought"]))
                for room, row in rooms.items()
            }
            for task, rooms in table["goals"].items()
        },
    )


def _numbers(text: str | int) -> tuple[int, ...]:
    return tuple(int(word) for word in str(text).split())


def _weights(text: str) -> Weights:
    pairs = (part.split() for part in text.split(", ") if part)
    return {kind: int(weight) for kind, weight in pairs}
