"""`reflex tools`: what it prints, and how it refuses."""

from __future__ import annotations

import json


def test_tools_of_a_class_are_listed(reflex) -> None:
    done = reflex("tools", "list", "--effect", "irreversible")
    assert done.returncode == 0, done.stderr
    heading, *lines, last = done.stdout.splitlines()
    assert heading.startswith("id ")
    listed = {line.split()[0] for line in lines}
    assert listed == {"tool_refund_v2", "tool_transfer_v3", "tool_expense_submit_v2", "tool_message_v1"}
    assert last.startswith("4 of 30 tools; registry ")


def test_a_file_of_changes_is_checked_and_its_differences_are_told(reflex, tmp_path) -> None:
    path = tmp_path / "changes.yaml"
    path.write_text("tools:\n- {id: tool_stock_v2, timeout: 3}\n", encoding="utf-8")
    done = reflex("tools", "check", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "tool_stock_v2: timeout 6.0 -> 3.0"
    path.write_text("tools:\n- {id: tool_stock_v2, timeout: 3000}\n", encoding="utf-8")
    done = reflex("tools", "check", path)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.endswith(
        "changes.yaml, line 2: tool_stock_v2: timeout is 3000; wanted: seconds, more than 0 and at most 600"
    )


def test_an_effect_that_does_not_exist_is_refused_with_the_nearest(reflex) -> None:
    done = reflex("tools", "list", "--effect", "irreversable")
    assert done.returncode == 2
    assert done.stderr == "reflex: unknown effect 'irreversable'; did you mean 'irreversible'?\n"


def test_the_openapi_document_is_json(reflex) -> None:
    done = reflex("tools", "openapi")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["openapi"] == "3.1.0"
    assert told["paths"]["/payments/refunds"]["post"]["operationId"] == "tool_refund_v2"
