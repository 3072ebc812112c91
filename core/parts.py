"""Registry of parts: agents, environments, models, reflectors, evaluators, memories, similarities and tables.

A part has a name and is found under it, whoever wrote it: those of this package stand in `built_in`, those of other
packages are entry points of the group `reflex_bench.<kind>`. Both are loaded, checked and given their options here.
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeVar, get_args

from reflex_bench.core.built_in import BUILT_IN, CALLED_WITH, HAS
from reflex_bench.core.errors import ReflexError, UsageError, unknown

Kind = Literal[
    "agents", "environments", "models", "reflectors", "evaluators", "memories", "similarities", "tables"
]

T = TypeVar("T")

_OURS = "reflex_bench."

WORDS: Mapping[Kind, str] = {
    kind: {"memories": "memory", "similarities": "similarity", "tables": "table style"}.get(kind, kind[:-1])
    for kind in get_args(Kind)
}
"""What one of a kind is called in a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part as it was found.

    Attributes:
        kind: which of the eight.
        name: under which it is registered.
        made: what the entry point names.
        package: name and version of the distribution that it comes from; "" for this one.
    """

    kind: Kind
    name: str
    made: Any
    package: str = ""

    @property
    def title(self) -> str:
        """How a message names it."""
        return f"{WORDS[self.kind]} {self.name!r}" + (f" of package {self.package}" if self.package else "")

    def states(self, fact: str, default: Any = None) -> Any:
        """Return what the part states about itself (`stating`)."""
        return getattr(self.made, fact, default)

    def call(self, *arguments: Any) -> Any:
        """Call it; whatever is raised by one of another package is told in one line.

        Raises:
            UsageError: it does not take its options, or fails.
        """
        try:
            made = self.made(*arguments)
        except ReflexError:
            raise
        except Exception as error:
            if not self.package:
                raise
            raise UsageError(f"{self.title} fails: {one_line(error)}") from error
        missing = [name for name in HAS.get(self.kind, ()) if not hasattr(made, name)]
        if self.package and missing:
            raise UsageError(f"{self.title} makes {made!r:.100}, which has no {', '.join(missing)}")
        return made


def stating(**facts: Any) -> Callable[[T], T]:
    """Return a decorator with which a function states what others must know of it.

    Of an agent: `needs`, the attributes of `Prompts` without which it makes no sense, and `needs_method`, one of the
    environment. Of a reflector: `asks_model` (True unless stated), `newest_only` (the memory shows only its newest
    text) and `remembers`. Of an evaluator: `asks_model` (False unless stated). Of any: `Options`, a pydantic model of
    its options. A class states the same as attributes.
    """

    def state(made: T) -> T:
        for name, value in facts.items():
            setattr(made, name, value)
        return made

    return state


def names(kind: Kind) -> list[str]:
    """Return the names of all parts of a kind; nothing is loaded."""
    return sorted({*BUILT_IN[kind], *_others(kind)})


def ours(kind: Kind) -> list[Part]:
    """Return the parts of this package, also where another package has a part of the same name."""
    return [_own(kind, name) for name in BUILT_IN[kind]]


def _own(kind: Kind, name: str) -> Part:
    return Part(kind, name, EntryPoint(name, _OURS + BUILT_IN[kind][name], f"reflex_bench.{kind}").load())


def find(kind: Kind, name: str) -> Part:
    """Return the part of a name.

    Raises:
        UsageError: there is none, it cannot be loaded, or it does not take what it is called with.
    """
    points = _others(kind).get(name, ())
    own = name in BUILT_IN[kind]
    if own and not points:
        return _own(kind, name)
    if not points:
        raise unknown(WORDS[kind], name, names(kind))
    if own or len(points) > 1:
        packages = sorted(f"package {_package(point)}" for point in points)
        homes = " and ".join([*(["reflex itself"] if own else []), *packages])
        raise UsageError(f"{WORDS[kind]} {name!r} is in {homes}; uninstall all packages but one that have it")
    return _loaded(kind, points[0])


def others() -> Iterable[tuple[Kind, str]]:
    """Yield kind and name of every part of other packages; nothing is loaded."""
    for kind in get_args(Kind):
        yield from ((kind, name) for name in sorted(_others(kind)))


def package_named(module: str) -> tuple[str, str] | None:
    """Return name and version of the distribution that registers parts of a top-level module; None where none does."""
    for kind in get_args(Kind):
        for points in _others(kind).values():
            for point in points:
                if point.module.partition(".")[0] == module and point.dist is not None:
                    return point.dist.name, point.dist.version
    return None


def _others(kind: Kind) -> Mapping[str, Sequence[EntryPoint]]:
    return _scanned(kind, tuple(sys.path))


@lru_cache(maxsize=64)
def _scanned(kind: Kind, path: tuple[str, ...]) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the parts of other packages; looked for again where the path has changed."""
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"reflex_bench.{kind}"):
        # An installed version of this package may have entry points, too; one distribution can be found twice.
        known = found.setdefault(point.name, [])
        if not point.value.startswith(_OURS) and point.value not in [each.value for each in known]:
            known.append(point)
    return {name: points for name, points in found.items() if points}


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.module.partition(".")[0]


