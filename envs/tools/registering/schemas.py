"""Whether something is a JSON Schema of the kind that the registry uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reflex_bench.core.errors import unknown

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
FORMATS = ("date", "date-time")
KEYWORDS: Mapping[str, tuple[type, ...]] = {
    "type": (str, list),
    "description": (str,),
    "properties": (dict,),
    "required": (list,),
    "additionalProperties": (bool,),
    "items": (dict,),
    "minItems": (int,),
    "enum": (list,),
    "pattern": (str,),
    "format": (str,),
    "minLength": (int,),
    "maxLength": (int,),
    "minimum": (int, float),
    "exclusiveMinimum": (int, float),
    "maximum": (int, float),
}
"""What is understood. A keyword that nobody checks would promise more than is kept."""

Path = tuple[str | int, ...]
Fault = tuple[Path, str]
"""Where in a schema, and what is wrong."""


def faults(schema: Any, path: Path = ()) -> Iterator[Fault]:
    """Yield everything for which a schema is none."""
    if not isinstance(schema, dict):
        yield path, f"a JSON Schema is a mapping, not {schema!r:.80}"
        return
    for name, value in schema.items():
        if name not in KEYWORDS:
            yield (*path, name), str(unknown("keyword of JSON Schema", name[:80], KEYWORDS))
        elif not isinstance(value, KEYWORDS[name]) or (
            isinstance(value, bool) and name != "additionalProperties"
        ):
            wanted = " or ".join(kind.__name__ for kind in KEYWORDS[name])
            yield (*path, name), f"{name} is {value!r:.80}; wanted: {wanted}"
        else:
            yield from _of_keyword(name, value, schema, (*path, name))


def _of_keyword(name: str, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    if name == "type":
        for each in value if isinstance(value, list) else [value]:
            if each not in TYPES:
                yield path, str(unknown("type of JSON Schema", str(each)[:80], TYPES))
    elif name == "properties":
        for field, each in value.items():
            yield from faults(each, (*path, field))
    elif name == "items":
        yield from faults(value, path)
    elif name == "required":
        fields = schema.get("properties")
        for each in value:
            if not isinstance(fields, dict) or each not in fields:
                yield path, f"{each!r:.80} is required and is none of the properties"
    elif name == "pattern":
        try:
            re.compile(value)
        except re.error as error:
            yield path, f"{value!r:.80} is no regular expression: {error}"
    elif name == "format" and value not in FORMATS:
        yield path, str(unknown("format", value[:80], FORMATS))
    elif name == "enum" and not value:
        yield path, "enum lists no value"


def of_object(schema: Any) -> Iterator[Fault]:
    """Yield everything for which a schema is none of an object with named fields."""
    found = list(faults(schema))
    yield from found
    if not found and (schema.get("type") != "object" or not isinstance(schema.get("properties"), dict)):
        yield (), "a schema of arguments or answers has the type object and lists its properties"
