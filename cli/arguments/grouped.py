"""Commands with grouped options: a parameter that is a dataclass stands for one option a field.

Typer reads one option a parameter from a function's signature; it knows no groups.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as Typer takes it: with an option for every field of its groups, in their order.

    Args:
        command: its parameters that are annotated with a dataclass are groups; each field has a default, and an option
            in its annotation.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}

    def called(**given: Any) -> Any:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in dataclasses.fields(kind)})
        return command(**given)

    parameters = list(_parameters(command, hints))
    called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _parameters(command: Callable[..., Any], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not dataclasses.is_dataclass(kind):
            yield parameter.replace(annotation=kind)
            continue
        annotations = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            yield inspect.Parameter(
                field.name, parameter.kind, default=field.default, annotation=annotations[field.name]
            )


def values_of(*groups: Any) -> dict[str, Any]:
    """Return the options of groups by the names of their parameters."""
    return {each.name: getattr(group, each.name) for group in groups for each in dataclasses.fields(group)}
