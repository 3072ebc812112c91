"""The numbers of the controls, as they stand under `controls` in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reflex_bench.core.errors import UsageError, unknown

MINUTE, HOUR = 60, 3600


def _seconds(span: Any) -> Any:
    units = {"s": 1, "m": MINUTE, "h": HOUR}
    if isinstance(span, str) and span[-1:] in units and span[:-1].isdigit():
        return int(span[:-1]) * units[span[-1]]
    return span


Span = Annotated[int, Field(ge=1, le=30 * 24 * HOUR), BeforeValidator(_seconds)]
"""Virtual seconds, which may be written as `10m` or `1h`."""


class Numbers(BaseModel):
    """The numbers of one control; those without any have this class."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Retry(Numbers):
    """How often a call is made again, and after which pause; never more often than the registry allows."""

    most: int = Field(default=3, ge=1, le=10)
    pause: Span = 2


class Breaker(Numbers):
    """When a tool is suspended, and for how long."""

    timeouts: int = Field(default=5, ge=1, le=100)
    within: Span = HOUR
    pause: Span = 10 * MINUTE
    ghosts: int = Field(default=3, ge=1, le=100)


class Cut(Numbers):
    """From which length on an answer is cut, and what is kept of lists and texts."""

    longest: int = Field(default=2000, ge=200, le=100_000)
    items: int = Field(default=3, ge=1, le=50)
    sentences: int = Field(default=3, ge=1, le=50)


class StateNote(Numbers):
    """How long an entry stays."""

    minutes: int = Field(default=15, ge=1, le=1440)
    longest: int = Field(default=50, ge=10, le=500)


class CostTiers(Numbers):
    """How often an expensive tool may be called."""

    high: int = Field(default=1, ge=0, le=100)
    consent: bool = True


class Budget(Numbers):
    """What a trial may take."""

    price: float | None = Field(default=None, ge=0)
    seconds: Span | None = None
    actions: int | None = Field(default=None, ge=1)


class Barrier(Numbers):
    """Who releases what is held."""

    release: Literal["evaluator", "approver", "two_approvers", "ask", "never"] = "evaluator"
    right: float = Field(default=0.95, ge=0, le=1)
    minutes: int = Field(default=12, ge=0, le=1440)


class Escape(Numbers):
    """After how many refused calls in a row only a hand-over is left."""

    refused: int = Field(default=2, ge=1, le=20)


CONTROLS: Mapping[str, type[Numbers]] = {
    "whitelist": Numbers,
    "adapters": Numbers,
    "schema": Numbers,
    "rules": Numbers,
    "cost_tiers": CostTiers,
    "budget": Budget,
    "breaker": Breaker,
    "stale": Numbers,
    "idempotency": Numbers,
    "barrier": Barrier,
    "lenient": Numbers,
    "retry": Retry,
    "ghost": Numbers,
    "clean": Numbers,
    "conflicts": Numbers,
    "cut": Cut,
    "state_note": StateNote,
    "escape": Escape,
    "compensate": Numbers,
}
"""Every control with its numbers, in the order in which they stand between the agent and the tools."""


NOT_YET: Mapping[str, str] = {
    "freeze": "an agent whose thoughts it may leave out",
    "ask": "a person at the terminal",
}
"""What is refused by name, and what it waits for."""


def read(given: Mapping[str, Any]) -> dict[str, Numbers]:
    """Return the controls that are on, with their numbers, in the order of `CONTROLS`.

    Args:
        given: by name `true` for the numbers they have by default, a mapping of numbers, or `false` or null for off.

    Raises:
        UsageError: a control does not exist, or a number it cannot have.
    """
    for name in given:
        if name in NOT_YET:
            raise UsageError(f"controls.{name}: not there yet; it needs {NOT_YET[name]}")
        if name not in CONTROLS:
            raise UsageError(f"controls: {unknown('control', str(name)[:80], CONTROLS)}")
    wanted = {name: given[name] for name in CONTROLS if given.get(name) not in (None, False)}
    return {name: _numbers(name, value) for name, value in wanted.items()}


def _numbers(name: str, value: Any) -> Numbers:
    kind = CONTROLS[name]
    if value is True:
        return kind()
    if not isinstance(value, Mapping):
        raise UsageError(
            f"controls.{name}: true, false, or a mapping of its numbers is wanted, not {value!r:.80}"
        )
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UsageError(f"controls.{name}: {unknown('number', place, kind.model_fields)}") from None
        raise UsageError(
            f"controls.{name}.{place} is {first.get('input')!r:.80}: {first['msg'].lower()}"
        ) from None


def told(controls: Mapping[str, Numbers]) -> str:
    """Return controls with all numbers as they stand on a row: `ghost, retry(most=3, pause=2)`."""
    texts = []
    for name, numbers in controls.items():
        values = ", ".join(f"{key}={value}" for key, value in numbers.model_dump().items())
        texts.append(f"{name}({values})" if values else name)
    return ", ".join(texts)
