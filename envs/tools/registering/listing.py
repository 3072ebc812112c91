"""The registry for people: a line a tool, and what one registry has otherwise than another."""

from __future__ import annotations

from dataclasses import fields

from reflex_bench.core.errors import unknown
from reflex_bench.envs.tools.registering.entries import DEPARTMENTS, EFFECTS
from reflex_bench.envs.tools.registry import Registry, Retries, Tool, Undo

COLUMNS = ("id", "department", "effect", "cost", "price", "timeout", "roles", "undone by / confirmed by")


def chosen(registry: Registry, effect: str | None, department: str | None, role: str | None) -> list[Tool]:
    """Return the tools of a class, a department and a role, in the order of the registry; None for any.

    Raises:
        UsageError: there is no such class, department or role.
    """
    if effect is not None and effect not in EFFECTS:
        raise unknown("effect", effect[:80], EFFECTS)
    if department is not None and department not in DEPARTMENTS:
        raise unknown("department", department[:80], DEPARTMENTS)
    roles = {each for tool in registry.tools.values() for each in tool.roles}
    if role is not None and role not in roles:
        raise unknown("role", role[:80], roles)
    return [
        tool
        for tool in registry.tools.values()
        if effect in (None, tool.effect)
        and department in (None, tool.department)
        and (role is None or role in tool.roles)
    ]


def lines(tools: list[Tool]) -> list[str]:
    """Return a table of tools, headings first."""
    rows = [COLUMNS, *map(_row, tools)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    padded = (zip(row, widths, strict=True) for row in rows)
    return ["  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in padded]


def _row(tool: Tool) -> tuple[str, ...]:
    way = tool.undo.tool if tool.undo else tool.confirm
    price, timeout = f"${tool.price:g}", f"{tool.timeout:g} s"
    return tool.id, tool.department, tool.effect, tool.cost_level, price, timeout, ", ".join(tool.roles), way


def differences(one: Registry, other: Registry) -> list[str]:
    """Return a line for everything that another registry has otherwise."""
    found = [f"{id}: offered" for id in other.tools if id not in one.tools]
    found += [f"{id}: not offered" for id in one.tools if id not in other.tools]
    for id, tool in one.tools.items():
        for field in fields(Tool) if id in other.tools else ():
            before, after = getattr(tool, field.name), getattr(other.tools[id], field.name)
            if before != after:
                found.append(f"{id}: {field.name} {_told(before)} -> {_told(after)}")
    return found


def _told(value: object) -> str:
    if isinstance(value, Undo):
        given = ", ".join(f"{name}: {source}" for name, source in value.arguments.items())
        return f"{value.tool} {{{given}}}"
    if isinstance(value, Retries):
        return f"{value.count} after {', '.join(value.classes)}"
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value or "none")
    return " ".join(text.split())[:120]
