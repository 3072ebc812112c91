"""Imports run downwards only, no modules form a circle, and no folder is crowded."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]

FLOORS = ("core", "models", "envs", "agents", "harness", "cli")
"""From the ground up. `configs` has data and no code that imports any of them."""

MAX_MODULES = 16
"""In one folder, `__init__` left out."""

CROWDED: Mapping[str, int] = {"harness/reporting": 18}
"""Folders that are over the limit, and by how much they may be. They are to shrink; none is to be added."""

ROOMS: Mapping[str, frozenset[str]] = {
    "parts": frozenset(),
    "planning": frozenset({"parts"}),
    "storage": frozenset({"parts", "planning"}),
    "checks": frozenset({"parts", "planning", "storage"}),
    "running": frozenset({"parts", "planning", "storage", "checks"}),
    "reporting": frozenset({"parts", "planning", "storage", "checks"}),
    "importing": frozenset({"parts", "planning", "storage", "checks", "reporting"}),
}
"""The rooms of the harness, and from which others each may import."""


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name behind `reflex_bench.`."""
    found = {}
    for floor in (*FLOORS, "configs"):
        for path in sorted((ROOT / floor).rglob("*.py")):
            names = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def imported(tree: ast.AST, known: Mapping[str, object]) -> Iterator[str]:
    """Every module that a module imports: at its top, inside functions, and for type checkers alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}".removeprefix("reflex_bench.")
                yield whole if whole in known else node.module.removeprefix("reflex_bench.")
        elif isinstance(node, ast.Import):
            yield from (name.name.removeprefix("reflex_bench.") for name in node.names)


def graph() -> dict[str, set[str]]:
    """What each module imports of the package."""
    known = modules()
    return {
        name: {each for each in imported(ast.parse(path.read_text("utf-8")), known) if each in known} - {name}
        for name, path in known.items()
    }


def reached(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    """Everything that a module imports, directly or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - seen
        seen |= new
        waiting.extend(new)
    return seen


def circles(edges: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """The largest groups of modules of which each imports every other, directly or through others."""
    below = {name: reached(name, edges) for name in edges}
    return {
        frozenset(other for other in below[name] if name in below[other])
        for name in edges
        if name in below[name]
    }


def test_the_graph_has_imports_of_every_kind() -> None:
    source = (
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "import reflex_bench.core.errors\n"
        "from reflex_bench.envs import base\n"
        "if TYPE_CHECKING:\n    from reflex_bench.models.base import Model\n"
        "def late() -> None:\n    from reflex_bench.cli import main\n"
    )
    known = dict.fromkeys(("core.errors", "envs", "envs.base", "models.base", "cli.main"))
    assert set(imported(ast.parse(source), known)) & known.keys() == known.keys() - {"envs"}


def test_circles_are_found() -> None:
    edges = {
        "a": {"b"},
        "b": {"c"},
        "c": {"a", "d"},
        "d": {"e"},
        "e": set[str](),
        "f": {"g"},
        "g": {"f", "e"},
    }
    assert circles(edges) == {frozenset("abc"), frozenset("fg")}


def test_imports_run_downwards_only() -> None:
    floor = {name: place for place, name in enumerate(FLOORS)} | {"configs": 0}
    upwards = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in sorted(others)
        if floor[other.partition(".")[0]] > floor[name.partition(".")[0]]
    ]
    assert upwards == []


def test_the_code_of_environments_knows_no_model() -> None:
    edges = graph()
    assert [
        name
        for name in edges
        if name.startswith("envs") and any(each.startswith("models") for each in edges[name])
    ] == []


def test_no_modules_form_a_circle() -> None:
    assert circles(graph()) == set()


def room(module: str) -> str:
    """The room of the harness that a module lies in; "" for one outside."""
    floor, _, rest = module.partition(".")
    return rest.partition(".")[0] if floor == "harness" else ""


def test_rooms_of_the_harness_import_only_from_those_below() -> None:
    edges = graph()
    assert {room(name) for name in edges} - {""} == ROOMS.keys()
    assert [
        f"{name} imports {other}"
        for name, others in edges.items()
        for other in sorted(others)
        if room(name) and room(other) and room(other) not in {room(name), *ROOMS[room(name)]}
    ] == []


def test_no_folder_has_more_modules_than_one_can_take_in() -> None:
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix() for path in modules().values() if path.stem != "__init__"
    )
    crowded = {folder: count for folder, count in counts.items() if count > CROWDED.get(folder, MAX_MODULES)}
    assert crowded == {}
