"""Tools that take values of another type, and mark them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WHOLE = re.compile(r"-?\d{1,15}(?:\.0{1,2})?")
_TRUTH = {"true": True, "false": False}


def taken(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return arguments as a lenient tool takes them, and the fields in which something was not as it should be.

    Args:
        arguments: as they came.
        schema: of the tool's arguments.
    """
    fields, made, marked = schema.get("properties", {}), {}, []
    for name, value in arguments.items():
        if name not in fields or (value is None and name not in schema.get("required", ())):
            marked.append(name)
            continue
        meant = _meant(value, fields[name])
        if meant is not value:
            marked.append(name)
        made[name] = meant
    return made, marked


def _meant(value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if isinstance(value, str):
        if kind == "integer" and _WHOLE.fullmatch(value.strip()):
            return int(value.strip().partition(".")[0])
        if kind == "boolean" and value.strip().lower() in _TRUTH:
            return _TRUTH[value.strip().lower()]
        if kind == "string":
            bare = value.strip()
            listed = [each for each in schema.get("enum", ()) if each == bare.lower()]
            shaped = bare.upper() if "pattern" in schema and "@" not in bare else bare
            meant = listed[0] if listed else shaped
            return value if meant == value else meant
        if kind == "array":
            return [value]
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value
