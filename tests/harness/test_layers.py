"""Every setting arrives: over every profile, in every arm, and nothing else changes with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.config import ArmConfig, Config
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve

pytestmark = pytest.mark.slow

PROFILES = ([], ["paper"], ["production"], ["upstream-code"])

OTHER: dict[str, Any] = {
    "prompts": {"name": "mine.yaml", "text": "instruction: Do it."},
    "agent": "act",
    "reflector": "last_attempt",
    "evaluator": "heuristic",
    "evaluator.any": ["environment", "heuristic"],
    "audit": "count",
    "memory_from": "results/other",
    "model": "openai/other",
    "base_url": "http://127.0.0.1:9/v1",
    "api": "completions",
    "similarity": "wordllama",
    "kind": "retrieval",
    "place": "system",
    "scope": "arm",
    "evict": "age",
    "parse": "strict",
    "actions": "tools",
    "share_first_trial": False,
    "check_model": False,
    "reasoning_effort": "low",
    "send_reasoning": "all",
    "top_p": 0.77,
    "min_p": 0.77,
    "extra_body": {"field": 77},
    "memory.options": {"field": 77},
    "headers": {"X-Field": "77"},
    "query": {"field": "77"},
    "temperature": 1.25,
    # Of the same name: profiles say other things for another environment.
    "environment": {"name": "alfworld", "split": "elsewhere"},
    "layout.examples": "message",
    "labels": False,
    "controls": {"schema": True},
    "instruction": "last",
    "prefill": True,
}
"""Values that no profile has; every number is 77."""

EITHER: dict[str, tuple[Any, Any]] = {
    "form": ("text", "turns"),
    "structure": ("published", "own"),
    "same_action": (True, False),
    "ask_again": (True, False),
}
"""Both values of settings that profiles set otherwise; the one that a profile does not have is tried."""


def paths(model: type[BaseModel], before: str = "") -> Iterator[str]:
    """The dotted name of every setting, but for those of arms."""
    for name, field in model.model_fields.items():
        parts = [part for part in (field.annotation, *get_args(field.annotation)) if isinstance(part, type)]
        inner = next((part for part in parts if issubclass(part, BaseModel)), None)
        if name in ("arms", "providers"):
            continue  # mappings whose keys a person chooses
        if inner is None:
            yield before + name
        else:
            yield from paths(inner, f"{before}{name}.")


def other(path: str, now: Any = None) -> Any:
    before, _, name = path.rpartition(".")
    if before and name == "seed":
        return False  # of a role: whether its requests carry one
    if name in EITHER:
        return next(value for value in EITHER[name] if value != now)
    return OTHER.get(path, OTHER.get(name, 77))


def read(config: BaseModel | None, path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value


def pair(path: str, value: Any) -> list[str]:
    """As a person writes it; prices stand only together."""
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()
    whole = path.startswith("endpoint.prices.") and not path.endswith(("input", "output"))
    return [*(["endpoint.prices={input: 1, output: 2}"] if whole else []), f"{path}={text}"]


KEYS = [path for path in paths(Config) if path not in ("endpoint.prices.input", "endpoint.prices.output")]


@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize("path", KEYS)
def test_every_key_over_every_profile_arrives_and_changes_no_other(profile: list[str], path: str) -> None:
    before = {key: read(resolve(profile, {}), key) for key in KEYS if not key.startswith("endpoint.prices")}
    value = other(path, before.get(path))
    config = resolve([*profile, *pair(path, value)], {})
    assert read(config, path) == value
    after = {key: read(config, key) for key in before}
    assert {key for key in before if after[key] != before[key]} <= {path}


OF_ARMS = list(paths(ArmConfig))


@pytest.mark.parametrize("arm", ["react", "reflexion"])
@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize("path", OF_ARMS)
def test_every_key_of_every_arm_arrives_and_changes_no_other(profile: list[str], arm: str, path: str) -> None:
    before = resolve(profile, {})
    config = resolve([*profile, *pair(f"arms.{arm}.{path}", other(path))], {})
    assert list(config.arms) == list(before.arms)
    assert read(config.arms[arm], path) == other(path)
    own, then = config.arms[arm], before.arms[arm]
    for key in OF_ARMS:
        if key != path and not key.startswith("memory."):
            assert read(own, key) == read(then, key), key
    if path.startswith("memory."):
        # What an arm does not say of its memory, it takes from the run.
        size = (then.memory or before.memory).size
        assert path == "memory.size" or (own.memory is not None and own.memory.size == size)
    else:
        assert own.memory == then.memory
    assert {name: each for name, each in config.arms.items() if name != arm} == {
        name: each for name, each in before.arms.items() if name != arm
    }


ROWS = {
    "agent": ("agent", "act"),
    "model.temperature": ("temperature", 1.25),
    "model.max_tokens": ("max_tokens", 77),
    "actor.temperature": ("temperature", 1.25),
    "actor.max_tokens": ("max_tokens", 77),
    "evaluator": ("evaluator", "model"),
    "step_evaluator": ("step_evaluator", 7),
    "evaluation.temperature": ("evaluator_temperature", 1.25),
    "evaluation.max_tokens": ("evaluator_max_tokens", 77),
    "reflector": ("reflector", "last_attempt_and_reflexion"),
    "reflection.temperature": ("reflector_temperature", 1.25),
    "reflection.max_tokens": ("reflector_max_tokens", 77),
    "memory.size": ("memory_size", 1),
    "memory": ("memory", "retrieval"),
    "history": ("history", 77),
    "limits.max_steps": ("max_steps", 77),
    "limits.max_calls": ("max_calls", 77),
    "limits.cycles": ("cycles", 77),
    "limits.parse": ("parse", "strict"),
    "trials": ("trials", 77),
}


@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_what_is_said_for_the_run_stands_on_the_row_of_every_arm_whom_it_concerns(profile: list[str]) -> None:
    for key, (setting, value) in ROWS.items():
        with closing(
            make_plan(resolve([*profile, "evaluator=model", *pair(key, value)], {"tasks": 1}))
        ) as plan:
            rows = {arm.name: arm.settings[setting] for arm in plan.arms}
        reflecting = key.startswith(("reflect", "memory", "history"))
        assert rows["reflexion"] == value, (profile, key)
        assert reflecting or rows["react"] == value, (profile, key)


def test_what_an_arm_says_holds_against_what_is_said_beside_it_for_the_run() -> None:
    pairs = ["arms.reflexion.memory.size=1", "memory.size=5", "arms.react.agent=cot", "agent=act"]
    for sources, flags in ((pairs, {}), (pairs[::-1], {}), (pairs[:1] + pairs[2:], {"memory": {"size": 5}})):
        config = resolve(sources, flags)
        assert config.arms["reflexion"].memory is not None
        assert (config.arms["reflexion"].memory.size, config.memory.size) == (1, 5)
        assert (config.arms["reflexion"].agent, config.arms["react"].agent) == ("act", "cot")


def test_what_comes_later_for_the_run_holds_against_what_a_file_said_of_an_arm(tmp_path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "arms:\n  react:\n  own: {agent: cot, reflector: reflexion, evaluator: heuristic, step_evaluator: 2,"
        " actor: {temperature: 0.1, max_tokens: 11}, memory: {kind: strategy, size: 3, half_life: 2}}\n"
    )
    own = resolve([str(file), "agent=act", "model.temperature=0.9", "step_evaluator=0"], {}).arms["own"]
    assert (own.agent, own.actor.temperature, own.actor.max_tokens) == ("act", None, 11)
    assert (own.step_evaluator, own.evaluator) == (None, "heuristic")
    assert own.memory is not None
    assert (own.memory.kind, own.memory.size, own.memory.half_life) == ("strategy", 3, 2)
    other_kind = resolve([str(file), "memory=sliding"], {}).arms["own"].memory
    assert other_kind is not None
    assert (other_kind.kind, other_kind.size, other_kind.half_life) == ("sliding", 3, None)


def test_naming_one_setting_of_a_role_keeps_the_defaults_of_its_others() -> None:
    config = resolve(["arms.reflexion.evaluation.model=openai/judge"], {})
    judge, reflector = config.arms["reflexion"].evaluation, config.arms["reflexion"].reflection
    assert (judge.model, judge.temperature, reflector.max_tokens) == ("openai/judge", 0.0, 512)
    assert resolve(["reflection.model=x"], {}).arms["react"].reflection.max_tokens == 512


def test_a_list_of_arms_chooses_among_those_that_are_defined() -> None:
    arm = resolve(["production"], {"arms": "reflexion"}).arms
    assert list(arm) == ["reflexion"]
    assert arm["reflexion"].reflector == "structured"
    assert list(resolve(["samples=4"], {}).arms) == ["react"]
    assert list(resolve(["arms={own: {agent: act}}"], {"samples": 4}).arms) == ["own"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("arms.reflexoin.memory.size=1", "unknown arm 'reflexoin'; did you mean 'reflexion'?"),
        ("arms.own.memory.size=1", "a new arm is written as a whole: -c 'arms.own={reflector: …}'"),
        ("arms.own=", "unknown arm 'own'"),
        ("arms.reflexoin={memory: {size: 1}}", "did you mean 'reflexion'?"),
        ("arms={reflexoin: {}, react: }", "did you mean 'reflexion'?"),
        ("temperature=0", "did you mean 'model.temperature'?"),
        ("arms.react.max_tokens=9", "did you mean 'arms.react.actor.max_tokens'?"),
        ("trials=true", "trials: true and false are no value for this setting"),
        ("model.temperature=false", "model.temperature: true and false are no value"),
        ("trials", "-c trials: a value is missing; write -c trials=VALUE"),
        ("arms.react.agent", "-c arms.react.agent: a value is missing"),
        ("agent=5", "agent: a name or {name: {option: value}} is wanted (got 5)"),
    ],
)
def test_a_slip_is_refused_with_what_was_meant(source: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        resolve([source], {})
    assert said in str(error.value)
    assert str(error.value).count("got 5") <= 1


def test_a_new_arm_is_written_as_a_whole_and_keeps_the_others() -> None:
    config = resolve(["arms.short={reflector: reflexion, memory: {size: 1}}", "arms.short.memory.size=2"], {})
    assert list(config.arms) == ["react", "reflexion", "short"]
    assert config.arms["short"].memory is not None
    assert config.arms["short"].memory.size == 2
    assert list(resolve(["arms.react2={}"], {}).arms) == ["react", "reflexion", "react2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("trials: 1\nseed: 2\ntrials: 3\n", "the key 'trials' is given twice, in lines 1 and 3"),
        (
            "memory:\n  size: 1\n  kind: sliding\n  size: 2\n",
            "the key 'size' is given twice, in lines 2 and 4",
        ),
        ("memory: {size: 1, size: 2}\n", "the key 'size' is given twice, in line 1"),
    ],
)
def test_a_key_that_a_file_gives_twice_is_refused_with_both_lines(tmp_path, text: str, said: str) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        resolve([str(file)], {})
    assert str(error.value).startswith(f"{file}: {said}")


def test_what_is_merged_into_a_mapping_is_no_second_key(tmp_path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "arms:\n  a: &a {reflector: reflexion}\n  b: &b {<<: *a, reflector: none}\n  c: {<<: *b}\n"
    )
    assert resolve([str(file)], {}).arms["c"].reflector == "none"
