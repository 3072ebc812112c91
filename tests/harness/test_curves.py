"""Pictures of a run, and the numbers beside them."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.reporting.curves import write_curves
from reflex_bench.harness.reporting.tables.pass_at_k import pass_at_k_table
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.storage.run_data import read_run

SAMPLE = Path(__file__).parents[2] / "results" / "sample"


def test_the_numbers_beside_a_picture_are_those_of_the_table(tmp_path: Path) -> None:
    run = read_run(SAMPLE)
    write_curves(run, tmp_path / "plots", ("curve",), "svg")
    with (tmp_path / "plots" / "curve.csv").open(newline="") as file:
        lines = {(line["arm"], line["k"]): line for line in csv.DictReader(file)}
    table = render(pass_at_k_table(run, "none"), "terminal")
    assert len(lines) == 4
    for (arm, _), line in lines.items():
        row = next(row for row in table.splitlines() if row.startswith(f"{arm} "))
        assert f"{100 * float(line['rate']):.1f}%" in row
    # By hand: the tokens of both trials of the three tasks, as trials.jsonl has them.
    rows = [json.loads(row) for row in (SAMPLE / "trials.jsonl").read_text().splitlines()]
    for arm in ("react", "reflexion"):
        spent = [row for row in rows if row["arm"] == arm]
        tokens = sum(row["prompt_tokens"] + row["completion_tokens"] for row in spent)
        assert float(lines[arm, "2"]["tokens"]) == tokens


@pytest.mark.parametrize(("format", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_every_format_is_written_and_a_simulated_run_says_so(
    tmp_path: Path, format: str, start: bytes
) -> None:
    files = write_curves(read_run(SAMPLE), tmp_path, ("curve", "cost"), format)
    assert [file.name for file in files] == [f"curve.{format}", "curve.csv", f"cost.{format}", "cost.csv"]
    for file in files[::2]:
        assert file.read_bytes().startswith(start)
        if format == "svg":
            assert "SIMULATED, not a language model" in file.read_text()
            assert {"react", "reflexion"} <= set(file.read_text().replace("<", ">").split(">"))


def test_equal_runs_give_equal_pictures(tmp_path: Path) -> None:
    for name in "ab":
        write_curves(read_run(SAMPLE), tmp_path / name, ("curve", "cost"), "svg")
    assert {file.read_bytes() for file in (tmp_path / "a").iterdir()} == {
        file.read_bytes() for file in (tmp_path / "b").iterdir()
    }


def test_what_cannot_be_drawn_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="curve"):
        write_curves(read_run(SAMPLE), tmp_path, ("curv",), "svg")
    with pytest.raises(UsageError, match="png"):
        write_curves(read_run(SAMPLE), tmp_path, ("curve",), "pgn")
    empty = tmp_path / "empty"
    shutil.copytree(SAMPLE, empty)
    (empty / "trials.jsonl").write_text("")
    with pytest.raises(UsageError, match="no trials yet"):
        write_curves(read_run(empty), tmp_path, ("curve",), "svg")
    untold = tmp_path / "untold"
    shutil.copytree(SAMPLE, untold)
    rows = [json.loads(row) for row in (SAMPLE / "trials.jsonl").read_text().splitlines()]
    rows[0]["prompt_tokens"] = None
    (untold / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="--kind curve"):
        write_curves(read_run(untold), tmp_path, ("curve", "cost"), "svg")
    assert not list(tmp_path.glob("*.svg"))
