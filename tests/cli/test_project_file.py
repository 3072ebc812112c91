"""Defaults in the working directory, from the command line: `reflex.yaml`, `pyproject.toml` and `reflex config`."""

import json

from reading import rows


def told(done):
    """Value and origin by key, as `reflex config` prints them."""
    assert done.returncode == 0, done.stderr
    cells = [line.split("  ") for line in done.stdout.splitlines() if "  " in line]
    return {each[0]: tuple(part.strip() for part in each[1:] if part.strip()) for each in cells}


def test_config_prints_each_value_with_its_origin(reflex, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.reflex]\nhistory = 2\nmodel = {model = "groq/some"}\n')
    done = reflex(
        *("config", "hotpotqa", "-c", "paper", "-c", "model.max_tokens=99", "--temperature", 0.3, "--first"),
        *("--tasks", 4),
        cwd=tmp_path,
        GROQ_API_KEY="hush",
    )
    found = told(done)
    assert found["history"] == ("2", "[tool.reflex] in pyproject.toml")
    assert found["environment.name"] == ('"hotpotqa"', "the environment named")
    assert found["environment.sampling"] == ('"first"', "--first")
    assert found["tasks"] == ("4", "--tasks")
    assert found["model.model"] == ('"groq/some"', "[tool.reflex] in pyproject.toml")
    assert found["model.temperature"] == ("0.3", "--temperature")
    assert found["model.max_tokens"] == ("99", "-c")
    assert found["audit"] == ('"count"', "profile paper")
    assert found["seed"] == ("0", "built-in default")
    assert done.stdout.splitlines()[-1] == "Environment variable GROQ_API_KEY: set"
    assert "hush" not in done.stdout


def test_config_without_anything_has_built_in_defaults_alone(reflex, tmp_path):
    assert {each[-1] for each in told(reflex("config", cwd=tmp_path)).values()} == {"built-in default"}


def test_a_run_keeps_the_defaults_with_which_it_began(reflex, tmp_path):
    (tmp_path / "reflex.yaml").write_text("tasks: 2\ntrials: 2\nmodel: {temperature: 0.9}\narms: [react]\n")
    begun = reflex("bench", "alfworld", "--token-limit", 1, "--run-id", "kept", "-q", cwd=tmp_path)
    assert begun.returncode == 1
    assert "defaults come from reflex.yaml" in begun.stderr
    (tmp_path / "reflex.yaml").write_text("tasks: 9\ntrials: 9\nmodel: {temperature: 0.1}\n")
    done = reflex("resume", "kept", "--token-limit", 10**8, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    recorded = json.loads((tmp_path / "results" / "kept" / "run.json").read_text())["config"]
    assert (recorded["tasks"], recorded["trials"], recorded["model"]["temperature"]) == (2, 2, 0.9)
    assert list(recorded["arms"]) == ["react"]
    trials = rows(tmp_path / "results" / "kept" / "trials.jsonl")
    assert {row["arm"] for row in trials} == {"react"}
    assert len({row["task"] for row in trials}) == 2


def test_two_places_for_defaults_are_one_too_many(reflex, tmp_path):
    (tmp_path / "reflex.yaml").write_text("trials: 2\n")
    (tmp_path / "pyproject.toml").write_text("[tool.reflex]\ntrials = 3\n")
    for command in (("bench", "alfworld"), ("config",), ("models",), ("doctor",)):
        done = reflex(*command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "both give defaults; keep one of them" in done.stderr
    assert not (tmp_path / "results").exists()


def test_providers_of_the_folder_are_listed(reflex, tmp_path):
    (tmp_path / "reflex.yaml").write_text('providers: {lab: {base_url: "http://10.0.0.7:8000/v1"}}\n')
    assert "http://10.0.0.7:8000/v1" in reflex("models", cwd=tmp_path).stdout
