"""The prompt hash changes with every text that is put before a model, wherever it stands, and with nothing else."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from reflex_bench.agents import base
from reflex_bench.agents.evaluation import judge
from reflex_bench.agents.react import react
from reflex_bench.agents.reflection import audit, structured
from reflex_bench.agents.reflection.reflectors import reflexion
from reflex_bench.core import parts
from reflex_bench.core.built_in import BUILT_IN
from reflex_bench.envs import prompts
from reflex_bench.envs.alfworld.engine import hints
from reflex_bench.envs.hotpotqa import profiles
from reflex_bench.envs.hotpotqa.parsing import tools
from reflex_bench.harness.planning import prompt_hash as module
from reflex_bench.harness.planning import situations
from reflex_bench.harness.planning.layouts import limits_of
from reflex_bench.harness.planning.opening import open_environment, playable
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.prompt_hash import is_comparable, prompt_hash
from reflex_bench.harness.planning.resolving import resolve

pytestmark = pytest.mark.slow

PACKAGE = Path(base.__file__).parents[1]

LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "chat": (),
    "completions": ("endpoint.api=completions",),
    "published": ("endpoint.api=completions", "layout.structure=published"),
    "one message": ("layout.examples=message",),
    "tools": ("limits.actions=tools",),
    "directive": ("memory.place=system",),
}
"""Under which settings a text is put before a model, if it is under any."""

BOTH = ("alfworld", "hotpotqa")


def hashed(environment: str, *settings: str) -> str:
    config = resolve(settings, {"environment": {"name": environment}})
    opened = open_environment(config.environment)
    limits = limits_of(config, opened)
    limits = replace(limits, layout=replace(limits.layout, memory=config.memory.place))
    return prompt_hash(opened, playable(opened), limits, config.endpoint.api == "completions")


def of_all(environments: tuple[str, ...] = BOTH) -> Iterator[tuple[tuple[str, str], str]]:
    """The hash in every environment under all settings, one after the other."""
    for name, settings in LAYOUTS.items():
        for environment in environments:
            if name != "tools" or environment != "alfworld":
                yield (environment, name), hashed(environment, *settings)


BEFORE = dict(of_all())


def changes(environments: tuple[str, ...] = BOTH) -> bool:
    """Whether a hash is another than it was, under some settings."""
    return any(made != BEFORE[key] for key, made in of_all(environments))


def test_the_hashes_are_those_of_this_version() -> None:
    # Another value means that runs which were begun before cannot be resumed: that is meant, and told in the changelog.
    assert BEFORE["alfworld", "chat"] == "v2:401c40b07583dc3f"
    assert BEFORE["hotpotqa", "chat"] == "v2:028a0118899da87a"


class Ours:
    """A part of this package with an option, which does what another one does."""

    class Options(BaseModel, extra="forbid"):
        number: int = 1

    def __init__(self, options: Options) -> None:
        assert options.number == 1


class Agent(Ours):
    def __call__(self, *given: Any, **named: Any) -> Any:
        return react(*given, **named)


class Reflector(Ours):
    def __call__(self, *given: Any, **named: Any) -> Any:
        return reflexion(*given, **named)


def test_a_part_of_ours_with_options_counts_as_it_is_with_their_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = ModuleType("reflex_bench.mine")
    mine.Agent, mine.Reflector = Agent, Reflector  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, mine.__name__, mine)
    monkeypatch.setitem(BUILT_IN["agents"], "mine", "mine:Agent")  # type: ignore[arg-type]
    monkeypatch.setitem(BUILT_IN["reflectors"], "mine", "mine:Reflector")  # type: ignore[arg-type]
    assert hashed("alfworld") == BEFORE["alfworld", "chat"]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, Mapping | list):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, part in parts:
            yield from leaves(part, (*path, key))


def raw(environment: str) -> dict[str, Any]:
    text = files(prompts).joinpath(f"{environment}.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read


# `verbs` is what the audit knows of an environment's actions, and no text of a prompt.
TEXTS = [(name, path) for name in BOTH for path in leaves(raw(name)) if path[0] != "verbs"]


@pytest.mark.parametrize(("environment", "path"), TEXTS, ids=lambda value: str(value))
def test_every_text_of_a_prompt_file_counts(
    environment: str, path: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = raw(environment)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = f"{place[path[-1]].rstrip()} indeed"
    texts = prompts.parse(yaml.safe_dump(changed, sort_keys=False))
    monkeypatch.setattr(prompts, "load", lambda name: texts)
    assert changes((environment,))


def test_every_line_of_every_example_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, seen = prompts.load("alfworld"), set()
    for kind, examples in texts.examples.items():
        for place, example in enumerate(examples):
            (first, said), *others = example.turns
            other = replace(example, turns=((f"{first} Indeed.", said), *others))
            shown = (*examples[:place], other, *examples[place + 1 :])
            mixed = replace(texts, examples={**texts.examples, kind: shown})
            monkeypatch.setattr(prompts, "load", lambda name, mixed=mixed: mixed)
            seen.add(hashed("alfworld"))
    assert len(seen) == 12
    assert BEFORE["alfworld", "chat"] not in seen


NO_PROMPT = {
    "audit": {
        "_TENS",
        "_ORDINALS",
        "_CARDINALS",
        "_COUNTS",
        "_BEFORE",
        "_SO_MANY",
    },  # what the audit looks for
    "novelty": {"_LOOKUPS", "_ANY", "_RETURNS", "_NOTHING_MORE"},
    "conversation": {"ASKED_FOR_ACTION", "ASKED_ONCE_MORE", "NO_TOOL_CALL"},  # names of repairs
    "cutting": {"MORE"},  # is never sent
    "react": {"GIVE_UP"},  # what an agent may write; the instructions do not name it
    "rules": {"BROKEN"},  # the name of a result
    "revising": {"SCHEMA"},  # the name of a rule
}
"""Constants of the agents that no model sees."""
SHARED = PACKAGE / "core" / "shared_texts.py"


def constants() -> Iterator[tuple[str, str]]:
    """The texts and tuples of texts that the agents' modules define, or share with the stand-in."""
    for file in (*sorted((PACKAGE / "agents").rglob("*.py")), SHARED):
        home = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            names = [each for target in targets for each in getattr(target, "elts", [target])]
            for name in (each.id for each in names if isinstance(each, ast.Name)):
                value = getattr(importlib.import_module(f"reflex_bench.{home}"), name)
                texts = value if isinstance(value, tuple) else (value,)
                if all(isinstance(each, str) for each in texts) and name not in NO_PROMPT.get(file.stem, ()):
                    yield home, name


