"""The audit on reflections that a real model wrote (tests/data/reflections), against labels given by hand."""

import json
from pathlib import Path

from reflex_bench.agents.base import Step, Trajectory
from reflex_bench.agents.reflection.audit import Written, audit
from reflex_bench.agents.reflection.tidying import MAX_SENTENCES, tidied
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load

DATA = Path(__file__).parents[1] / "data" / "reflections"
SHOWN = json.loads((DATA / "shown.json").read_text(encoding="utf-8"))


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


TRIALS = {row["trial"]: row for row in lines("trials.jsonl")}


def judged(row):
    told = TRIALS[row["trial"]]
    steps = tuple(
        Step(number, "", thought, action, seen, valid)
        for number, (thought, action, seen, valid) in enumerate(told["steps"], 1)
    )
    task = Task(told["trial"], told["type"], told["text"], "00")
    trial = Trajectory(task, told["number"], (), told["opening"], steps, told["outcome"])
    left = tidied(row["reply"], row["finish"], row["api"] == "completions")
    written = Written(left.lines, left.whole, tuple(SHOWN[told.get("shown", told["environment"])]))
    cap = 30 if told["environment"] == "alfworld" else 7
    return left, audit(left.text, trial, (), cap, load(told["environment"]).verbs, written)


def test_most_of_what_is_flagged_is_bad_and_most_of_what_is_bad_is_flagged():
    rows = lines("labelled.jsonl")
    flagged = [bool(judged(row)[1]) for row in rows]
    bad = [row["label"] == "bad" for row in rows]
    both = sum(one and other for one, other in zip(flagged, bad, strict=True))
    print(f"{len(rows)} reflections, {sum(bad)} bad, {sum(flagged)} flagged, {both} both")
    # What is missed invents facts in whole sentences, which no rule here can see.
    assert both / sum(flagged) >= 0.9
    assert both / sum(bad) >= 0.8


def test_nothing_that_is_left_runs_on_breaks_off_or_is_longer_than_asked_for():
    for row in lines("labelled.jsonl"):
        left, broken = judged(row)
        assert "\n" not in left.text
        assert "Your task is to" not in left.text
        assert "```" not in left.text
        assert len(left.text) <= MAX_SENTENCES * 400
        assert left.whole or "truncated" in broken
