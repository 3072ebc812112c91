"""Recipe of procedural games: generator, seed and difficulty, as the name of a split says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from reflex_bench.core.errors import UsageError, unknown

VERSION = 2
"""Of the generator that is used unless another is named. Raised whenever any game of any seed changes."""
VERSIONS = (1, 2)
MAX_COPIES = 9
_KEYS = ("generator", "seed", "hidden", "copies")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the games of a procedural split are made from.

    Attributes:
        seed: any whole number, not negative.
        generator: 1 or 2. Generator 1 makes the games of the first release.
        hidden: the chance, from 0 to 1, that an object sought starts behind a door where the room has one that may
            hold it; None takes the official share. Generator 2 only.
        copies: how many objects of the kind sought are in a game, 1 to 9 (at least 2 where two are to be brought);
            None takes the official numbers. Generator 2 only.
    """

    seed: int = 0
    generator: int = VERSION
    hidden: float | None = None
    copies: int | None = None

    @property
    def settings(self) -> str:
        """The settings as a split's name gives them, in one order; the generator only where it is not the default."""
        parts = [f"generator={self.generator}"] if self.generator != VERSION else []
        parts.append(f"seed={self.seed}")
        if self.hidden is not None:
            parts.append(f"hidden={self.hidden:g}")
        if self.copies is not None:
            parts.append(f"copies={self.copies}")
        return ",".join(parts)

    @property
    def mark(self) -> str:
        """Part of the names of its games, so that games of different recipes never share one."""
        hard = "" if self.hidden is None else f"H{round(self.hidden * 1000)}"
        hard += "" if self.copies is None else f"C{self.copies}"
        return f"S{self.seed}" if self.generator == 1 else f"G{self.generator}S{self.seed}{hard}"


def read_recipe(text: str, seed: int | None = None, generator: int | None = None) -> Recipe:
    """Return what the settings behind `procedural:` ask for.

    Args:
        text: e.g. `seed=7,hidden=0.4`, in any order; empty for the defaults.
        seed: given apart from the name.
        generator: given apart from the name.

    Raises:
        UsageError: a setting that does not exist, comes twice, contradicts what was given apart, or is out of range.
    """
    given: dict[str, str] = {}
    for part in text.split(",") if text else []:
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in _KEYS:
            raise unknown("setting of the procedural split", key, _KEYS)
        if not equals or not value:
            raise UsageError(f"cannot read {part!r} in procedural:{text}; write it like procedural:seed=7")
        if key in given:
            raise UsageError(f"{key} is given twice in procedural:{text}")
        given[key] = value
    for key, apart in (("seed", seed), ("generator", generator)):
        if apart is not None and given.setdefault(key, str(apart)) != str(apart):
            raise UsageError(
                f"the split is 'procedural:{text}' but the {key} is {apart}; give one of the two"
            )
    return _checked(given)


def _checked(given: Mapping[str, str]) -> Recipe:
    version = _whole("generator", given.get("generator", str(VERSION)), VERSIONS[0], VERSIONS[-1])
    seed = _whole("seed", given.get("seed", "0"), 0, None)
    if version == 1 and (hard := [key for key in ("hidden", "copies") if key in given]):
        raise UsageError(f"generator 1 has no setting {hard[0]!r}; leave out generator=1")
    hidden = _share("hidden", given["hidden"]) if "hidden" in given else None
    copies = _whole("copies", given["copies"], 1, MAX_COPIES) if "copies" in given else None
    return Recipe(seed, version, hidden, copies)


def _whole(key: str, text: str, low: int, high: int | None) -> int:
    wanted = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    if not (text.isascii() and text.isdigit()) or int(text) < low or (high is not None and int(text) > high):
        raise UsageError(f"{key}={text} in the procedural split: must be {wanted}")
    return int(text)


def _share(key: str, text: str) -> float:
    try:
        share = Decimal(text)
    except InvalidOperation:
        share = Decimal(-1)
    # Three decimals, so that the name says all of it.
    if not (share.is_finite() and 0 <= share <= 1 and share == round(share, 3)):
        wanted = "a number from 0 to 1 with three decimals at most"
        raise UsageError(f"{key}={text} in the procedural split: must be {wanted}")
    return float(share)