@pytest.mark.parametrize(("home", "name"), [*constants()])
def test_every_text_of_the_agents_counts(home: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = getattr(importlib.import_module(f"reflex_bench.{home}"), name)
    other = (*value[:-1], f"{value[-1]} indeed") if isinstance(value, tuple) else f"{value} indeed"
    for each in list(sys.modules.values()):
        if getattr(each, "__name__", "").startswith("reflex_bench.") and getattr(each, name, None) is value:
            monkeypatch.setattr(each, name, other)
    assert changes()


@pytest.mark.parametrize("outcome", base.ENDED)
def test_how_a_reflector_is_told_of_every_outcome_counts(
    outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(base.ENDED, outcome, f"{base.ENDED[outcome]} indeed")  # type: ignore[arg-type]
    assert changes()


@pytest.mark.parametrize("rule", audit.RULES)
@pytest.mark.parametrize("environment", BOTH)
def test_how_a_reflector_is_told_of_every_rule_that_it_broke_counts(
    environment: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(audit.RULES, rule, f"{audit.RULES[rule]} indeed")  # type: ignore[arg-type]
    assert hashed(environment) != BEFORE[environment, "chat"]


@pytest.mark.parametrize(
    "meaning", [(where, verb) for where in ("_MEANING", "_PURPOSE") for verb in tools.VERBS]
)
def test_the_descriptions_of_native_tools_count_where_tools_are_sent(
    meaning: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where, verb = meaning
    monkeypatch.setitem(getattr(tools, where), verb, "Something else.")
    assert hashed("hotpotqa") == BEFORE["hotpotqa", "chat"]
    assert hashed("hotpotqa", "limits.actions=tools") != BEFORE["hotpotqa", "tools"]


WORDS = ("hit", "none", "exhausted", "no_page", "invalid", "verdicts")


@pytest.mark.parametrize("profile", ["reflex", "react", "reflexion"])
@pytest.mark.parametrize("word", WORDS)
def test_what_an_encyclopedia_answers_counts(
    profile: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, settings = profiles.PROFILES[profile], f"environment.profile={profile}"
    before, value = hashed("hotpotqa", settings), getattr(known, word)
    other: Any = f"{value} indeed" if isinstance(value, str) else (f"{value[0]} indeed", *value[1:])
    monkeypatch.setitem(profiles.PROFILES, profile, replace(known, **{word: other}))
    assert hashed("hotpotqa", settings) != before


def test_every_other_text_of_a_profile_is_rendered_too() -> None:
    callables = {"opened", "missed", "units"}
    numbers = {
        "name",
        "max_steps",
        "similar",
        "miss_clears_page",
        "search_resets_lookup",
        "folds_keyword",
        "answers_unread",
    }
    assert {field.name for field in fields(profiles.Profile)} == {*WORDS, *callables, *numbers}
    told = open_environment({"name": "hotpotqa"}).sample_observations()  # type: ignore[attr-defined]
    for part in (
        "The page is empty.",
        "(whole page shown)",
        "(Page: Lake Orm)",
        "Could not find [no such page].",
    ):
        assert any(part in text for text in told), part


def test_hints_count_where_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    hinted = hashed("alfworld", "environment.feedback=hint")
    assert hinted != BEFORE["alfworld", "chat"]
    monkeypatch.setitem(hints.TREATMENTS, "clean", "rinsed")
    assert hashed("alfworld") == BEFORE["alfworld", "chat"]
    assert hashed("alfworld", "environment.feedback=hint") != hinted


def test_every_kind_of_hint_is_among_the_samples() -> None:
    source = ast.parse(Path(hints.__file__).read_text(encoding="utf-8"))
    kinds = {
        node.args[0].value
        for node in ast.walk(source)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "Reason"
        and isinstance(node.args[0], ast.Constant)
    }
    found: set[str] = set()

    def noted(name: str, sentence: str) -> hints.Reason:
        found.add(name)
        return real(name, sentence)

    real = hints.Reason
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hints, "Reason", noted)
        list(hints.sample_hints())
    assert found == kinds


def under_another_name(known: ModuleType) -> ModuleType:
    """The module, loaded once more from its file under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location("reflex_bench.moved_elsewhere", str(known.__file__))
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    try:
        spec.loader.exec_module(made)
    finally:
        del sys.modules[spec.name]
    return made


FOUND = [*parts.ours("agents"), *parts.ours("reflectors")]


def test_a_module_under_another_name_and_parts_in_another_order_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = under_another_name(structured)
    assert moved.structured is not structured.structured
    mine = [replace(part, made=moved.structured) if part.name == "structured" else part for part in FOUND]
    monkeypatch.setattr(parts, "ours", lambda kind: [part for part in reversed(mine) if part.kind == kind])
    monkeypatch.setattr(module, "ModelJudge", under_another_name(judge).ModelJudge)
    assert not changes()


def test_it_is_the_same_in_every_process() -> None:
    code = "from test_prompt_hash import hashed, BOTH; import json; print(json.dumps([hashed(each) for each in BOTH]))"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == [BEFORE[each, "chat"] for each in BOTH]


@pytest.mark.parametrize("environment", BOTH)
def test_it_takes_a_moment(environment: str) -> None:
    opened = open_environment({"name": environment})
    config = resolve((), {"environment": {"name": environment}})
    limits, agents = limits_of(config, opened), playable(opened)
    spent = []
    for _ in range(5):
        began = time.process_time()
        prompt_hash(opened, agents, limits)
        spent.append(time.process_time() - began)
    # About 0.04 s; more than this much would be another kind of work.
    assert min(spent) < 0.15


def test_arms_of_a_run_have_the_same_hash_unless_their_environment_answers_otherwise() -> None:
    arms = "arms={react: {}, reflexion: {}, judged: {reflector: reflexion, evaluator: model}}"
    plan = make_plan(resolve([arms], {"environment": {"name": "hotpotqa"}, "tasks": 1}))
    try:
        react, reflexion, judged = (arm.settings["prompt_hash"] for arm in plan.arms)
    finally:
        plan.close()
    assert react == reflexion == BEFORE["hotpotqa", "chat"]
    assert judged != react, "a judge's agent is not told whether its answer is right"


def broken(*arguments: Any, **named: Any) -> Any:
    raise RuntimeError("cannot be rendered")


def test_a_part_of_another_package_that_cannot_be_rendered_counts_with_its_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = open_environment({"name": "alfworld"})
    limits = limits_of(resolve((), {}), environment)
    monkeypatch.setattr(broken, "__module__", "somebody.somewhere")
    render = partial(situations.playing, broken, environment, limits)
    made = set()
    for version in ("1", "2"):
        monkeypatch.setattr(parts, "package_named", {"somebody": ("some-body", version)}.get)
        made.add(module.digest(broken, render))
    assert len(made) == 2
    monkeypatch.setattr(broken, "__module__", "reflex_bench.somewhere")
    with pytest.raises(RuntimeError):
        module.digest(broken, render)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("v2:" + "0" * 16, "v2:" + "1" * 16, True),
        ("0" * 16, "1" * 16, True),
        ("0" * 16, "v2:" + "0" * 16, False),
        (None, "v2:" + "0" * 16, True),
    ],
)
def test_hashes_of_two_schemes_are_not_compared(one: str | None, other: str, expected: bool) -> None:
    assert is_comparable(one, other) is expected
