"""Which faults a run has, and which one a call meets.

A fault is drawn from the task, the tool, the arguments and the how-manieth such call it is, so that two arms that do
the same meet the same. *Random* faults strike a share of the calls and can only be lived with. *Systematic* ones strike
a share of the tools for the whole split, and can be learned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.tools.calls.draws import between, canonical, draw
from reflex_bench.envs.tools.registry import Registry, Tool

RANDOM: Mapping[str, str] = {
    "not_found_once": "404 for something that exists; the next such call finds it",
    "server_error": "500, once or for the whole task where another tool serves the purpose",
    "timeout_lost": "no answer, and nothing was done",
    "timeout_done": "no answer, and yet it was done",
    "rate_limit": "429 with the seconds to wait",
    "stale": "an answer from a cache, with its age",
    "long": "12 to 20 KB, and what matters stands at the end",
    "injection": "a note in the data tells the agent to do something",
}
SYSTEMATIC: Mapping[str, str] = {
    "ghost": "200, and a failure inside",
    "html": "200, and a web page in place of the answer",
    "no_field": "a field of the answer is missing",
    "wrong_type": "a field of the answer is of another type than the registry says",
    "conflict": "a fact differs from that of its system of record",
    "drift": "from some task on a parameter has another name, or a version is retired",
    "unauthorised": "401 for good: the account lacks the right",
}
KINDS: Mapping[str, str] = {**RANDOM, **SYSTEMATIC}

READS_ONLY = frozenset({"not_found_once", "stale", "long", "injection", "conflict"})
"""Kinds that make no sense of a write."""
NO_ANSWER = frozenset({"not_found_once", "server_error", "timeout_lost", "rate_limit", "ghost", "html"})
"""Kinds after which the same call has to be made again."""
PATIENCE = 3
"""After so many calls of the same kind, one goes through: every task stays solvable."""
FOR_GOOD = 0.25
"""Of the tools that `server_error` strikes and that another can stand in for, the share that is dead for the task."""
OF_AN_AFFECTED_TOOL = 0.5
"""The share of its calls that `ghost`, `html` and `no_field` strike; the others strike all of them."""
SOMETIMES = frozenset({"ghost", "html", "no_field"})
_STORM_RANDOM, _LIGHT_RANDOM, _STORM_SYSTEMATIC = 0.25, 0.05, 0.15

WEATHERS: Mapping[str, Mapping[str, float]] = {
    "none": {},
    "light": dict.fromkeys(RANDOM, _LIGHT_RANDOM / len(RANDOM)),
    "storm": {
        **dict.fromkeys(RANDOM, _STORM_RANDOM / len(RANDOM)),
        **dict.fromkeys(SYSTEMATIC, _STORM_SYSTEMATIC),
    },
}
_RATE = re.compile(r"(?:0|1|0?\.\d{1,6}|0\.\d{1,6}|1\.0{1,6})")


@dataclass(frozen=True, slots=True)
class Weather:
    """How often each kind of fault comes.

    Attributes:
        name: as the person wrote it, or `custom`.
        rates: by kind: of a random one the share of calls, of a systematic one the share of tools.
    """

    name: str
    rates: Mapping[str, float]

    @classmethod
    def read(cls, spec: str) -> Weather:
        """Return the weather that `--faults` names: one of `WEATHERS`, a YAML file of rates, or `ghost=0.3,html=0.1`.

        Raises:
            UsageError: there is no such kind, a rate is none, or the random ones are more than all calls.
        """
        if spec in WEATHERS:
            return cls(spec, WEATHERS[spec])
        if "=" in spec:
            pairs = [part.partition("=") for part in spec.split(",") if part.strip()]
            return cls._checked({name.strip(): value.strip() for name, _, value in pairs}, "--faults")
        path = Path(spec)
        if not path.is_file():
            raise unknown("weather", spec, [*WEATHERS, "FILE.yaml", "KIND=RATE"])
        try:
            loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise UsageError(f"{spec}: not readable as YAML: {' '.join(str(error).split())[:300]}") from None
        if not isinstance(loaded, Mapping):
            raise UsageError(f"{spec}: a mapping of kinds of faults to rates from 0 to 1 is wanted")
        return cls._checked(loaded, spec)

    @classmethod
    def _checked(cls, given: Mapping[Any, Any], where: str) -> Weather:
        rates: dict[str, float] = {}
        for name, value in given.items():
            if name not in KINDS:
                raise UsageError(f"{where}: {unknown('kind of fault', str(name)[:80], KINDS)}")
            if isinstance(value, bool) or not _RATE.fullmatch(str(value)):
                raise UsageError(f"{where}: {name} is {str(value)[:80]!r}; a rate from 0 to 1 is wanted")
            rates[name] = float(value)
        total = sum(rate for name, rate in rates.items() if name in RANDOM)
        if total > 1 + 1e-9:
            raise UsageError(
                f"{where}: the random kinds add up to {total:g}; they are shares of all calls, at most 1"
            )
        return cls("custom", {name: rate for name, rate in rates.items() if rate})

    def told(self) -> str:
        """Return the rates as they stand on a row; `none` for none."""
        return ",".join(f"{name}={rate:g}" for name, rate in sorted(self.rates.items())) or "none"


@dataclass(frozen=True, slots=True)
class Drift:
    """What has changed about a tool: a parameter has another name, or a newer version took its place.

    Attributes:
        old, new: names of the parameter, or ids of the tool.
        retired: whether it is the tool itself.
    """

    old: str
    new: str
    retired: bool


@dataclass
class Forecast:
    """The weather over the tools of a registry.

    Attributes:
        weather: the rates.
        registry: the tools.
        seed: of the split.
    """

    weather: Weather
    registry: Registry
    seed: int
    affected: Mapping[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.affected = {kind: self._affected(kind) for kind in SYSTEMATIC}

    def _affected(self, kind: str) -> frozenset[str]:
        rate = self.weather.rates.get(kind, 0.0)
        able = [id for id, tool in self.registry.tools.items() if self._can(kind, tool)]
        if not rate or not able:
            return frozenset()
        ranked = sorted(able, key=lambda id: draw(self.seed, "affected", kind, id))
        return frozenset(ranked[: max(1, round(rate * len(able)))])

    def _can(self, kind: str, tool: Tool) -> bool:
        if kind in READS_ONLY and tool.effect != "read":
            return False
        if kind == "unauthorised":
            return tool.fallback is not None
        if kind == "conflict":
            return bool(self.disputed(tool))
        return bool(tool.parameters.get("properties")) if kind == "drift" else True

    def disputed(self, tool: Tool) -> tuple[str, ...]:
        """Return the fields of a tool's answer of which another tool is the system of record."""
        facts = {fact for each in self.registry.tools.values() for fact in each.record}
        return tuple(sorted(set(tool.returns.get("properties", {})) & facts - set(tool.record)))

    def drift(self, task: str, tool: Tool) -> Drift | None:
        """Return what has changed about a tool by the time of a task; None for nothing."""
        if tool.id not in self.affected["drift"] or _place(task) < between(2, 6, self.seed, "drift", tool.id):
            return None
        versioned = re.fullmatch(r"(.*_v)(\d+)", tool.id)
        if versioned and draw(self.seed, "retired", tool.id) < 0.5:
            return Drift(tool.id, f"{versioned[1]}{int(versioned[2]) + 1}", retired=True)
        name = min(tool.parameters["properties"], key=lambda each: draw(self.seed, "renamed", tool.id, each))
        return Drift(name, f"{name.removesuffix('_id')}_ref", retired=False)

    def renewed(self, task: str, id: str) -> Tool | None:
        """Return the tool that goes by a newer id at the time of a task; None where none does."""
        for old in sorted(self.affected["drift"]):
            drift = self.drift(task, self.registry.tools[old])
            if drift is not None and drift.retired and drift.new == id:
                return self.registry.tools[old]
        return None

    def fault(self, task: str, tool: Tool, arguments: Mapping[str, Any], number: int) -> str:
        """Return the kind of fault that a call meets; "" for none. `drift` is not among them: see `drift`.

        Args:
            task: the id.
            tool, arguments: what is called.
            number: the how-manieth call of this tool with these arguments in the task, from 1.
        """
        if not self.weather.rates:
            return ""
        if tool.id in self.affected["unauthorised"]:
            return "unauthorised"
        if self._dead(task, tool):
            return "server_error"
        key = (self.seed, task, tool.id, canonical(arguments), number)
        kind = self._random(tool, key) or self._systematic(tool, key)
        if number > PATIENCE and kind in NO_ANSWER:
            return ""
        return "" if kind == "not_found_once" and number > 1 else kind

    def _dead(self, task: str, tool: Tool) -> bool:
        rate = self.weather.rates.get("server_error", 0.0) * FOR_GOOD
        return bool(rate and tool.fallback) and draw(self.seed, task, tool.id, "dead") < rate

    def _random(self, tool: Tool, key: tuple[object, ...]) -> str:
        rates = {kind: rate for kind, rate in self.weather.rates.items() if kind in RANDOM}
        if draw(*key, "any") >= sum(rates.values()):
            return ""
        able = [kind for kind in rates if tool.effect == "read" or kind not in READS_ONLY]
        point = draw(*key, "which") * sum(rates[kind] for kind in able)
        for kind in able:
            point -= rates[kind]
            if point < 0:
                return kind
        return able[-1] if able else ""

    def _systematic(self, tool: Tool, key: tuple[object, ...]) -> str:
        for kind in ("ghost", "html", "no_field", "wrong_type", "conflict"):
            if tool.id in self.affected[kind]:
                chance = OF_AN_AFFECTED_TOOL if kind in SOMETIMES else 1.0
                if draw(*key, kind) < chance:
                    return kind
        return ""


@lru_cache(maxsize=4096)
def _place(task: str) -> int:
    """The number at the end of a task's id: its place within its family."""
    digits = re.search(r"(\d+)$", task)
    return int(digits[1]) if digits else 0
