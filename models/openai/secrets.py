"""Fills in `${NAME}` in settings from the environment; the values are never written to disk."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from reflex_bench.core.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(
    r"authori[sz]ation|api[-_]?key|token$|secret|password|cookie|^x-.*-key$", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"\bsk-[\w\-]{8,}|\bbearer\s+(?!\$\{)\S{8,}", re.IGNORECASE)


def variables_in(value: Any) -> Iterator[str]:
    """Yield the names of the environment variables that a value refers to."""
    if isinstance(value, str):
        yield from _VARIABLE.findall(value)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from variables_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from variables_in(each)


def expanded(value: Any) -> Any:
    """Return a value with every `${NAME}` in its texts replaced from the environment.

    Raises:
        UsageError: a variable is not set.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: variable(match[1]), value)
    if isinstance(value, Mapping):
        return {name: expanded(each) for name, each in value.items()}
    return [expanded(each) for each in value] if isinstance(value, list | tuple) else value


def variable(name: str) -> str:
    """Return the value of an environment variable.

    Raises:
        UsageError: it is not set.
    """
    value = os.environ.get(name)
    if value is None:
        raise UsageError(f"${{{name}}} stands in the settings of the endpoint, and {name} is not set")
    return value


def check_json(value: Any, depth: int = 0) -> Any:
    """Return the value itself, where it can be sent as JSON.

    Raises:
        ValueError: it cannot, or is nested too deep.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number in JSON")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if depth > 20:
        raise ValueError("nested too deep")
    if isinstance(value, list | tuple):
        return [check_json(each, depth + 1) for each in value]
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("the names in a JSON object are texts")
        return {name: check_json(each, depth + 1) for name, each in value.items()}
    raise ValueError(f"a {type(value).__name__} is no JSON value; put it in quotation marks")


def check_open(fields: Mapping[str, Any]) -> None:
    """Makes sure that no secret is written out.

    Raises:
        ValueError: a field that holds one by its name, or a value that looks like one, is not `${NAME}`.
    """
    for name, value in fields.items():
        written = isinstance(value, str) and _VARIABLE.search(value) is None and bool(value)
        if (written and _SECRET_NAME.search(name)) or (
            isinstance(value, str) and _SECRET_VALUE.search(value)
        ):
            raise ValueError(f"{name} holds a secret: write ${{NAME}} and set the environment variable NAME")
        if isinstance(value, Mapping):
            check_open(value)
