"""An environment, an agent and a model from somebody else's package, found by their entry points."""

import textwrap

import pytest
from reading import rows

PACKAGE = '''
from threading import Barrier

from reflex_bench.envs.prompts import parse
from reflex_bench.agents.react import react
from reflex_bench.envs.base import Action, Split, StepResult, Task
from reflex_bench.models.base import Reply

TEXTS = """
instruction: Name the number.
examples: {"": []}
thought_form: "{}"
action_form: "{}"
thought_observation: ""
invalid_observation: A number is wanted.
verbs: [name]
reflection_instruction: What went wrong?
reflection_examples: []
"""


class Numbers:
    name, max_steps, feedback = "numbers", 5, "environment"
    prompts = parse(TEXTS)

    def load(self, count=None, seed=0):
        tasks = tuple(Task(f"n{n}", "number", f"number {n}", str(n), n) for n in range(4))
        return Split("all", tasks[:count])

    def start(self, task):
        return Guess(task.data)

    def read_action(self, completion, policy):
        word = completion.strip()
        return Action(command=word) if word.isdigit() else Action(error="no_action")

    def settings(self):
        return {"version": 1}

    def untold(self):
        return self

    def tools(self):
        return ()

    def close(self):
        pass


class Guess:
    def __init__(self, wanted):
        self.wanted = wanted

    def reset(self):
        return "A number from 0 to 3."

    def step(self, command):
        won = int(command) == self.wanted
        return StepResult("Yes." if won else "No.", won=won, done=won)

    def result(self):
        return {"wanted": self.wanted}

    def close(self):
        pass


def create(options):
    return Numbers()


class Counting:
    name, simulated = "counting", True

    def check(self):
        return ()

    def complete(self, request):
        return Reply(str(sum(message.role == "assistant" for message in request.messages)))

    def cost(self, usage):
        return None

    def settings(self):
        return {}

    def close(self):
        pass


def open_model(name, options):
    return Meeting() if name == "together" else Counting()


class Meeting(Counting):
    """Answers the first calls of four games at the same time, or none of them."""

    def __init__(self):
        self.four = Barrier(4)

    def complete(self, request):
        reply = super().complete(request)
        if reply.text == "0":
            self.four.wait(0.7)
        return reply


def hasty(task, trial, memory, environment, ask, limits, watch=None):
    from dataclasses import replace
    return react(task, trial, memory, environment, ask, replace(limits, max_steps=1), watch)
'''


@pytest.fixture
def plugged(tmp_path):
    """A folder that holds an installed package."""
    (tmp_path / "somebody.py").write_text(textwrap.dedent(PACKAGE))
    info = tmp_path / "somebody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[reflex_bench.environments]\nnumbers = somebody:create\n"
        "[reflex_bench.models]\ncounting = somebody:open_model\n"
        "[reflex_bench.agents]\nhasty = somebody:hasty\n"
    )
    return tmp_path


def test_an_environment_an_agent_and_a_model_of_others_run_without_a_change_here(reflex, plugged):
    done = reflex(
        *("bench", "numbers", "--model", "counting", "--trials", 1, "-q", "--run-id", "run"),
        *("-c", "arms={patient: {agent: react}, hasty: {agent: hasty}}"),
        *("--results", plugged / "results"),
        PYTHONPATH=str(plugged),
    )
    assert done.returncode == 0, done.stderr
    outcomes = {
        (row["arm"], row["task"]): row["outcome"] for row in rows(plugged / "results/run/trials.jsonl")
    }
    # Who counts up from 0 finds every number in time; who has one step finds 0 alone.
    assert {
        task for (arm, task), outcome in outcomes.items() if arm == "patient" and outcome == "success"
    } == {"n0", "n1", "n2", "n3"}
    assert {task for (arm, task), outcome in outcomes.items() if arm == "hasty" and outcome == "success"} == {
        "n0"
    }


def test_without_the_package_its_names_are_unknown(reflex, tmp_path):
    done = reflex("bench", "numbers", "--results", tmp_path)
    assert done.returncode == 2
    assert "unknown environment 'numbers'" in done.stderr


def test_their_model_may_block_a_thread_and_holds_up_no_other(reflex, plugged, tmp_path):
    # One turn of ours at a time would let none of the four meet another before 0.7 s are over.
    done = reflex(
        *("bench", "numbers", "--model", "counting/together", "--arms", "react", "--trials", 1),
        *("--max-workers", 4, "--run-id", "run", "--results", tmp_path),
        PYTHONPATH=str(plugged),
    )
    assert done.returncode == 0, done.stderr
    assert [row["outcome"] for row in rows(tmp_path / "run" / "trials.jsonl")] == ["success"] * 4


