"""Weather: which faults a run has, and that each call meets the same ones whoever makes it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from small_business import REGISTRY, opened

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.tools.calls.clock import Clock
from reflex_bench.envs.tools.calls.draws import between, canonical, draw
from reflex_bench.envs.tools.calls.faults import KINDS, RANDOM, SYSTEMATIC, WEATHERS, Forecast, Weather
from reflex_bench.envs.tools.calls.shapes import leaves, with_wrong_type

LOAN = {"loan_id": "LN-233"}
TOOL = REGISTRY.tools["tool_card_v1"]


def forecast(spec: str, seed: int = 0) -> Forecast:
    return Forecast(Weather.read(spec), REGISTRY, seed)


def test_a_draw_is_the_beginning_of_the_sha256_of_its_key() -> None:
    # printf 'a\0371' | sha256sum | cut -c1-13
    assert draw("a", 1) == int("839e11a421d37", 16) / 16**13
    assert draw("a", 1) != draw("a1")
    assert {between(2, 4, place) for place in range(200)} == {2, 3, 4}


def test_arguments_in_another_order_are_the_same() -> None:
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1}) == '{"a":[2],"b":1}'


def test_light_strikes_a_twentieth_of_the_calls_and_storm_a_quarter() -> None:
    assert sum(WEATHERS["light"].values()) == pytest.approx(0.05)
    assert sum(rate for kind, rate in WEATHERS["storm"].items() if kind in RANDOM) == pytest.approx(0.25)
    assert set(WEATHERS["light"]) == set(RANDOM)
    assert set(WEATHERS["storm"]) == set(KINDS) == {*RANDOM, *SYSTEMATIC}
    weather = forecast("light")
    struck = sum(bool(weather.fault(f"loan-{place}", TOOL, LOAN, 1)) for place in range(4000))
    # 200 of 4,000, with a standard deviation below 14; five of them.
    assert 130 <= struck <= 270


def test_a_fault_follows_from_task_tool_arguments_and_number_alone() -> None:
    first, second = forecast("storm"), forecast("storm")
    keys = [(f"loan-{place}", {"loan_id": f"LN-{place}"}, number) for place in range(60) for number in (1, 2)]
    there = [first.fault(task, TOOL, arguments, number) for task, arguments, number in keys]
    back = [second.fault(task, TOOL, arguments, number) for task, arguments, number in reversed(keys)]
    assert there == back[::-1]
    assert len(set(there)) > 4
    other = forecast("storm", seed=1)
    assert there != [other.fault(task, TOOL, arguments, number) for task, arguments, number in keys]


def test_a_systematic_fault_strikes_the_same_tools_in_every_task() -> None:
    weather = forecast("wrong_type=0.5")
    assert len(weather.affected["wrong_type"]) == 2
    for tool in REGISTRY.tools.values():
        met = {weather.fault(f"loan-{place}", tool, LOAN, 1) for place in range(50)}
        assert met == ({"wrong_type"} if tool.id in weather.affected["wrong_type"] else {""})


def test_a_write_is_never_stale_long_or_not_found() -> None:
    write = REGISTRY.tools["tool_remind_v1"]
    weather = forecast("storm")
    met = {weather.fault(f"loan-{place}", write, LOAN, 1) for place in range(3000)}
    assert met & {"stale", "long", "injection", "not_found_once", "conflict"} == set()
    assert {"timeout_done", "timeout_lost", "server_error", "rate_limit"} <= met


def test_every_fourth_call_of_a_kind_comes_through() -> None:
    for kind in ("server_error", "timeout_lost", "rate_limit", "ghost", "html"):
        weather = forecast(f"{kind}=1")
        assert [weather.fault("loan-0", TOOL, LOAN, number) for number in (4, 9)] == ["", ""], kind


def test_the_account_lacks_a_right_only_where_another_tool_serves() -> None:
    assert forecast("unauthorised=1").affected["unauthorised"] == {"tool_loan_v1"}


def test_a_ghost_is_200_with_a_failure_inside_and_nothing_was_done() -> None:
    desk = opened({}, "ghost=1")
    seen = [desk.call("tool_remind_v1", loan_id="LN-233", fee=fee) for fee in range(20)]
    ghosts = [each for each in seen if each.body["code"] == 500]
    assert 3 <= len(ghosts) <= 17
    assert {each.status for each in ghosts} == {200}
    assert len(desk.library.sent) == 20 - len(ghosts)


def test_a_time_out_takes_its_whole_time_and_may_have_been_done() -> None:
    for kind, sent in (("timeout_done", ["LN-233"]), ("timeout_lost", [])):
        desk = opened({}, f"{kind}=1")
        assert desk.call("tool_remind_v1", **LOAN, fee=2).status is None
        assert desk.library.sent == sent
        assert desk.desk.clock.milliseconds == 8000


def test_a_stale_answer_is_of_the_beginning_and_says_its_age() -> None:
    desk = opened({}, "stale=1")
    desk.library.due["LN-233"] = "2025-06-16"
    seen = desk.call("tool_card_v1", **LOAN).body
    assert (seen["due"], seen["cached"]) == ("2025-06-02", True)
    assert seen["age_seconds"] >= 1800


def test_a_drifted_parameter_is_refused_with_its_new_name_and_then_works() -> None:
    weather = forecast("drift=1")
    drift = weather.drift("loan-0009", REGISTRY.tools["tool_card_v1"])
    assert drift is not None
    assert weather.drift("loan-0001", REGISTRY.tools["tool_card_v1"]) is None
    desk = opened({}, "drift=1", task="loan-0009")
    refused = desk.call("tool_card_v1", **LOAN)
    assert refused.status in (410, 422)
    assert drift.new in refused.body["message"]
    if not drift.retired:
        assert desk.call("tool_card_v1", **{drift.new: "LN-233"}).status == 200


def test_wrong_types_are_those_of_the_field() -> None:
    body = {"code": "OK", "amount": 1299.0}
    assert with_wrong_type(body, "t") == {"code": "OK", "amount": "¥1,299.00"}
    assert with_wrong_type({"open": True}, "t") == {"open": "True"}
    assert with_wrong_type({"order": "ORD-1042"}, "t") == {"order": 1042}
    # date -u -d 2026-03-01 +%s
    assert with_wrong_type({"due": "2026-03-01"}, "t") == {"due": 1772323200}
    assert with_wrong_type({"status": "shipped"}, "t") == {"status": "shipped!"}
    assert json.dumps(body) == '{"code": "OK", "amount": 1299.0}'


def test_everything_in_a_body_is_found() -> None:
    assert dict(leaves({"a": [1, {"b": 2}]})) == {("a", 0): 1, ("a", 1, "b"): 2}


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        Clock().advance(-1)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("strom", "did you mean 'storm'"),
        ("gost=0.1", "did you mean 'ghost'"),
        ("ghost=1.5", "a rate from 0 to 1"),
        ("ghost=-1", "a rate from 0 to 1"),
        ("ghost=", "a rate from 0 to 1"),
        ("stale=0.6,long=0.6", "add up to 1.2"),
    ],
)
def test_weather_that_cannot_be_is_told_in_one_line(spec: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        Weather.read(spec)
    assert "\n" not in str(raised.value)


def test_rates_come_from_a_file_and_a_wrong_file_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("ghost: 0.3\nstale: 0.1\n", encoding="utf-8")
    bad.write_text("ghost: true\n", encoding="utf-8")
    assert Weather.read(str(good)).told() == "ghost=0.3,stale=0.1"
    with pytest.raises(UsageError, match=r"bad\.yaml: ghost is 'True'"):
        Weather.read(str(bad))
    assert Counter(Weather.read("none").rates) == Counter()
