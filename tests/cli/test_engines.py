"""A run in which one game has a rule of its own: the official engine plays it, and the run says so."""

import json

import pytest
from reading import rows

pytestmark = pytest.mark.official

OPENED = "(not (opened ?r))"


@pytest.fixture(scope="module")
def mixed(reflex, tmp_path_factory):
    """The run's directory, what was printed, and the task whose lids open only where nobody has looked inside."""
    folder = tmp_path_factory.mktemp("mixed")
    games = folder / "data" / "json_2.1.1" / "valid_unseen"
    made = reflex("data", "generate", "alfworld", "--out", games, "--tasks", 3)
    assert made.returncode == 0, made.stderr
    path = sorted(games.rglob("game.tw-pddl"))[0]
    game = json.loads(path.read_text())
    game["pddl_domain"] = game["pddl_domain"].replace(OPENED, f"{OPENED} (not (checked ?r))", 1)
    path.write_text(json.dumps(game))
    done = reflex(
        *("bench", "alfworld", "--split", "valid_unseen", "--data", folder / "data", "--trials", 1, "-q"),
        *("--max-steps", 6, "--run-id", "run", "--results", folder),
    )
    assert done.returncode == 0, done.stderr
    return folder / "run", done, path.parent.name


def test_the_row_of_a_trial_names_its_engine_and_why(mixed):
    run, _, other = mixed
    engines = {row["task"]: row["result"]["engine"] for row in rows(run / "trials.jsonl")}
    assert len(engines) == 3
    assert [task for task, engine in engines.items() if engine == "official"] == [
        task for task in engines if other in task
    ]
    refused = {row["task"]: row["result"].get("refused", "") for row in rows(run / "trials.jsonl")}
    assert all(
        ("OpenObject" in reason and "checked" in reason) == (other in task)
        for task, reason in refused.items()
    )
    assert sum(map(bool, refused.values())) == 1


def test_the_run_counts_its_trials_by_engine(mixed):
    run, _, _ = mixed
    assert json.loads((run / "run.json").read_text())["environment"]["engines"] == {
        "native": 4,
        "official": 2,
    }


def test_the_table_has_one_line_on_it_and_a_quiet_run_no_warning(mixed, reflex):
    run, done, _ = mixed
    assert done.stderr == ""
    table = reflex("table", run, COLUMNS="400").stdout
    lines = [line for line in table.splitlines() if "engine:" in line]
    assert len(lines) == 1
    assert "Played by the native engine: 4 of 6 trials; by the official one: 2, as" in lines[0]
    assert "OpenObject" in lines[0]
    assert lines[0].endswith("(2 trials).")


def test_verify_says_where_it_has_nothing_to_compare(mixed, reflex):
    run, _, _ = mixed
    done = reflex("verify", run)
    assert done.returncode == 0, done.stdout + done.stderr
    compared, nothing = done.stdout.splitlines()
    assert compared.endswith(" identical")
    assert nothing.startswith("nothing to compare in 1 of them")