def test_a_stand_in_that_cannot_play_their_environment_is_refused_before_the_first_call(reflex, plugged):
    for arguments in ((), ("--dry-run",), ("--model", "counting", "-c", "reflection.model=simulated")):
        done = reflex(
            *("bench", "numbers", "--results", plugged / "results", *arguments), PYTHONPATH=str(plugged)
        )
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "'simulated' cannot" in done.stderr
        assert "it knows only alfworld and hotpotqa; name a model, e.g. --model openai/<name>" in done.stderr
        assert not (plugged / "results").exists()


def spoilt(plugged, old, new):
    """The package with one thing in it that is not as it should be."""
    file = plugged / "somebody.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


SPOILT = {
    "won=won": ("won=0.5", "StepResult.won must be of type bool, not 0.5"),
    "won=won,": ("won=str(won),", "StepResult.won must be of type bool, not "),
    "StepResult(": ("StepResult(won or ", "StepResult.observation must be of type str, not "),
    'return {"wanted": self.wanted}': ("return {'wanted': [1]}", "result 'wanted' must be a text, a number"),
    'return "A number from 0 to 3."': ("return None", "the first observation must be a text, not None"),
    "Action(command=word)": (
        "Action(command=int(word))",
        "Action.command must be of type str or NoneType, not 0",
    ),
    "return Reply(str(sum(": ("return Reply((sum(", "Reply.text must be of type str, not 0"),
    "def cost(self, usage)": (
        "def complete(self, request):\n        return 'yes'\n\n    def cost(self, usage)",
        "a Reply is wanted, not 'yes'",
    ),
}


@pytest.mark.parametrize("old", SPOILT)
def test_what_is_not_what_was_asked_for_is_an_error_of_the_trial_that_names_the_package(reflex, plugged, old):
    new, said = SPOILT[old]
    spoilt(plugged, old, new)
    done = played(reflex, plugged)
    assert done.returncode == 1, done.stderr
    [row] = rows(plugged / "results/run/trials.jsonl")
    assert (row["outcome"], row["success"]) == ("error", None)
    assert said in row["error"]
    assert "of package somebody: " in row["error"]


def played(reflex, plugged, agent="react"):
    return reflex(
        *("bench", "numbers", "--model", "counting", "--trials", 1, "--tasks", 1, "-q", "--run-id", "run"),
        *("-c", f"arms={{one: {{agent: {agent}}}}}", "-c", "limits.max_calls=3"),
        *("--results", plugged / "results"),
        PYTHONPATH=str(plugged),
    )


AGENTS = {
    "calls on": ("budget", "while True: ask([], 1)"),
    "catches every exception": (
        "budget",
        """while True:
        try: ask([], 1)
        except Exception: pass""",
    ),
    "makes its own success": (
        "error",
        "from reflex_bench.agents.base import Trajectory; return Trajectory(task, trial, memory, '', (), 'success')",
    ),
    "returns nothing": ("error", "return None"),
    "has an outcome of its own": (
        "error",
        "from reflex_bench.agents.base import Trajectory; return Trajectory(task, trial, memory, '', (), 'bored')",
    ),
}


@pytest.mark.parametrize("how", AGENTS)
def test_an_agent_of_others_ends_at_its_calls_and_wins_by_the_environment_alone(reflex, plugged, how):
    outcome, body = AGENTS[how]
    spoilt(
        plugged,
        "def hasty(task, trial, memory, environment, ask, limits, watch=None):",
        f"""
def hasty(task, trial, memory, environment, ask, limits, watch=None):
    episode = environment.start(task)
    episode.reset()
    episode.step("3")
    {body}""",
    )
    done = played(reflex, plugged, "hasty")
    [row] = rows(plugged / "results/run/trials.jsonl")
    assert row["outcome"] == outcome
    if outcome == "budget":
        assert (done.returncode, row["steps"], row["calls"]) == (0, 1, 3)
    else:
        assert "agent 'hasty' of package somebody: " in row["error"]


def test_a_task_that_is_none_is_refused_before_the_first_call(reflex, plugged):
    spoilt(plugged, 'f"number {n}"', "n")
    done = played(reflex, plugged)
    assert done.returncode == 2
    assert "environment 'numbers' of package somebody: Task.text must be of type str, not 0" in done.stderr
    assert not (plugged / "results").exists()


def test_data_that_an_environment_does_not_make_or_fetch_is_refused_in_one_line(reflex, plugged):
    out = plugged / "data"
    made = reflex("data", "generate", "numbers", "--out", out, PYTHONPATH=str(plugged))
    fetched = reflex("data", "fetch", "numbers", PYTHONPATH=str(plugged))
    assert (made.returncode, fetched.returncode) == (2, 2)
    assert made.stderr == "reflex: numbers has no generator; its tasks cannot be made from a seed\n"
    assert fetched.stderr.startswith("reflex: nothing to fetch for 'numbers'")
    assert not out.exists()
