"""docs/architecture.md and CONTRIBUTING.md name files that are there, and the picture shows the imports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_layers import FLOORS, graph, reached

from reflex_bench.core.built_in import BUILT_IN
from reflex_bench.core.parts import WORDS

ROOT = Path(__file__).parents[1]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
ARCHITECTURE = (ROOT / PAGES[0]).read_text(encoding="utf-8")
PATH = re.compile(r"`((?:\w[\w.-]*/)+[\w.-]*|\w[\w.-]*\.(?:md|py|toml|txt))(?: [^`]*)?`")
"""A path in code marks, also at the beginning of a command; `<name>` in it makes it none."""


def paths(text: str) -> list[str]:
    return PATH.findall(text)


def test_paths_are_recognised() -> None:
    text = (
        "`a/b.py`, `scripts/test -m fast`, `c/`, `x.md`, `d/<name>.py`, `Reply`, `--style`, `pip install a/b`"
    )
    assert paths(text) == ["a/b.py", "scripts/test", "c/", "x.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    named = paths((ROOT / page).read_text(encoding="utf-8"))
    made_by_a_run = {"trajectories/", "calls.jsonl", "trials.jsonl"}
    assert len(named) > 10
    assert [path for path in named if path not in made_by_a_run and not (ROOT / path).exists()] == []


def arrows() -> dict[str, set[str]]:
    """The solid arrows of the picture: what each room imports."""
    found: dict[str, set[str]] = {floor: set() for floor in FLOORS}
    for here, there in re.findall(r"^ *(\w+)(?:\[.*?\])? --> (\w+)", ARCHITECTURE, re.MULTILINE):
        found[here].add(there)
    return found


def test_the_picture_shows_the_imports_between_rooms() -> None:
    imports: dict[str, set[str]] = {floor: set() for floor in FLOORS}
    for name, others in graph().items():
        here = name.partition(".")[0]
        if here in imports:
            imports[here] |= {other.partition(".")[0] for other in others} - {here, "configs"}
    drawn = arrows()
    assert sum(map(len, drawn.values())) > 5
    assert {here: there - imports[here] for here, there in drawn.items() if there - imports[here]} == {}
    below = {here: reached(here, drawn) for here in FLOORS}
    assert {here: there - below[here] for here, there in imports.items() if there - below[here]} == {}


def test_the_picture_has_the_rooms_of_the_harness() -> None:
    [inside] = re.findall(r"subgraph harness\n(.*?)\n    end", ARCHITECTURE, re.DOTALL)
    rooms = {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")}
    assert set(re.findall(r"(\w+)\[", inside)) == rooms


def test_every_kind_of_part_has_a_row() -> None:
    rows = set(re.findall(r"^\| ([\w ]+) \|", ARCHITECTURE, re.MULTILINE))
    assert {WORDS[kind].removesuffix(" style") for kind in BUILT_IN} <= rows  # type: ignore[index]
    assert {"provider", "profile", "published result"} <= rows
