"""A person's own prompts: what they replace, what is refused, and what a run says of them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Example, Prompts
from reflex_bench.envs.prompts import load
from reflex_bench.envs.prompts.own import Texts, as_yaml, with_texts
from reflex_bench.harness.parts.own_prompts import with_prompts
from reflex_bench.harness.planning.opening import open_environment
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve

BOTH = ("alfworld", "hotpotqa")
PLUGIN = Prompts(
    instruction="Guess.",
    examples={"": (Example((("Guess a number.", "5"), ("Too low.", "7\nI hope.")), "Right."),)},
    thought_observation="",
    invalid_observation="No number: {command}",
    reflection_instruction="Say why.",
    reflection_examples=(("Guess a number.\n> 5", "Five was too low."),),
    verbs=("guess",),
)


@pytest.mark.parametrize("name", BOTH)
def test_the_file_that_is_printed_changes_nothing(name: str) -> None:
    shipped = load(name)
    assert with_texts(shipped, as_yaml(name, shipped), "mine.yaml") == shipped


def test_prompts_of_a_plug_in_can_be_printed_and_read_back() -> None:
    assert with_texts(PLUGIN, as_yaml("guessing", PLUGIN), "mine.yaml") == PLUGIN


def test_every_text_of_prompts_can_be_replaced() -> None:
    assert {each.name for each in fields(Prompts)} == set(Texts.model_fields)


def test_a_file_replaces_the_keys_that_it_has_and_no_others() -> None:
    shipped = load("alfworld")
    example = "    - |\n      You see a mug.\n      > take mug 1\n      Taken.\n"
    text = f"reflection_instruction: |\n  Why?\nexamples:\n  heat:\n{example}"
    made = with_texts(shipped, text, "mine.yaml")
    assert made.reflection_instruction == "Why?"
    assert made.examples["heat"] == (Example((("You see a mug.", "take mug 1"),), "Taken."),)
    assert made.examples["cool"] == shipped.examples["cool"]
    assert made.instruction == shipped.instruction


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("verbs: [go]\n\ninstructon: x\n", "line 3: unknown key 'instructon'; did you mean 'instruction'?"),
        ("examples:\n  heet: []\n", "mine.yaml, line 2: no task type 'heet'; did you mean 'heat'?"),
        (
            "examples:\n  heat:\n    - |\n      You see.\n      > go\n    - none\n",
            "line 6: an example begins",
        ),
        (
            "examples:\n  heat:\n    - '> go'\n",
            "mine.yaml, line 3: an example begins with what the environment says",
        ),
        ("verbs: [go\n", "mine.yaml, line 2: no YAML"),
        ("- verbs\n", "mine.yaml: prompts map keys to texts"),
        ("1: 2\n", "mine.yaml: prompts map keys to texts"),
        ("verbs: 5\n", "mine.yaml, line 1: verbs: input should be a valid list"),
        ("thought_form: 'think'\n", "line 1: thought_form: {} must stand where the text goes"),
        (
            "thought_form: 'think: {x}'\n",
            "line 1: thought_form: nothing is put in place of {x}; it may hold {}",
        ),
        (
            "invalid_observation: 'No {comand}'\n",
            "nothing is put in place of {comand}; it may hold {command}",
        ),
        ("action_form: 'do { {}'\n", "line 1: action_form: "),
        ("reflection_examples:\n- episode: x\n", "line 2: a reflection example lacks 'reflection'"),
        (
            "reflection_examples:\n- {episode: x, reflection: y, notes: z}\n",
            "line 2: unknown key 'notes'; known: ep",
        ),
        ("text:\n  stopp: [a]\n", "line 2: unknown key 'stopp' of text; did you mean 'stop'?"),
        ("text:\n  stop: a\n", "line 2: text.stop: must be a list of texts"),
        ("text:\n  memory_item: '- {t}'\n", "line 2: memory_item: nothing is put in place of {t}"),
        ("text:\n  example_headers: [one]\n", "line 2: text.example_headers: must be a list of texts"),
    ],
)
def test_what_cannot_be_put_before_a_model_is_refused_with_file_and_line(text: str, refusal: str) -> None:
    with pytest.raises(UsageError) as error:
        with_texts(load("alfworld"), text, "mine.yaml")
    assert refusal in str(error.value)
    assert "\n" not in str(error.value)


def test_a_published_structure_is_changed_only_where_there_is_one() -> None:
    with pytest.raises(UsageError, match="no published structure"):
        with_texts(PLUGIN, "published:\n  begin: x\n", "mine.yaml")
    assert with_texts(load("alfworld"), "published: {begin: '>>'}\n", "m").published.begin == ">>"  # type: ignore[union-attr]


@pytest.mark.parametrize("name", BOTH)
def test_an_environment_with_other_prompts_is_the_same_otherwise(name: str) -> None:
    own = {"name": "mine.yaml", "text": "instruction: Do it.\n"}
    shipped = open_environment({"name": name})
    changed = with_prompts(shipped, own)
    assert changed.prompts.instruction == "Do it."
    assert shipped.prompts.instruction != "Do it."
    assert isinstance(changed, type(shipped))
    assert changed.settings() == shipped.settings()
    assert with_prompts(changed.without_feedback(), own).prompts.instruction == "Do it."


def test_an_arm_has_the_prompts_of_its_own_or_the_runs_and_its_row_names_the_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("reflection_instruction: Why?\n")
    arms = {
        "plain": {},
        "mine": {"prompts": str(mine)},
        "judged": {"prompts": "engineer", "evaluator": "model"},
    }
    config = resolve([f"arms={json.dumps(arms)}"], {"environment": {"name": "hotpotqa"}, "tasks": 1})
    plan = make_plan(config)
    plain, own, judged = plan.arms
    assert "prompts" not in plain.settings
    assert (own.settings["prompts"], judged.settings["prompts"]) == ("mine.yaml", "engineer.yaml")
    assert own.environment.prompts.reflection_instruction == "Why?"
    assert "engineer on call" in judged.environment.prompts.reflection_instruction
    hashes = [arm.settings["prompt_hash"] for arm in plan.arms]
    assert len(set(hashes)) == 3
    assert hashes[0] == "v2:028a0118899da87a"
    # What the run records is the text: the file may be gone when it is resumed.
    kept = config.model_dump()["arms"]["mine"]["prompts"]
    assert kept == {"name": "mine.yaml", "text": "reflection_instruction: Why?\n"}
    plan.close()


@pytest.mark.parametrize("name", ["engineer", "auditor", "extract"])
@pytest.mark.parametrize("environment", BOTH)
def test_prompts_that_ship_change_the_reflection_instruction_alone(environment: str, name: str) -> None:
    config = resolve([f"prompts={name}"], {"environment": {"name": environment}})
    assert config.prompts is not None
    shipped = load(environment)
    made = with_texts(shipped, config.prompts["text"], config.prompts["name"])
    changed = {
        each.name for each in fields(Prompts) if getattr(made, each.name) != getattr(shipped, each.name)
    }
    assert changed == {"reflection_instruction"}


def test_prompts_that_do_not_exist_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'enginer'; did you mean 'engineer'\?"):
        resolve(["prompts=enginer"], {"environment": {"name": "alfworld"}})
