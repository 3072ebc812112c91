"""What is printed where the output's encoding does not hold every character, as on Windows behind a redirect."""

import subprocess
import sys
from pathlib import Path

import pytest

REFLEX = str(Path(sys.executable).with_name("reflex"))


@pytest.fixture(scope="module")
def printing(surroundings):
    """Runs `reflex` with an encoding for what it prints."""

    def run(encoding, *arguments, **variables):
        return subprocess.run(
            [REFLEX, *map(str, arguments)],
            capture_output=True,
            encoding=encoding.partition(":")[0],
            timeout=120,
            env=surroundings | variables | {"PYTHONIOENCODING": encoding},
        )

    return run


@pytest.fixture(scope="module")
def recorded(printing, tmp_path_factory):
    """Results with one small run, made with the encoding that Windows gives a redirect; and what that printed."""
    results = tmp_path_factory.mktemp("encodings")
    words = [
        *("bench", "alfworld", "--tasks", 2, "--trials", 1, "-q"),
        *("--run-id", "run", "--results", results),
    ]
    return results, printing("cp1252", *words)


def test_a_run_prints_its_tables_with_stand_ins_for_what_the_encoding_lacks(recorded):
    _, done = recorded
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("pass@k · alfworld"), "cp1252 has this dot"
    heading = next(number for number, line in enumerate(lines) if line.startswith("Arm "))
    assert set(lines[heading + 1]) == {"-"}, "and no line of a table"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "ascii:surrogateescape"])
def test_every_command_that_reads_a_run_prints_in_any_encoding(recorded, printing, encoding):
    for command in ("table", "compare", "show"):
        done = printing(encoding, command, recorded[0] / "run")
        assert (done.returncode, done.stderr) == (0, ""), command
        assert "react" in done.stdout


@pytest.mark.parametrize("words", ["list", "config", "doctor", "models", "bench --help", "data list"])
def test_every_other_command_prints_in_ascii(recorded, printing, words):
    done = printing("ascii", *words.split(), REFLEX_BENCH_RESULTS=str(recorded[0]))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_mistake_is_one_line_in_ascii_too(printing, tmp_path):
    done = printing("ascii", "show", "Beyoncé…", "--results", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("reflex: no run 'Beyonc?...'")
