"""`reflex verify` against the real official engine."""

import json

import pytest
from reading import rows

pytestmark = pytest.mark.official


@pytest.fixture(scope="module")
def played(reflex, tmp_path_factory):
    results = tmp_path_factory.mktemp("verify")
    done = reflex(
        *("bench", "alfworld", "--tasks", 2, "--trials", 1, "--max-steps", 12, "-q"),
        # The official engine gives no hints: what the native one adds must not count as a difference.
        *("-c", "environment.feedback=hint", "--run-id", "run", "--results", results),
    )
    assert done.returncode == 0, done.stderr
    return results / "run"


def test_a_run_of_the_native_engine_is_identical_in_the_official_one(reflex, played):
    done = reflex("verify", played)
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = [row for path in (played / "trajectories").glob("react.*") for row in rows(path)]
    steps = sum(step["action"] is not None for row in recorded for step in row["trajectory"])
    assert done.stdout.strip() == f"2 trajectories, {steps} steps, identical"
    marked = json.loads((played / "verified.json").read_text())["attempts"]
    assert {attempt: found["won"] for attempt, found in marked.items()} == {
        row["attempt"]: row["success"] for row in recorded
    }


def test_an_observation_that_the_official_engine_would_not_give_is_named(reflex, played):
    path = played / "trajectories" / "react.trial-1.jsonl"
    recorded = rows(path)
    step = next(step for step in recorded[0]["trajectory"] if step["action"] is not None)
    step["observation"] += " A golden apple 1, too."
    path.write_text("".join(json.dumps(row) + "\n" for row in recorded))
    (played / "trajectories" / "reflexion.trial-1.jsonl").unlink()
    done = reflex("verify", played)
    assert done.returncode == 1
    assert "golden apple" in done.stdout
    assert repr(step["action"]) in done.stdout
    assert "1 not identical" in done.stdout
