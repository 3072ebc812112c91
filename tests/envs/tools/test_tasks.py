"""The eight families: every plan is played on the real tools, and what an agent may know is enough for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.environment import create
from reflex_bench.envs.tools.judging import judge
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks import ToolTask, generate, read_tasks, task_line, write_tasks
from reflex_bench.envs.tools.tasks.playing import play
from reflex_bench.envs.tools.tool_task import resolved

REGISTRY = Registry.load()
TASKS = {task.id: task for task in generate(0, 120)}
FAMILIES = ("status", "refund", "change", "transfer", "dispatch", "expense", "reconcile", "refuse")
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def test_families_have_equal_shares_and_their_tasks_do_not_depend_on_how_many_there_are() -> None:
    assert Counter(task.family for task in TASKS.values()) == dict.fromkeys(FAMILIES, 15)
    assert len({task.message for task in TASKS.values()}) == 120
    more = {task.id: task_line(task) for task in generate(0, 200)}
    assert Counter(id.partition("-")[0] for id in more) == dict.fromkeys(FAMILIES, 25)
    assert all(more[id] == task_line(task) for id, task in TASKS.items())
    uneven = Counter(task.family for task in generate(0, 19))
    assert [uneven[family] for family in FAMILIES] == [3, 3, 3, 2, 2, 2, 2, 2]


@each_task
def test_the_plan_reaches_the_end_state_without_harm_and_nothing_or_half_of_it_does_not(
    task: ToolTask,
) -> None:
    judged, _ = play(task, REGISTRY)
    assert (judged.solved, judged.harms, judged.left_behind, judged.beyond_rights) == (True, (), (), ())
    untouched = World.open(task.image)
    assert not judge(task, untouched, {}, False).solved
    assert not judge(task, untouched, None, False).solved
    if any(task.required.states):
        assert not judge(task, untouched, task.facts, task.should_hand_over).solved
    else:
        assert judge(task, untouched, task.facts, task.should_hand_over).solved
    assert not judge(task, untouched, task.facts, not task.should_hand_over).solved


_ID = re.compile(r"\b(?:[A-Z]{2,4}-\d{2,4}|[\w.]+@[\w.]+)\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d\S*")


@each_task
def test_every_id_that_a_plan_needs_and_every_fact_can_be_had_from_the_message_and_from_answers(
    task: ToolTask,
) -> None:
    _, answers = play(task, REGISTRY)
    known = task.message
    for step, answer in zip(task.plan, [*answers, {}], strict=True):
        arguments = json.dumps(resolved(step.arguments, answers), ensure_ascii=False)
        for id in _ID.findall(arguments):
            assert re.search(rf"\b{re.escape(id)}\b", known), (step.tool, id)
        for text in ("address", "guests", "skill", "place", "to_place"):
            value = step.arguments.get(text, [])
            for each in [value] if isinstance(value, str) else value:
                assert each in known, (step.tool, text, each)
        known += json.dumps(answer, ensure_ascii=False)
    for name, fact in task.facts.items():
        if name == "total" and task.family == "expense":
            amounts = [line["amount"] for line in answers[0]["lines"]]
            assert sum(amounts) == fact
        else:
            assert re.search(rf"(?<!\w){re.escape(str(fact))}(?!\w)", known), (name, fact)


def test_no_answer_has_to_be_guessed_before_it_was_given() -> None:
    """Ids that tools make begin at 9000; a plan has them from an answer, never written down."""
    for task in TASKS.values():
        assert not re.search(r"-9\d{3}\b", json.dumps([dict(step.arguments) for step in task.plan])), task.id


def test_the_shares_of_calls_are_those_of_each_family() -> None:
    calls = {family: [0] * 0 for family in FAMILIES}
    for task in TASKS.values():
        calls[task.family].append(len(task.plan) - 1)
    spans = {family: (min(numbers), max(numbers)) for family, numbers in calls.items()}
    assert spans == {
        "status": (2, 3),
        "refund": (2, 6),
        "change": (2, 3),
        "transfer": (4, 6),
        "dispatch": (3, 4),
        "expense": (5, 7),
        "reconcile": (10, 12),
        "refuse": (1, 3),
    }


def test_equal_seeds_give_equal_bytes_whatever_the_order_of_hashes_and_others_differ() -> None:
    program = (
        "import hashlib; from reflex_bench.envs.tools.tasks import generate, task_line; "
        "print(hashlib.sha256('\\n'.join(map(task_line, generate(7, 24))).encode()).hexdigest())"
    )
    found = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(
            subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, check=True
            ).stdout
        )
    assert len(found) == 1
    here = [task_line(task) for task in generate(7, 24)]
    assert not {*here} & {task_line(task) for task in generate(8, 24)}


def test_tasks_are_read_as_they_were_written(tmp_path: Any) -> None:
    tasks = generate(3, 16)
    file = write_tasks(tasks, tmp_path / "new")
    assert file.read_text(encoding="utf-8") == "".join(f"{task_line(task)}\n" for task in tasks)
    for path in (file, tmp_path / "new"):
        assert [task_line(task) for task in read_tasks(path)] == [task_line(task) for task in tasks]
    assert all(play(task, REGISTRY)[0].solved for task in read_tasks(file))


def test_the_environment_writes_its_split_and_a_run_of_the_files_has_the_same_tasks(tmp_path: Any) -> None:
    made = create({"split": "procedural:seed=7"})
    made.generate(7, 120, tmp_path)
    there = made.load().tasks
    read = create({"data": tmp_path}).load().tasks
    assert [(task.id, task.fingerprint) for task in read] == [(task.id, task.fingerprint) for task in there]
    assert len(there) == 120


def _spoilt(**changes: Any) -> str:
    return json.dumps({**json.loads(task_line(TASKS["refund-0001"])), **changes})


def _required(**changes: Any) -> dict[str, Any]:
    (expected,) = TASKS["refund-0001"].required.states[0]
    told = {
        "table": expected.table,
        "where": dict(expected.where),
        "values": dict(expected.values),
        **changes,
    }
    return {"states": [[told]], "on_the_way": []}


def _image(**rows: Any) -> dict[str, Any]:
    return {"start": "2026-01-01T00:00:00+00:00", "role": "service", "rows": rows}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "tasks.jsonl:2: no JSON"),
        ("[]", "tasks.jsonl:2: the line: Input should be"),
        ("[" * 100_000, "tasks.jsonl:2: n"),
        (_spoilt(id="Refund 1"), "tasks.jsonl:2: id: String should match pattern"),
        (_spoilt(colour="red"), "tasks.jsonl:2: colour: Extra inputs are not permitted"),
        (_spoilt(plan=[]), "tasks.jsonl:2: plan: List should have at least 1 item"),
        (_spoilt(plan=[{"tool": "tool_orders_v3", "arguments": {}}]), "ends with tool_orders_v3; respond or hand_over"),
        (_spoilt(family="refunds"), "tasks.jsonl:2: unknown family of tasks 'refunds'; did you mean 'refund'?"),
        (_spoilt(required=_required(table="repayments")), "repayments has no column"),
        (_spoilt(required=_required(values={"order_id": "ORD-1"})), "a new row of refunds lacks amount, status"),
        (_spoilt(required=_required(where={"refund_id": "RFD-1"})), "0 rows of refunds have"),
        (_spoilt(image=_image(boats=[])), "no table 'boats'"),
        (_spoilt(image=_image(refunds=[[1]])), "row 1 of refunds"),
        (task_line(TASKS["status-0001"]), "tasks.jsonl:2: the task status-0001 is there twice"),
    ],
)  # fmt: skip
def test_a_file_of_tasks_that_is_wrong_is_refused_with_its_line(tmp_path: Any, line: str, said: str) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(f"{task_line(TASKS['status-0001'])}\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_tasks(tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_an_empty_one_and_one_that_is_no_text_are_refused(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*tasks\.jsonl: No such file"):
        read_tasks(tmp_path)
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(b"\n")
    with pytest.raises(UsageError, match="no task in it"):
        read_tasks(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_tasks(file)
