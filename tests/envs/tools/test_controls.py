"""Each control alone, on against off, in a small library: what it changes, and what it counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from small_business import REGISTRY, Desked, opened

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.controls import options
from reflex_bench.envs.tools.controls.base import Call
from reflex_bench.envs.tools.controls.delivery import layer_of
from reflex_bench.envs.tools.controls.pipeline import Pipeline

LOAN = {"loan_id": "LN-233"}
BAD = ({"loan_id": 233}, {}, {"loan_id": "LN-233", "shelf": "B"}, {"loan_id": "233"})


def test_no_malformed_call_reaches_a_tool_where_the_schema_is_checked() -> None:
    with_it, without = opened({"schema": True}), opened()
    for arguments in BAD:
        refused = with_it.call("tool_loan_v1", **arguments)
        without.call("tool_loan_v1", **arguments)
        assert refused.refused_by == "schema"
    assert with_it.library.reached == 0
    assert without.library.reached == len(BAD)
    assert with_it.desk.counts["schema_spoke"] == len(BAD)


def test_a_refusal_names_the_field_and_the_kind_of_fault() -> None:
    desk = opened({"schema": True})
    codes = [
        desk.call("tool_remind_v1", **each).body for each in ({"loan_id": "LN-233"}, {**LOAN, "fee": "2"})
    ]
    assert [(body["code"], body["field"]) for body in codes] == [
        ("MISSING_REQUIRED_FIELD", "fee"),
        ("TYPE_MISMATCH", "fee"),
    ]


def test_a_refusal_was_right_where_a_copy_of_the_world_would_refuse_or_harm() -> None:
    desk = opened({"schema": True})
    desk.call("tool_loan_v1", loan_id=233)  # the library refuses a number, too
    desk.call("tool_loan_v1", loan_id="LN-233", shelf="B")  # the library takes it, whatever else is there
    assert (desk.desk.counts["schema_spoke"], desk.desk.counts["schema_right"]) == (2, 1)
    assert desk.library.sent == []


def test_a_contract_that_is_out_of_date_learns_the_new_name_of_a_field_from_the_tool() -> None:
    desk = opened({"schema": True}, "drift=1", task="loan-0009", seed=1)
    told = [desk.call("tool_card_v1", **LOAN), desk.call("tool_card_v1", loan_ref="LN-233")]
    assert [each.status for each in told] == [422, 200]
    assert desk.call("tool_card_v1", **LOAN).refused_by == "schema"


def test_adapters_mend_what_is_plainly_meant_and_count_it() -> None:
    with_it, without = opened({"adapters": True, "schema": True}), opened({"schema": True})
    for desk in (with_it, without):
        desk.call("tool_remind_v1", loan_id=" ln-233", fee="¥1,299.00")
    assert with_it.library.sent == ["LN-233"]
    assert without.library.sent == []
    assert with_it.desk.counts["adapter_currency"] == 1


def test_only_tools_of_the_role_are_called_behind_the_whitelist() -> None:
    with_it, without = opened({"whitelist": True}), opened()
    for desk in (with_it, without):
        desk.desk.role = "visitor"
        desk.call("tool_remind_v1", **LOAN, fee=2)
    assert (with_it.library.reached, without.library.reached) == (0, 1)


def test_a_write_that_breaks_a_business_rule_is_refused_with_its_code() -> None:
    with_it, without = opened({"rules": True}), opened()
    for desk in (with_it, without):
        desk.call("tool_remind_v1", **LOAN, fee=2)
        again = desk.call("tool_remind_v1", **LOAN, fee=2)
        assert again.error_type == ("RULE_BROKEN" if desk is with_it else "")
    assert (with_it.library.sent, without.library.sent) == (["LN-233"], ["LN-233", "LN-233"])
    assert with_it.desk.counts["rules_right"] == 1


def test_an_expensive_tool_is_called_once_and_after_asking() -> None:
    desk = opened({"cost_tiers": {"high": 1, "consent": True}})
    dear = replace(REGISTRY.tools["tool_card_v1"], cost_level="high")
    codes = [desk.pipeline.run(Call(n, dear.id, dear, dict(LOAN), LOAN)).body["code"] for n in (1, 2, 3)]
    assert codes == ["CONSENT_NEEDED", "OK", "COST_TIER"]
    assert desk.library.reached == 1
    assert desk.call("tool_card_v1", **LOAN).body["code"] == "OK"


def test_a_lenient_tool_takes_a_number_for_an_id() -> None:
    statuses = [
        desk.call("tool_loan_v1", loan_id=233).status for desk in (opened({"lenient": True}), opened())
    ]
    assert statuses == [200, 400]


def ghosts(desk: Desked, calls: int = 40) -> list[str]:
    """What the agent is told of calls under ghosts: the type of each, "" for a success."""
    return [
        desk.call("tool_card_v1", loan_id=loan).error_type for loan in ["LN-233", "LN-240"] * (calls // 2)
    ]


def test_no_ghost_is_taken_for_a_success_where_four_layers_are_looked_at() -> None:
    with_it, without = opened({"ghost": True}, "ghost=1"), opened({}, "ghost=1")
    noticed = [kind for kind in ghosts(with_it) if kind]
    assert set(noticed) == {"L3_CODE_MISMATCH"}
    assert with_it.desk.counts["ghost_spoke"] == with_it.desk.counts["ghost_right"] == len(noticed)
    assert set(ghosts(without)) == {""}


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ('{"code": "OK", "due": "2025-06-02"}', ""),
        ('{"due": "2025-06-02"}', ""),
        ('{"code": 500, "due": "2025-06-02"}', "L3_CODE_MISMATCH"),
        ('{"code": true, "due": "2025-06-02"}', "L3_CODE_MISMATCH"),
        ('{"code": 200}', "L4_MISSING_FIELD"),
        ("<html>", "L2_NOT_JSON"),
        ("[1]", "L2_NOT_JSON"),
        ("[" * 100_000, "L2_NOT_JSON"),
    ],
)
def test_the_layers_of_an_answer_of_200(text: str, layer: str) -> None:
    assert layer_of(text, {"required": ["due"]})[0] == layer


def test_a_write_whose_answer_was_lost_is_done_once_with_a_key() -> None:
    with_it, without = opened({"idempotency": True}, "timeout_done=1"), opened({}, "timeout_done=1")
    for desk in (with_it, without):
        assert desk.call("tool_remind_v1", **LOAN, fee=2).error_type == "TIMEOUT"
        desk.call("tool_remind_v1", **LOAN, fee=2)
    assert with_it.library.sent == ["LN-233"]
    assert without.library.sent == ["LN-233", "LN-233"]


def test_an_irreversible_call_is_repeated_only_with_a_key() -> None:
    bare = opened({"retry": True}, "timeout_lost=1")
    keyed = opened({"retry": True, "idempotency": True}, "timeout_lost=1")
    assert bare.call("tool_remind_v1", **LOAN, fee=2).tries == 1
    outcome = keyed.call("tool_remind_v1", **LOAN, fee=2)
    # Three are lost; the fourth of the same kind goes through.
    assert (outcome.tries, outcome.failed, keyed.library.sent) == (4, False, ["LN-233"])


def test_what_is_not_found_is_never_asked_for_again_by_itself() -> None:
    desk = opened({"retry": True}, "not_found_once=1")
    outcome = desk.call("tool_card_v1", **LOAN)
    assert (outcome.error_type, outcome.tries) == ("RESOURCE_NOT_FOUND", 1)
    assert opened({"retry": True}, "rate_limit=1").call("tool_card_v1", **LOAN).tries == 4


def test_a_pause_passes_on_the_virtual_clock() -> None:
    desk = opened({"retry": {"most": 3, "pause": 2}}, "server_error=1")
    desk.call("tool_card_v1", **LOAN)
    # Pauses of 2, 4 and 8 seconds, and four calls of a low cost level, of 80 to 400 ms.
    assert 14_000 + 4 * 80 <= desk.desk.clock.milliseconds <= 14_000 + 4 * 400


def test_a_tool_that_times_out_is_suspended_and_tried_once_when_the_pause_is_over() -> None:
    numbers = {"timeouts": 2, "within": "1h", "pause": "10m"}
    desk = opened({"breaker": numbers}, "timeout_lost=1")
    first = [desk.call("tool_remind_v1", loan_id="LN-233", fee=fee).error_type for fee in (1, 2, 3, 4)]
    assert first == ["TIMEOUT", "TIMEOUT", "SUSPENDED", "SUSPENDED"]
    desk.desk.clock.advance(600_000)
    again = [desk.call("tool_remind_v1", loan_id="LN-233", fee=fee).error_type for fee in (5, 6)]
    assert again == ["TIMEOUT", "SUSPENDED"]


def test_a_dead_tool_is_called_at_most_six_times_an_hour() -> None:
    desk = opened({"breaker": True}, "timeout_lost=1")
    sent = 0
    for fee in range(1, 200):
        if desk.desk.clock.seconds < 3600:
            sent += desk.call("tool_remind_v1", loan_id="LN-233", fee=fee).error_type == "TIMEOUT"
            desk.desk.clock.advance(20_000)
    # Five open the breaker; after each pause of ten minutes one tries, and opens it again.
    assert sent <= 5 + 6
    assert sent - 5 == 3600 // 600 - 1


def test_the_last_known_answer_stands_in_for_a_suspended_tool_with_its_age() -> None:
    desk = opened({"breaker": {"timeouts": 1}, "stale": True})
    desk.call("tool_loan_v1", **LOAN)
    breaker = desk.pipeline.controls[0]
    breaker.until["tool_loan_v1"] = desk.desk.clock.seconds + 600  # type: ignore[attr-defined]
    desk.desk.clock.advance(60_000)
    known = desk.call("tool_loan_v1", **LOAN)
    assert known.body["last_known"] is True
    assert known.body["age_seconds"] in (59, 60)
    assert desk.library.reached == 1


def test_three_ghosts_in_a_row_lead_to_the_fallback() -> None:
    desk = opened({"breaker": True, "ghost": True})
    breaker = next(each for each in desk.pipeline.controls if each.name == "breaker")
    breaker._ghosts["tool_loan_v1"] = 3  # type: ignore[attr-defined]
    desk.call("tool_loan_v1", **LOAN)
    assert desk.desk.counts["breaker_spoke"] == 1


def test_a_long_answer_is_cut_to_json_that_keeps_what_matters() -> None:
    with_it, without = opened({"cut": True}, "long=1"), opened({}, "long=1")
    long, short = without.call("tool_card_v1", **LOAN), with_it.call("tool_card_v1", **LOAN)
    assert 12_000 <= len(long.text) <= 20_480
    assert len(short.text) <= len(long.text) / 2
    kept = json.loads(short.text)
    assert (kept["code"], kept["due"], kept["truncated"]) == ("OK", "2025-06-02", True)
    log = json.loads(long.text)["log"]
    assert kept["log"] == [*log[:3], *log[-3:]]


def test_a_difference_between_two_tools_is_told_with_the_system_of_record() -> None:
    with_it, without = opened({"conflicts": True}, "conflict=1"), opened({}, "conflict=1")
    remarks = []
    for desk in (with_it, without):
        desk.call("tool_loan_v1", **LOAN)
        remarks.append(desk.call("tool_card_v1", **LOAN).remarks)
    assert remarks[0] == [
        "[due differs: '2025-06-02' by tool_loan_v1, '2025-06-03' by tool_card_v1; "
        "the system of record is tool_loan_v1]"
    ]
    assert remarks[1] == []


def test_an_answer_of_another_type_is_cleaned() -> None:
    with_it, without = opened({"clean": True}, "wrong_type=1"), opened({}, "wrong_type=1")
    seen = [desk.call("tool_remind_v1", **LOAN, fee=2).body["sent"] for desk in (with_it, without)]
    assert seen == [1, "¥1.00"]


def test_after_two_refusals_only_a_hand_over_is_left() -> None:
    desk = opened({"schema": True, "escape": True})
    for _ in range(2):
        assert desk.pipeline.refuse_end("respond") == ""
        desk.call("tool_loan_v1", loan_id=5)
    assert "hand_over" in desk.pipeline.refuse_end("respond")
    assert desk.pipeline.refuse_end("hand_over") == ""
    assert desk.call("tool_loan_v1", **LOAN).body["code"] == "HAND_OVER"
    assert "person" in desk.pipeline.reply("It is done.")
    assert opened().pipeline.reply("It is done.") == "It is done."


def test_a_budget_ends_calls_and_offers_what_is_known() -> None:
    desk = opened({"budget": {"actions": 1}})
    desk.call("tool_loan_v1", **LOAN)
    desk.desk.done = 1  # as the executor counts
    over = desk.call("tool_loan_v1", **LOAN)
    assert over.body["code"] == "BUDGET_EXHAUSTED"
    assert "2025-06-02" in over.body["message"]


def test_a_state_note_names_the_ids_in_work_and_forgets_them_in_time() -> None:
    desk = opened({"state_note": {"minutes": 15}})
    assert "ids: LN-233" in desk.call("tool_loan_v1", **LOAN).remarks[0]
    desk.desk.clock.advance(16 * 60_000)
    assert "LN-233 ·" not in desk.call("tool_loan_v1", loan_id="LN-240").remarks[0].split("ids:")[1]


def test_an_irreversible_call_is_held_and_a_read_is_not() -> None:
    desk = opened({"barrier": True})
    assert desk.call("tool_remind_v1", **LOAN, fee=2).body == {"code": "OK", "sent": 1}
    assert desk.library.sent == []
    assert [each.mode for each in desk.library.ledger] == ["held"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"gost": True}, "did you mean 'ghost'"),
        ({"retry": {"most": 0}}, "controls.retry.most is 0"),
        ({"retry": {"moist": 1}}, "did you mean 'most'"),
        ({"retry": 3}, "a mapping of its numbers"),
        ({"barrier": {"release": "nobody"}}, "controls.barrier.release"),
        ({"freeze": True}, "controls.freeze: not there yet"),
    ],
)
def test_a_control_that_cannot_be_is_told_in_one_line(given: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        options.read(given)
    assert "\n" not in str(raised.value)


def test_a_control_that_is_off_leaves_no_trace() -> None:
    assert options.read({"ghost": False, "retry": None}) == {}
    assert (
        options.told(options.read({"retry": {"pause": "1m"}, "ghost": True}))
        == "retry(most=3, pause=60), ghost"
    )


def test_every_control_with_a_place_in_the_pipeline_is_made() -> None:
    every = dict.fromkeys(options.CONTROLS, True)
    made: Pipeline = opened(every).pipeline
    assert [each.name for each in made.controls] == [
        name for name in options.CONTROLS if name != "compensate"
    ]
