"""Arguments against the JSON Schema of a tool: the part of it that the registry uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 20
"""Objects and lists in one another; what is nested deeper fits no tool."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_FORMATS = {
    "date": re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"),
    "date-time": re.compile(
        r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)"
    ),
}

Fault = tuple[str, str, str]
"""Code, message and field."""


def first_fault(arguments: Any, schema: Mapping[str, Any], path: str = "", depth: int = 0) -> Fault | None:
    """Return the first fault of a value by its schema, fields in the order of the schema; None for none."""
    if depth > MAX_DEPTH:
        return "INVALID_PARAMETER", "nested too deep", path
    if (kinds := kinds_of(schema)) and not any(is_a(arguments, kind) for kind in kinds):
        return (
            "TYPE_MISMATCH",
            f"{path or 'arguments'} must be {' or '.join(kinds)}, not {_named(arguments)}",
            path,
        )
    if isinstance(arguments, dict):
        return _in_object(arguments, schema, path, depth)
    if isinstance(arguments, list) and isinstance(schema.get("items"), Mapping):
        faults = (
            first_fault(each, schema["items"], f"{path}.{place}", depth + 1)
            for place, each in enumerate(arguments)
        )
        return next((fault for fault in faults if fault), None) or _of_size(arguments, schema, path)
    return _of_value(arguments, schema, path)


def kinds_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types that a schema allows; none where it says nothing."""
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def is_a(value: Any, kind: str) -> bool:
    """Return whether a value is of a type of JSON Schema; true is no number, and 2.0 is a whole one."""
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def _named(value: Any) -> str:
    kinds = ("null", "boolean", "integer", "number", "string", "array", "object")
    return next((kind for kind in kinds if is_a(value, kind)), "something else")


def _in_object(value: dict[str, Any], schema: Mapping[str, Any], path: str, depth: int) -> Fault | None:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return "MISSING_REQUIRED_FIELD", f"{_at(path, name)} is missing", _at(path, name)
    for name in value if fields or schema.get("additionalProperties") is False else ():
        if name not in fields and schema.get("additionalProperties") is False:
            known = ", ".join(fields)
            return (
                "INVALID_PARAMETER",
                f"there is no field {name[:80]!r}; known: {known}",
                _at(path, name[:80]),
            )
    for name, each in fields.items():
        if name in value and (fault := first_fault(value[name], each, _at(path, name), depth + 1)):
            return fault
    return None


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _of_size(value: list[Any], schema: Mapping[str, Any], path: str) -> Fault | None:
    if len(value) < schema.get("minItems", 0):
        return "INVALID_PARAMETER", f"{path} must have at least {schema['minItems']} items", path
    return None


def _of_value(value: Any, schema: Mapping[str, Any], path: str) -> Fault | None:
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(map(str, schema["enum"]))
        return "INVALID_PARAMETER", f"{path} must be one of {allowed}", path
    if isinstance(value, str):
        pattern, form = schema.get("pattern"), _FORMATS.get(schema.get("format", ""))
        if pattern and not re.search(pattern, value):
            return "INVALID_PARAMETER", f"{path} must be like {pattern}", path
        if form and not form.fullmatch(value):
            return "TYPE_MISMATCH", f"{path} must be a {schema['format']} of ISO 8601", path
        if len(value) < schema.get("minLength", 0) or len(value) > schema.get("maxLength", 10_000):
            return "INVALID_PARAMETER", f"{path} is too short or too long", path
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            return "INVALID_PARAMETER", f"{path} must be at least {schema['minimum']}", path
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            return "INVALID_PARAMETER", f"{path} must be more than {schema['exclusiveMinimum']}", path
        if "maximum" in schema and value > schema["maximum"]:
            return "INVALID_PARAMETER", f"{path} must be at most {schema['maximum']}", path
    return None
