"""What is wrong with a configuration, in words for the person who wrote it."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from reflex_bench.harness.errors import unknown


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """A validation error as one line that names the key, what is wrong, and the nearest key that exists."""
    lines = []
    for detail in error.errors():
        where = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            known = _keys_at(model, detail["loc"][:-1])
            lines.append(
                str(
                    unknown(
                        "setting", where, [".".join([*map(str, detail["loc"][:-1]), key]) for key in known]
                    )
                )
            )
        elif detail["type"] in ("not_sent", "reserved", "mapping"):
            # What was given may be a secret.
            lines.append(f"{where}: {detail['msg']}")
        else:
            wrong = detail["msg"].removeprefix("Value error, ")
            lines.append(f"{where}: {wrong[0].lower()}{wrong[1:]} (got {repr(detail['input'])[:100]})")
    return "; ".join(lines)


def _keys_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    current: type[BaseModel] | None = model
    for part in path:
        field = current.model_fields.get(str(part)) if current else None
        # A part that is no field is the name of an arm, and what it leads to has been entered already.
        current = _section(field.annotation) if field else current
    return list(current.model_fields) if current else []


def _section(annotation: Any) -> type[BaseModel] | None:
    """The section inside `Section`, `Section | None` or `dict[str, Section]`."""
    found = [part for part in (annotation, *get_args(annotation)) if isinstance(part, type)]
    return next((part for part in found if issubclass(part, BaseModel)), None)
