"""`docs/examples`: a package with one part of each kind, installed and run as docs/extending.md says."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from reading import rows

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

pytestmark = pytest.mark.slow

ARMS = """arms={
  react: {},
  hasty: {agent: {hasty: {steps: 2}}},
  bounds: {agent: {hasty: {steps: 2}}, reflector: bounds, memory: newest},
  found: {agent: {hasty: {steps: 2}}, reflector: bounds, memory: {kind: retrieval, similarity: letters}},
  quick: {evaluator: quick}}"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder in which the package is installed, built from a copy so that nothing is written into the sources."""
    source, target = tmp_path_factory.mktemp("source") / "examples", tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLES, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    uv = shutil.which("uv")
    command = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def reflex(installed):
    def run(*arguments):
        return subprocess.run(
            [str(Path(sys.executable).with_name("reflex")), *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "200"},
        )

    return run


@pytest.fixture(scope="module")
def run(reflex, tmp_path_factory):
    """A run in which all but the table take part."""
    results = tmp_path_factory.mktemp("results")
    words = (
        "bench",
        "guessing",
        "--model",
        "halving",
        "--trials",
        2,
        "-q",
        "-c",
        ARMS,
        "-c",
        "environment.largest=15",
    )
    done = reflex(*words, "--run-id", "run", "--results", results)
    assert done.returncode == 0, done.stderr
    return results / "run"


def solved(run, arm, trial):
    found = rows(run / "trials.jsonl")
    return {
        int(row["task"][1:]) for row in found if (row["arm"], row["trial"]) == (arm, trial) and row["success"]
    }


def test_the_package_has_one_part_of_each_kind_in_under_200_lines(installed):
    files = [*EXAMPLES.rglob("*.py"), EXAMPLES / "pyproject.toml"]
    assert sum(len(file.read_text().splitlines()) for file in files) < 200
    [points] = installed.glob("*.dist-info/entry_points.txt")
    kinds = [line for line in points.read_text().splitlines() if line.startswith("[")]
    assert len(kinds) == len(set(kinds)) == 8


def test_every_part_does_what_it_is_for(run):
    # Of 15 numbers, halving finds 8 at once, 4 and 12 in the second step, and every number in the fourth.
    assert solved(run, "react", 1) == set(range(1, 16))
    assert solved(run, "hasty", 1) == {4, 8, 12}
    assert solved(run, "hasty", 2) == set(), "nothing is remembered"
    # What two answers leave open is three numbers, each of them found in two further steps.
    for arm in ("bounds", "found"):
        assert solved(run, arm, 1) == {4, 8, 12}
        assert solved(run, arm, 2) == {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15}
    # Who is judged by two steps tries again what was won in three or four.
    assert solved(run, "quick", 2) == {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15}
    reflections = [row for row in rows(run / "trials.jsonl") if row["arm"] == "bounds" and row["reflected"]]
    assert {row["calls"] for row in reflections} == {2}, "the reflector asked no model"
    arms = json.loads((run / "run.json").read_text())["arms"]
    assert arms["bounds"]["reflector_model"] is None
    assert (arms["bounds"]["memory"], arms["bounds"]["memory_size"]) == ("newest", 1)
    assert arms["quick"]["feedback"] == "quick"
    # The package's own parts have hashes of their own, so that the arms share one of the environment.
    assert {arm["prompt_hash"][:3] for arm in arms.values()} == {"v2:"}
    assert len({arm["prompt_hash"] for arm in arms.values()}) == 1
    assert {name for name, arm in arms.items() if "reflector_prompts" in arm} == {"bounds", "found"}


def test_its_table_is_found_by_its_name_and_a_slip_is_named_with_the_nearest(reflex, run):
    done = reflex("table", run, "--style", "steps", "--format", "csv")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "arm,steps"), done.stderr
    wrong = reflex("table", run, "--style", "stepps")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "reflex: unknown table style 'stepps'; did you mean 'steps'?\n",
    )


def test_its_run_is_resumed_without_a_call(reflex, run):
    before = (run / "calls.jsonl").read_bytes()
    assert reflex("resume", run, "-q").returncode == 0
    assert (run / "calls.jsonl").read_bytes() == before


GUIDE = (EXAMPLES.parent / "extending.md").read_text(encoding="utf-8")


def test_the_code_in_the_guide_is_that_of_the_package():
    source = "\n".join(file.read_text() for file in EXAMPLES.rglob("*.py"))
    # The guide leaves out docstrings.
    lines = {line.strip() for line in source.splitlines()}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        assert {line.strip() for line in block.splitlines()} <= lines


def test_the_commands_in_the_guide_do_what_it_says(reflex, tmp_path):
    block = "".join(re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)).replace("\\\n", " ")
    commands = [
        shlex.split(line[len("$ reflex ") :]) for line in block.splitlines() if line.startswith("$ reflex")
    ]
    assert [words[0] for words in commands] == ["doctor", "bench", "table", "bench"]
    _, bench, table, wrong = commands
    assert reflex(*bench, "--results", tmp_path, "-q").returncode == 0
    assert "reflexion" in reflex(*table, "--results", tmp_path).stdout
    assert reflex(*wrong, "--results", tmp_path).stderr in block
    assert "agent 'hasty' of package reflex-bench-guessing 1.0 loads" in reflex("doctor").stdout


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "agent={hasty: {step: 1}}",
            "option of the agent 'hasty' of package reflex-bench-guessing 1.0: 'step'; did you mean 'steps'?",
        ),
        ("agent={hasty: {steps: 0}}", "option 'steps' is 0: Input should be greater than or equal to 1"),
        (
            "reflector={bounds: {steps: 0}}",
            "reflector 'bounds' of package reflex-bench-guessing 1.0 has no options",
        ),
        ("evaluator={any: [quik]}", "did you mean 'quick'?"),
        (
            "environment.larges=3",
            "option of the environment 'guessing' of package reflex-bench-guessing 1.0: 'larges'",
        ),
        (
            "memory={kind: newest, options: {size: 2}}",
            "memory 'newest' of package reflex-bench-guessing 1.0 has no options, and was given 'size'",
        ),
        ("memory=newst", "did you mean 'newest'?"),
        ("memory={kind: retrieval, similarity: leters}", "did you mean 'letters'?"),
    ],
)
def test_a_mistake_in_its_settings_is_one_line(reflex, tmp_path, setting, said):
    done = reflex(
        "bench", "guessing", "--model", "halving", "-c", setting, "--dry-run", "--results", tmp_path
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert said in done.stderr
