"""The registry of tools: what it refuses and where, what may be changed, and what it is told as."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from firm import REGISTRY, done, world

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.registering import listing, openapi
from reflex_bench.envs.tools.registry import NoSuchTool, Registry

SHIPPED = files("reflex_bench.envs.tools").joinpath("registry.yaml").read_text(encoding="utf-8")
RECALLED = """\
tools:
  - id: tool_refund_v2
    effect: compensable
    undo: {tool: tool_refund_recall_v1, arguments: {refund_id: answer.refund_id}}
  - {id: tool_refund_recall_v1, offered: true}
"""


@pytest.fixture
def load(tmp_path: Path):
    """Load the registry with a file of changes of this text."""

    def made(text: str) -> Registry:
        path = tmp_path / "changes.yaml"
        path.write_text(text, encoding="utf-8")
        return Registry.load(path)

    return made


def test_the_tools_that_ship_are_of_six_departments_and_three_classes() -> None:
    tools = REGISTRY.tools.values()
    assert len(tools) == 30
    assert {tool.department for tool in tools} == {
        "orders",
        "logistics",
        "payments",
        "stock",
        "expenses",
        "knowledge",
    }
    assert {tool.id for tool in tools if tool.effect == "irreversible"} == {
        "tool_refund_v2",
        "tool_transfer_v3",
        "tool_expense_submit_v2",
        "tool_message_v1",
    }


def test_what_undoes_a_tool_may_be_called_by_the_same_roles() -> None:
    for tool in REGISTRY.tools.values():
        if tool.undo:
            assert tool.roles == REGISTRY.tools[tool.undo.tool].roles, tool.id


def test_a_fallback_takes_the_same_arguments_and_answers_with_the_same_fields() -> None:
    pairs = [(tool, REGISTRY.tools[tool.fallback]) for tool in REGISTRY.tools.values() if tool.fallback]
    assert len(pairs) == 3
    for tool, fallback in pairs:
        shared = tool.parameters["properties"].keys() & fallback.parameters["properties"].keys()
        assert shared >= set(fallback.parameters["required"]), tool.id
        assert set(fallback.returns["required"]) <= set(tool.returns["properties"]), tool.id


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("tools:\n- id: tool_refund_v2\n  version: '2.0'\n", 3, "the version is '2.0'; a version is the day"),
        ("tools:\n- id: tool_refund_v2\n  version: '20261301.1'\n", 3, "a version is the day of its release"),
        ("tools:\n- id: tool_refund_v2\n  version: 20260401.1\n", 3, 'in quotation marks: "20260401.1"'),
        (
            "tools:\n- id: tool_stock_v2\n- id: tool_places_v1\n- id: tool_stock_v2\n",
            4,
            "given twice, first in line 2",
        ),
        ("tools:\n- id: tool_stock_v2\n  parameters: {type: objekt}\n", 3, "did you mean 'object'?"),
        ("tools:\n- id: tool_stock_v2\n  returns:\n    type: object\n", 3, "lists its properties"),
        ("tools:\n- id: tool_stock_v2\n  returns: [1]\n", 3, "returns is [1]; wanted: dict"),
        ("tools:\n- id: tool_refund_v2\n  effect: compensable\n", 3, "names what undoes it"),
        ("tools:\n- id: tool_settle_v1\n  effect: irreversible\n", 3, "names who must confirm it"),
        ("tools:\n- id: tool_refund_v2\n  confirm: ''\n", 3, "confirm is empty"),
        ("tools:\n- id: tool_refund_v2\n  effect: read\n", 3, "called with GET, not POST"),
        (
            "tools:\n- id: tool_stock_v2\n  effect: compensable\n  undo: {tool: tool_release_v1, arguments: {}}\n",
            3,
            "not called with GET",
        ),
        ("tools:\n- id: tool_refund_v2\n  effekt: read\n", 3, "did you mean 'effect'?"),
        ("tools:\n- id: tool_refund_v2\n  effect: reed\n", 3, "did you mean 'read'?"),
        ("tools:\n- id: tool_refunds_v3\n", 2, "did you mean 'tool_refunds_v2'? (a new one needs code)"),
        ("tools:\n- id: tool_stock_v2\n  timeout: 0\n", 3, "seconds, more than 0 and at most 600"),
        ("tools:\n- id: tool_stock_v2\n  timeout: .nan\n", 3, "timeout is nan"),
        ("tools:\n- id: tool_stock_v2\n  timeout: true\n", 3, "timeout is True; wanted: int or float"),
        ("tools:\n- id: tool_stock_v2\n  price: -1\n", 3, "from 0 to 1000"),
        ("tools:\n- id: tool_stock_v2\n  cost_level: cheap\n", 3, "known: high, low, medium"),
        ("tools:\n- id: tool_stock_v2\n  roles: []\n", 3, "at least one"),
        (
            "tools:\n- id: tool_stock_v2\n  retries:\n    count: 11\n    classes: []\n",
            4,
            "a whole number from 0 to 10",
        ),
        (
            "tools:\n- id: tool_stock_v2\n  retries:\n    count: 1\n    classes: [TIMEOUTS]\n",
            5,
            "did you mean 'TIMEOUT'?",
        ),
        ("tools:\n- id: tool_stock_v2\n  retries:\n    number: 1\n", 4, "unknown key of retries 'number'"),
        ("tools:\n- id: tool_stock_v2\n  fallback: tool_stock_v2\n", 3, "unknown tool 'tool_stock_v2'"),
        ("tools:\n- id: tool_stock_v2\n  fallback: tool_refund_v2\n", 3, "has another purpose or effect"),
        ("tools:\n- id: tool_stock_v2\n  record: [colour]\n", 3, "none of the fields of returns"),
        (
            "tools:\n- id: tool_carrier_v1\n  record: [status, eta]\n",
            3,
            "tool_shipment_v2 is the system of record for eta",
        ),
        ("tools:\n- id: tool_stock_v2\n  endpoint: /other\n", 3, "bound to code and cannot be changed"),
        ("tools:\n- id: tool_stock_v2\n  endpoint: other\n", 3, "an endpoint is like /orders/{order_id}"),
        (
            "tools:\n- id: tool_stock_v2\n  endpoint: '/other/{place}'\n",
            3,
            "{place} of the endpoint is none of the parameters",
        ),
        (
            "tools:\n- id: tool_settle_v1\n  undo: {tool: tool_unsettle_v1}\n",
            3,
            "the keys tool and arguments",
        ),
        (
            "tools:\n- id: tool_settle_v1\n  undo: {tool: tool_unsettle_v2, arguments: {}}\n",
            3,
            "did you mean 'tool_unsettle_v1'?",
        ),
        (
            "tools:\n- id: tool_settle_v1\n  undo: {tool: tool_unsettle_v1, arguments: {}}\n",
            3,
            "tool_unsettle_v1 needs entry_id",
        ),
        (
            "tools:\n- id: tool_settle_v1\n  undo:\n    tool: tool_unsettle_v1\n    arguments: {entry_id: answer.id}\n",
            5,
            "write arguments.NAME",
        ),
        (
            "tools:\n- id: tool_settle_v1\n  undo: {tool: tool_refund_v2, arguments: {}}\n",
            3,
            "what undoes a tool can be undone itself",
        ),
        (
            "tools:\n- id: tool_refund_v2\n  effect: compensable\n"
            "  undo: {tool: tool_refund_recall_v1, arguments: {refund_id: answer.refund_id}}\n",
            4,
            "unknown tool 'tool_refund_recall_v1'",
        ),
        ("tools:\n- id: tool_stock_v2\n  timeout: 3\n  timeout: 4\n", 4, "given twice, first in line 3"),
        ("tools:\n- timeout: 3\n", 2, "an entry is a mapping with an id"),
        ("tools: 3\n", 1, "under it a list of entries"),
        ("tool:\n- id: tool_stock_v2\n", 1, "has the key tools"),
        ("tools: []\nother: 1\n", 2, "unknown key of a registry 'other'"),
        ("", 1, "has the key tools"),
        ("tools: [\n", 2, "not readable as YAML"),
        ("tools:\n- id: tool_stock_v2\n  timeout: !!python/object:os.system x\n", 3, "not readable as YAML"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(load, text: str, line: int, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(text)
    told = str(refused.value)
    assert f"changes.yaml, line {line}: " in told, told
    assert message in told


def test_a_file_that_is_too_large_too_deep_or_grows_without_end_is_refused(load, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="larger than 1,000,000 bytes"):
        load("#" + "x" * 1_000_000)
    with pytest.raises(UsageError, match=r"nested too deep|not readable as YAML"):
        load("tools: " + "[" * 100_000)
    grows = "shared:\n- &a [1, 1]\n" + "".join(
        f"- &{new} [*{old}, *{old}, *{old}, *{old}]\n"
        for old, new in zip("abcdefghijkl", "bcdefghijklm", strict=True)
    )
    with pytest.raises(UsageError, match="more than 50,000 parts"):
        load(grows + "tools: []\n")
    with pytest.raises(UsageError, match=r"nested too deep|parts|not readable"):
        load("tools: &a [*a]\n")
    with pytest.raises(UsageError, match="there is no such file"):
        Registry.load(tmp_path / "absent.yaml")
    with pytest.raises(UsageError, match="not readable"):
        Registry.load(tmp_path)


def test_the_registry_that_ships_is_a_file_of_no_changes(load) -> None:
    assert load(SHIPPED) == REGISTRY


def test_a_change_is_there_and_everything_else_stays(load) -> None:
    changed = load("tools:\n- id: tool_stock_v2\n  timeout: 3\n  roles: [service]\n  fallback: null\n")
    assert (changed.tools["tool_stock_v2"].timeout, changed.tools["tool_stock_v2"].roles) == (
        3.0,
        ("service",),
    )
    assert changed.hash != REGISTRY.hash
    assert listing.differences(REGISTRY, changed) == [
        "tool_stock_v2: timeout 6.0 -> 3.0",
        "tool_stock_v2: roles warehouse, planner -> service",
        "tool_stock_v2: fallback tool_stock_count_v1 -> none",
    ]
    assert Registry.load().tools["tool_stock_v2"].timeout == 6.0


def test_refunds_can_be_made_compensable_and_are_then_really_undone(load) -> None:
    changed = load(RECALLED)
    refund = changed.tools["tool_refund_v2"]
    assert (refund.effect, refund.confirm, len(changed.tools)) == ("compensable", "", 31)
    there = world()
    before = there.rows()
    arguments = {"order_id": "ORD-1001", "amount": 100, "reason": "broken"}
    there.call(refund, arguments, at=0, role="service", call=1)
    assert there.rows() != before
    assert there.undo(there.ledger[0], at=1, call=1).status == 200
    assert there.rows() == before


def test_transfers_can_be_made_compensable_and_are_then_really_undone(load) -> None:
    changed = load(
        "tools:\n- id: tool_transfer_v3\n  effect: compensable\n"
        "  undo: {tool: tool_transfer_return_v1, arguments: {movement_id: answer.movement_id}}\n"
        "- {id: tool_transfer_return_v1, offered: true}\n"
    )
    there = world()
    id = done(there, "tool_reserve_v1", material_id="MAT-0001", place="PL-01", quantity=100)["reservation_id"]
    before = there.rows()
    arguments = {"reservation_id": id, "to_place": "PL-02"}
    there.call(changed.tools["tool_transfer_v3"], arguments, at=0, role="warehouse", call=1)
    assert there.undo(there.ledger[1], at=1, call=1).status == 200
    assert there.rows() == before


def test_a_tool_that_is_not_offered_is_none() -> None:
    with pytest.raises(NoSuchTool) as refused:
        REGISTRY.find("tool_refund_recall_v1")
    assert refused.value.code == "TOOL_NOT_FOUND"


@pytest.mark.parametrize(
    ("id", "code"),
    [
        ("tool_refund_v1", "VERSION_MISMATCH"),
        ("tool_refund_v3", "VERSION_MISMATCH"),
        ("tool_refund", "TOOL_NOT_FOUND"),
        ("tool_refund_v2 ", "TOOL_NOT_FOUND"),
        ("Tool_refund_v2", "TOOL_NOT_FOUND"),
        ("tool_refundd_v2", "TOOL_NOT_FOUND"),
        ("tool_refund_v02", "TOOL_NOT_FOUND"),
        ("", "TOOL_NOT_FOUND"),
        ("x" * 10_000, "TOOL_NOT_FOUND"),
    ],
)
def test_nothing_is_matched_by_likeness(id: str, code: str) -> None:
    with pytest.raises(NoSuchTool) as refused:
        REGISTRY.find(id)
    assert refused.value.code == code
    assert len(str(refused.value)) < 200


def test_a_registry_cannot_be_written() -> None:
    with pytest.raises(TypeError):
        REGISTRY.tools["tool_other_v1"] = REGISTRY.tools["tool_stock_v2"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        REGISTRY.tools["tool_stock_v2"].timeout = 1.0  # type: ignore[misc]


def test_every_tool_is_one_operation_of_the_openapi_document() -> None:
    told = openapi.document(REGISTRY)
    operations = {
        each["operationId"]: (path, method, each)
        for path, methods in told["paths"].items()
        for method, each in methods.items()
    }
    assert operations.keys() == REGISTRY.tools.keys()
    for id, (path, method, operation) in operations.items():
        tool = REGISTRY.tools[id]
        assert (path, method.upper()) == (tool.endpoint, tool.method)
        given = {each["name"]: each for each in operation["parameters"] if each["in"] != "header"}
        assert {name for name, each in given.items() if each["in"] == "path"} == set(
            re.findall(r"{(\w+)}", path)
        )
        body = (
            operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        )
        assert given.keys() | body.get("properties", {}).keys() == tool.parameters["properties"].keys()
        assert not given.keys() & body.get("properties", {}).keys()
        required = {name for name, each in given.items() if each["required"]} | set(body.get("required", ()))
        assert required == set(tool.parameters["required"])
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert answer["required"] == ["code", *tool.returns["required"]]
    assert operations["tool_refund_v2"][2]["x-confirm"] == "the lead of payments"
    assert operations["tool_settle_v1"][2]["x-undo"] == {
        "tool": "tool_unsettle_v1",
        "arguments": {"entry_id": "answer.entry_id"},
    }


def test_tools_are_listed_by_class_department_and_role() -> None:
    def ids(**wanted: str) -> list[str]:
        everything: dict[str, str | None] = {"effect": None, "department": None, "role": None}
        return [tool.id for tool in listing.chosen(REGISTRY, **{**everything, **wanted})]

    assert ids(effect="irreversible", department="payments") == ["tool_refund_v2"]
    assert ids(role="planner", effect="compensable") == ["tool_dispatch_v2", "tool_undispatch_v1"]
    assert len(ids()) == 30
    for wanted, message in (
        ({"effect": "reads"}, "read"),
        ({"department": "sales"}, "known"),
        ({"role": "boss"}, "known"),
    ):
        with pytest.raises(UsageError, match=message):
            ids(**wanted)