def _loaded(kind: Kind, point: EntryPoint) -> Part:
    title = f"{WORDS[kind]} {point.name!r} of package {_package(point)}"
    try:
        part = Part(kind, point.name, point.load(), _package(point))
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{title} comes from {point.value}, which does not load: {one_line(error)}"
        ) from error
    options = part.states("Options")
    if options is not None and not (hasattr(options, "model_fields") and hasattr(options, "model_validate")):
        raise UsageError(f"{part.title}: its Options must be a pydantic model, not {options!r:.100}")
    if kind == "memories" and takes_similarity(part):
        check_call(part, part.made, ("options", "similarity"))
    elif options is not None:
        check_call(part, part.made, ("options",))
    else:
        check_call(part, part.made, *CALLED_WITH[kind])
    return part


def check_call(part: Part, made: Any, positional: Sequence[str], named: Sequence[str] = ()) -> None:
    """Make sure that what is called later takes what it is called with.

    Args:
        part: is named in the message.
        made: the part, or what it made of its options.
        positional, named: see `CALLED_WITH`.

    Raises:
        UsageError: it does not.
    """
    try:
        inspect.signature(made).bind(*positional, **dict.fromkeys(named))
    except (TypeError, ValueError) as error:
        wanted = ", ".join((*positional, *(f"{each}=" for each in named)))
        raise UsageError(f"{part.title} must take ({wanted}): {one_line(error, False)}") from None


def takes_similarity(part: Part) -> bool:
    """Return whether a memory compares texts: its options have a field `similarity`."""
    options = part.states("Options")
    return options is not None and "similarity" in options.model_fields


def made_with(part: Part, options: Mapping[str, Any]) -> Any:
    """Return an agent, a reflector or an evaluator with its options.

    Raises:
        UsageError: it has no such option, or the option cannot have that value.
    """
    if part.states("Options") is None:
        check_no_options(part, options)
        return part.made
    made = part.call(checked_options(part.title, part.states("Options"), options))
    check_call(part, made, *CALLED_WITH[part.kind])
    return made


def check_no_options(part: Part, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` where options are given to a part that has none."""
    if options:
        raise UsageError(f"{part.title} has no options, and was given {', '.join(map(repr, options))}")


def checked_options(title: str, model: Any, given: Mapping[str, Any]) -> Any:
    """Return options as the pydantic model that a part brings along.

    Args:
        title: how a message names the part.
        model: the class; of a part of another package it may allow further keys, which are then let through.
        given: from a configuration.

    Raises:
        UsageError: an option that does not exist, with the nearest that does; or one that cannot have that value.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise unknown(f"option of the {title}:", name, model.model_fields) from None
        wrong = first["msg"].removeprefix("Value error, ")
        if first["type"] == "literal_error":
            allowed = re.findall(r"'([^']*)'", str(first["ctx"]["expected"]))
            near = difflib.get_close_matches(str(first["input"]), allowed, n=1, cutoff=0.5)
            wrong += f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"{title}: option {name!r} is {first.get('input')!r:.100}: {wrong}") from None


def choice(setting: Any, kind: Kind) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the options of `name` or `{name: {option: value}}`.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(setting, str):
        return setting, {}
    if isinstance(setting, Mapping) and len(setting) == 1:
        ((name, options),) = setting.items()
        if isinstance(name, str) and isinstance(options or {}, Mapping):
            return name, options or {}
    raise UsageError(
        f"{WORDS[kind]}: a name ({', '.join(names(kind))}), or a mapping of one name to its options"
    )


def described(part: Part, options: Mapping[str, Any]) -> str:
    """Return a name with all options at their values, as it stands on a row: `heuristic(cycles=3, max_actions=30)`."""
    if part.states("Options") is None:
        return part.name
    values = checked_options(part.title, part.states("Options"), options).model_dump()
    return f"{part.name}({', '.join(f'{name}={value}' for name, value in values.items())})"


def one_line(error: BaseException, typed: bool = True) -> str:
    """Return an error on one line, with its type."""
    said = re.sub(r"\s+", " ", str(error)).strip()
    return f"{type(error).__name__}: {said}"[:300] if typed else said[:300]
