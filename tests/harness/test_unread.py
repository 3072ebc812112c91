"""A run whose replies could not be read says so before anything else, with the likely cause."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from comparing import flowing, text_of
from synthetic_runs import chains, trial, write_run

from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.footnotes import notes
from reflex_bench.harness.reporting.unread import unread
from reflex_bench.harness.storage.run_data import Run, read_run

OTHER_CAUSES: tuple[tuple[dict[str, Any], dict[str, Any], str], ...] = (
    ({"actions": "tools"}, {}, "--actions text"),
    ({"parse": "strict"}, {}, "--parse repair"),
    ({"api": "completions"}, {}, "--api chat"),
    ({"api": "chat"}, {}, "--api completions"),
    ({"max_tokens": 100}, {"completion_tokens": 1000}, "cut off at 100 tokens; try -c model.max_tokens=200"),
    ({}, {"completion_tokens": 10}, "the replies are empty"),
)


def run_of(path, unparsed: int | None, settings: dict[str, Any] | None = None, **changes: Any) -> Run:
    """Two arms of two tasks, ten replies each, of which so many of the second arm were not read."""
    rows = chains("fine", [None, None], 1) + chains("bad", [None, None], 1, unparsed=unparsed, **changes)
    arms = {"fine": {}, "bad": settings or {"temperature": 0.1}}
    return read_run(write_run(path / "run", rows, arms=arms, tasks=2, trials=1))


def test_a_third_of_the_replies_is_told_first_and_three_tenths_are_not(tmp_path) -> None:
    assert list(unread(run_of(tmp_path / "a", 3))) == []
    run = run_of(tmp_path / "b", 4)
    first = notes(run)[0]
    assert first.startswith(
        "bad: the numbers say little about the agent: 40% of 20 replies could not be read."
    )
    assert compare(run, None).pairs[0].warnings[0] == first


def test_that_no_action_was_executed_is_told_whatever_was_read(tmp_path) -> None:
    said = list(unread(run_of(tmp_path / "a", 0, invalid_actions=10)))
    assert len(said) == 1
    assert "no action was executed" in said[0]
    assert "could not be read" not in said[0]
    assert "its commands were read, and none fits what is there; read `reflex show run`" in said[0]
    assert "the form" not in said[0]
    assert "100% of 20 replies could not be read and no action" in next(
        unread(run_of(tmp_path / "b", 10, invalid_actions=0))
    )


@pytest.mark.parametrize(("settings", "changes", "said"), OTHER_CAUSES)
def test_the_likely_cause_follows_from_settings_and_tokens(tmp_path, settings, changes, said) -> None:
    assert said in next(unread(run_of(tmp_path, 10, settings, **{"completion_tokens": 100, **changes})))


def test_counts_that_an_import_does_not_have_are_no_reproach(tmp_path) -> None:
    assert list(unread(run_of(tmp_path, None, invalid_actions=None))) == []


IDLE = {"outcome": "context_limit", "steps": 0, "invalid_actions": 0, "digest": "same"}


@pytest.mark.parametrize("idle", [("one",), ("one", "two")])
def test_from_an_arm_that_never_acted_nothing_follows_and_its_retries_are_not_called_useless(
    tmp_path, idle: tuple[str, ...]
) -> None:
    rows = [
        trial(arm, task, number, **(IDLE if arm in idle else {"digest": f"same {task}"}))
        for arm, task, number in itertools.product(("one", "two"), ("a", "b"), (1, 2))
    ]
    arms = {"one": {"temperature": 0.7}, "two": {"temperature": 0.6}}
    run = read_run(write_run(tmp_path / "run", rows, arms=arms, tasks=2, trials=2))
    assert notes(run)[0].startswith("one never acted, and what it scored is no result: no prompt fits")
    repeated = [note.split(" repeated")[0] for note in notes(run) if " repeated its first trial" in note]
    assert repeated == [f"Every retry of {arm}" for arm in ("one", "two") if arm not in idle]
    text = flowing(text_of(compare(run)))
    assert f"Nothing follows from these numbers: {' and '.join(idle)} never acted." in text
    assert "Within 2 trials" not in text
