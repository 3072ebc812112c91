"""The registry as an OpenAPI 3.1 document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reflex_bench.envs.tools.registry import Registry, Tool

VERSION = "3.1.0"
TITLE = "The business of reflex bench tools"
KEY_HEADER = "Idempotency-Key"
REFUSALS: Mapping[str, str] = {
    "403": "The role may not call it.",
    "404": "There is nothing with this id.",
    "409": "A rule of the business, a duplicate, or a conflict.",
    "422": "The arguments do not fit their schema.",
    "423": "The account is locked.",
}
_REFUSAL = {
    "type": "object",
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "field": {"type": "string"}},
    "required": ["code", "message"],
}


def document(registry: Registry) -> dict[str, Any]:
    """Return the document: each tool an operation by its id, what OpenAPI has no word for under `x-` keys.

    Two tools may have one endpoint, with different methods.
    """
    paths: dict[str, dict[str, Any]] = {}
    for tool in registry.tools.values():
        paths.setdefault(tool.endpoint, {})[tool.method.lower()] = _operation(tool)
    return {
        "openapi": VERSION,
        "info": {
            "title": TITLE,
            "version": max(tool.version for tool in registry.tools.values()),
            "description": "A business that is made up: no company, person or address in it exists.",
            "x-registry": registry.hash,
        },
        "paths": paths,
        "components": {
            "schemas": {"Refusal": _REFUSAL},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(tool: Tool) -> dict[str, Any]:
    in_path = re.findall(r"\{([a-z_]+)\}", tool.endpoint)
    fields, required = tool.parameters["properties"], tool.parameters.get("required", ())
    in_body = tool.method in ("POST", "PUT", "PATCH")
    parameters = [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "schema": schema,
        }
        for name, schema in fields.items()
        if name in in_path or not in_body
    ]
    if tool.idempotent_with_key:
        described = "The same key makes the same call harmless."
        parameters.append(
            {"name": KEY_HEADER, "in": "header", "description": described, "schema": {"type": "string"}}
        )
    made: dict[str, Any] = {
        "operationId": tool.id,
        "summary": tool.name,
        "description": " ".join(tool.description.split()),
        "tags": [tool.department],
        "parameters": parameters,
        "responses": {"200": _answer("Done.", _success(tool)), **_refusals()},
        **_further(tool),
    }
    body = {name: schema for name, schema in fields.items() if name not in in_path} if in_body else {}
    if body:
        schema = {
            "type": "object",
            "properties": body,
            "required": [name for name in required if name in body],
            "additionalProperties": False,
        }
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return made


def _success(tool: Tool) -> dict[str, Any]:
    """The body of a success on the wire: its code beside what the tool returns."""
    fields = {"code": {"const": "OK"}, **tool.returns["properties"]}
    return {**tool.returns, "properties": fields, "required": ["code", *tool.returns.get("required", ())]}


def _answer(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _refusals() -> dict[str, Any]:
    refusal = {"$ref": "#/components/schemas/Refusal"}
    return {status: _answer(text, refusal) for status, text in REFUSALS.items()}


def _further(tool: Tool) -> dict[str, Any]:
    """What agents and those who measure them need beyond the interface."""
    made: dict[str, Any] = {
        "x-version": tool.version,
        "x-effect": tool.effect,
        "x-cost-level": tool.cost_level,
        "x-price": tool.price,
        "x-timeout": tool.timeout,
        "x-retries": {"count": tool.retries.count, "classes": list(tool.retries.classes)},
        "x-roles": list(tool.roles),
    }
    if tool.undo:
        made["x-undo"] = {"tool": tool.undo.tool, "arguments": dict(tool.undo.arguments)}
    if tool.confirm:
        made["x-confirm"] = tool.confirm
    if tool.fallback:
        made["x-fallback"] = tool.fallback
    if tool.record:
        made["x-record"] = list(tool.record)
    return made
