"""`upstream-code` beside the published loops: the same parts in the same order, with the same labels and stops.

What is compared is a skeleton of labels and counts, read off noahshinn/reflexion (alfworld_runs/alfworld_trial.py and
env_history.py; hotpotqa_runs/agents.py, prompts.py and fewshots.py); the sentences between them are this project's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reflex_bench.agents.react import react
from reflex_bench.harness.planning.plan import Plan, make_plan
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Message, Reply
from reflex_bench.models.openai.wire import as_text


class Script:
    """An `Ask` that says its lines in order and keeps the text and the stops that it was sent."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.texts, self.stops = list(lines), [], []  # type: ignore[var-annotated]

    def __call__(self, messages: Sequence[Message], step: int, stop: Sequence[str] = ()) -> Reply:
        self.texts.append(as_text(messages))
        self.stops.append(list(stop))
        return Reply(self.lines.pop(0))


@contextmanager
def planned(environment: str) -> Iterator[Plan]:
    plan = make_plan(resolve(["upstream-code"], {"environment": {"name": environment}, "tasks": 1}))
    try:
        yield plan
    finally:
        plan.close()


def played(plan: Plan, script: Script, memory: tuple[str, ...] = ()) -> Any:
    return react(plan.split.tasks[0], 2, memory, plan.environment, script, plan.limits)


LABELS = re.compile(r"(Question|Thought \d+|Action \d+|Observation \d+|Reflections):|\(END OF EXAMPLES\)|- ")


def labels(text: str) -> list[str]:
    """The label of every line that has one, in order."""
    return [found[0].rstrip(": ") for line in text.splitlines() if (found := LABELS.match(line))]


def turns(count: int) -> list[str]:
    """An example of fewshots.py with so many turns; its last action has no observation."""
    steps = [
        f"{label} {turn}" for turn in range(1, count + 1) for label in ("Thought", "Action", "Observation")
    ]
    return ["Question", *steps[:-1]]


def test_hotpotqa_is_asked_as_in_the_published_code() -> None:
    with planned("hotpotqa") as plan:
        script = Script("I need it.", "Search[nothing at all]", "I know.", "Finish[x]")
        trial = played(plan, script, ("look further", "answer sooner"))
    lengths = [len(example.turns) for example in plan.environment.prompts.examples[""]]
    assert len(lengths) == 6  # WEBTHINK_SIMPLE6
    begun = [label for length in lengths for label in turns(length)]
    begun += ["(END OF EXAMPLES)", "Reflections", "-", "-", "Question", "Thought 1"]
    assert labels(script.texts[0]) == begun
    assert labels(script.texts[1]) == [*begun, "Action 1"]
    assert labels(script.texts[2]) == [*begun, "Action 1", "Observation 1", "Thought 2"]
    assert [text.rpartition("\n")[2] for text in script.texts] == [
        "Thought 1:",
        "Action 1:",
        "Thought 2:",
        "Action 2:",
    ]
    assert script.texts[3].endswith("\nThought 2: I know.\nAction 2:")
    assert script.stops == [["\n"]] * 4
    assert [(step.thought, step.action, step.repairs) for step in trial.steps] == [
        ("I need it.", "Search[nothing at all]", ()),
        ("I know.", "Finish[x]", ()),
    ]


def test_without_a_memory_hotpotqas_text_has_no_place_for_one() -> None:
    with planned("hotpotqa") as plan:
        script = Script("I know.", "Finish[x]")
        played(plan, script)
    assert labels(script.texts[0])[-3:] == ["(END OF EXAMPLES)", "Question", "Thought 1"]


def test_an_action_that_is_none_is_answered_as_docstore_explorers_agent_answers_it() -> None:
    with planned("hotpotqa") as plan:
        episode = plan.environment.start(plan.split.tasks[0])
        episode.reset()
        seen = episode.step("Compare[x]").observation
    assert re.match(r"Invalid Action\. Valid Actions are Lookup\[.*\] Search\[.*\] and Finish\[.*\]\.", seen)


def test_alfworld_is_asked_as_in_the_published_code() -> None:
    with planned("alfworld") as plan:
        kind = plan.split.tasks[0].type
        first, second = plan.environment.prompts.examples[kind]
        script = Script("go to moon 1", " go to moon 2", "think: hm", "think: hm")
        trial = played(plan, script, ("one", "two"))
    instruction, *rest = script.texts[0].split("\n")
    assert instruction.count(".") == 2  # one line: what is to be done, and that two examples follow
    goals = [line for line in rest if line.startswith("Your task is to: ")]
    shown = [example.turns[0][0].rpartition("\n")[2] for example in (second, first)]
    assert goals[:2] == shown  # `react_{v}_1` before `react_{v}_0`
    assert len(goals) == 3
    own = script.texts[0].index(goals[2])
    order = [script.texts[0].index(part) for part in (shown[0], shown[1], "\nTrial 0:\none\nTrial 1:\ntwo\n")]
    assert order == sorted(order)
    assert order[-1] < own
    said = sum(len(example.turns) for example in (first, second))
    assert sum(line.startswith("> ") for line in rest) == said
    assert rest[-1] == ">"
    assert script.stops == [["\n"]] * 4
    assert script.texts[1].endswith("\n> go to moon 1\nNothing happens.\n>")
    assert script.texts[3].endswith("\n> think: hm\nOK.\n>")
    assert (trial.outcome, len(trial.steps)) == ("loop", 4)


def test_alfworlds_rule_counts_the_same_line_twice_in_a_row_and_nothing_else() -> None:
    with planned("alfworld") as plan:
        trial = played(plan, Script("look", "inventory", "look", "inventory", "inventory"))
    assert (trial.outcome, len(trial.steps)) == ("loop", 5)
