"""How the tools are put before a model: as lines of a text, or as native tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.registry import Registry, Tool

_EFFECTS = {
    "read": "reads",
    "compensable": "writes, can be undone",
    "irreversible": "writes, cannot be undone",
}

_OWN: Mapping[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "respond": (
        "Answer the request and end it. Facts are what was asked for, by the names that answers of tools have for it.",
        {"message": {"type": "string"}, "facts": {"type": "object"}},
        ("message", "facts"),
    ),
    "hand_over": ("Give the request to a person and end it.", {"reason": {"type": "string"}}, ("reason",)),
    "cancel": (
        "Undo what your call of this number did, where that can be undone; calls of tools count from 1.",
        {"call": {"type": "integer"}},
        ("call",),
    ),
}


def lines(registry: Registry) -> str:
    """Return the list of tools, a line each."""
    return "\n".join(_line(tool) for tool in registry.tools.values())


def _line(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    fields = tool.parameters.get("properties", {})
    taken = ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(each)}" for name, each in fields.items()
    )
    given = ", ".join(tool.returns.get("properties", {}))
    return (
        f"{tool.id} {{{taken}}} -> {given}: {' '.join(tool.description.split())} "
        f"({_EFFECTS[tool.effect]}; {', '.join(tool.roles)})"
    )


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    kind = schema.get("type", "any")
    kind = "|".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if kind == "object" and schema.get("properties"):
        return "{" + ", ".join(f"{name}: {_kind(each)}" for name, each in schema["properties"].items()) + "}"
    return str(schema.get("format", kind))


def native(registry: Registry) -> tuple[dict[str, Any], ...]:
    """Return the tools in the form of the chat completions API."""
    own = [
        _function(name, text, {"type": "object", "properties": fields, "required": list(required)})
        for name, (text, fields, required) in _OWN.items()
    ]
    tools = registry.tools.values()
    return (
        *(_function(tool.id, " ".join(tool.description.split()), tool.parameters) for tool in tools),
        *own,
    )


def _function(name: str, text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": dict(parameters)},
    }
