"""What a failed call is called: by a table of rules, never by the bare status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from reflex_bench.core.errors import UsageError

KEYS = ("layer", "code", "status")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table.

    Attributes:
        type: the name.
        when: by `layer`, `code` and `status`, the patterns of which one must match.
        advice: one line for a reflector.
    """

    type: str
    when: Mapping[str, tuple[str, ...]]
    advice: str

    def holds(self, layer: str, code: str, status: int | None) -> bool:
        """Return whether a failed call is of this type."""
        told = {"layer": layer, "code": code, "status": "none" if status is None else str(status)}
        return all(any(_matches(told[key], each) for each in wanted) for key, wanted in self.when.items())


def _matches(told: str, wanted: str) -> bool:
    if len(wanted) == 3 and wanted.endswith("xx"):
        return len(told) == 3 and told[0] == wanted[0]
    return fnmatchcase(told, wanted)


@cache
def table() -> tuple[Rule, ...]:
    """Return the rules that ship, from `error_types.yaml`."""
    return parse(
        files(__package__).joinpath("error_types.yaml").read_text(encoding="utf-8"), "error_types.yaml"
    )


def parse(text: str, where: str) -> tuple[Rule, ...]:
    """Return the rules in a YAML text.

    Raises:
        UsageError: a rule is none; the message has its place.
    """
    rules = []
    for place, raw in enumerate(yaml.safe_load(text) or (), 1):
        if not isinstance(raw, Mapping) or set(raw) != {"type", "when", "advice"}:
            raise UsageError(f"{where}: rule {place} must have type, when and advice")
        when = raw["when"]
        if not isinstance(when, Mapping) or not when or set(when) - set(KEYS):
            raise UsageError(f"{where}: rule {place} ({raw['type']}): when is of {', '.join(KEYS)}")
        rules.append(
            Rule(raw["type"], {key: tuple(map(str, each)) for key, each in when.items()}, raw["advice"])
        )
    return tuple(rules)


def error_type(status: int | None, body: Any, layer: str = "") -> str:
    """Return what a call is called that failed; "" for one that did not.

    Args:
        status: of HTTP; None where no answer came.
        body: as parsed; its `code` counts where it is an object.
        layer: at which an answer of 2xx was found to be no success; "" where it was not, or nobody looked.
    """
    if status is not None and status < 300 and not layer:
        return ""
    # A failure inside a 2xx is told by its layer: what stands in its code is the inner system's.
    code = str(body.get("code", "")) if isinstance(body, Mapping) and not layer else ""
    return next((rule.type for rule in table() if rule.holds(layer, code, status)), "REFUSED")


def advice(kind: str) -> str:
    """Return the line for a reflector about a type of error; "" for none."""
    return next((rule.advice for rule in table() if rule.type == kind), "")
