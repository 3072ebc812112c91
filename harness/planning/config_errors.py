"""Error messages for a wrong configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from reflex_bench.core.errors import unknown


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return a validation error as one line that names the key, what is wrong, and the nearest key that exists."""
    lines = []
    for detail in error.errors():
        where = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            lines.append(_stranger(model, detail["loc"]))
        elif detail["type"] in ("not_sent", "reserved", "mapping"):
            # What was given may be a secret.
            lines.append(f"{where}: {detail['msg']}")
        else:
            wrong = detail["msg"].removeprefix("Value error, ")
            lines.append(f"{where}: {wrong[0].lower()}{wrong[1:]} (got {repr(detail['input'])[:100]})")
    return "; ".join(lines)


def _stranger(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """Return the message for a key that does not exist.

    Its own name in a section beneath is nearest, then one that is written alike.
    """
    *path, key = map(str, loc)
    section = _section_at(model, loc[:-1])
    where = ".".join([*path, key])
    if section is None:
        return str(unknown("setting", where, ()))
    beneath = [f"{name}.{key}" for name, part in _sections(section) if key in part.model_fields]
    if beneath:
        return f"unknown setting {where!r}; did you mean {'.'.join([*path, beneath[0]])!r}?"
    return str(unknown("setting", where, [".".join([*path, name]) for name in section.model_fields]))


def _section_at(model: type[BaseModel], path: tuple[int | str, ...]) -> type[BaseModel] | None:
    current: type[BaseModel] | None = model
    for part in path:
        field = current.model_fields.get(str(part)) if current else None
        # A part that is no field is the name of an arm, and what it leads to has been entered already.
        current = _section(field.annotation) if field else current
    return current


def _sections(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the sections of a section, but for those that a person names."""
    for name, field in model.model_fields.items():
        part = _section(field.annotation)
        if part is not None and get_origin(field.annotation) is not dict:
            yield name, part


def _section(annotation: Any) -> type[BaseModel] | None:
    """Return the section inside `Section`, `Section | None` or `dict[str, Section]`."""
    found = [part for part in (annotation, *get_args(annotation)) if isinstance(part, type)]
    return next((part for part in found if issubclass(part, BaseModel)), None)
