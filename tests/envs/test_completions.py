"""What models write, in the forms of their families: the readers of both environments take the same action out of each.

`data/replies` holds replies as public reports quote them, with the reading of a careful reader. The lists below try the
family that each of them stands for.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from broken import examples
from hypothesis import given
from hypothesis import strategies as st

from reflex_bench.core.errors import UsageError
from reflex_bench.envs import completions
from reflex_bench.envs.alfworld.parsing.actions import read_action as read_household
from reflex_bench.envs.hotpotqa.parsing.actions import read_action as read_question
from reflex_bench.harness.planning.plan import make_plan
from reflex_bench.harness.planning.resolving import resolve

FOLDER = Path(__file__).parents[1] / "data" / "replies"
# Of the room that the quoted replies are about.
ADMISSIBLE = (
    *("examine desk 1", "go to desk 1", "go to shelf 1", "inventory", "look", "put mug 1 in/on desk 1"),
    *("take mug 2 from desk 1", "use desklamp 1"),
)
DECIDED_OTHERWISE = {
    # The instruction says `Finish[answer]`: whoever writes just that has copied it, and would end the task with it.
    "Finish answer= dspy#1310": None,
    # The accent may be composed or not; it is left as it was written.
    "unicode title": "Search[Beyonce\u0301]",
}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", cases("alfworld.jsonl"), ids=lambda case: case["name"])
def test_a_quoted_reply_in_a_household_is_read_as_a_careful_reader_reads_it(case: dict[str, Any]) -> None:
    action = read_household(case["completion"], case["policy"], ADMISSIBLE)
    assert action.command == case["reading"]
    if case["policy"] == "admissible":
        # `repair` does not look at what is admissible: the two policies can be told apart.
        assert read_household(case["completion"], "repair", ADMISSIBLE).command is None
        assert "near_miss" in action.repairs


@pytest.mark.parametrize("case", cases("hotpotqa.jsonl"), ids=lambda case: case["name"])
def test_a_quoted_reply_to_a_question_is_read_as_a_careful_reader_reads_it(case: dict[str, Any]) -> None:
    reading = DECIDED_OTHERWISE.get(case["name"], case["reading"])
    assert read_question(case["completion"], case["policy"]).command == reading


HOUSEHOLD = [
    "<action>go to fridge 1</action>",
    "<think>I see.</think><action>go to fridge 1</action>",
    "<action>\ngo to fridge 1",
    "<Action>go to fridge 1</Action>",
    '<action type="text">go to fridge 1</action>',
    "<think>x</think>\n<answer>go to fridge 1</answer>",
    "<thought>x</thought>\n<action>go to fridge 1</action>",
    "go to fridge 1</action>",
    "<command>go to fridge 1</command>",
    "<think>I go</think>\nI will now go.\n<action>go to fridge 1</action>",
    "<planning>x</planning><action>go to fridge 1</action>",
    '<tool_call>{"name": "act", "arguments": {"action": "go to fridge 1"}}</tool_call>',
    '{"action": "go to fridge 1"}',
    '```json\n{"action": "go to fridge 1"}\n```',
    '{"response": {"thought": "x", "action": "go to fridge 1"}}',
    '{"name": "go_to", "arguments": {"receptacle": "fridge 1"}}',
    '{"action": "go to", "object": "fridge 1"}',
    '{"action": "go to", "action_input": "fridge 1"}',
    "Action: go to\nAction Input: fridge 1",
    "Action: go to fridge 1\nAction Input: None",
    "Thought: x\nAction: execute\nAction Input: go to fridge 1",
    'Action: execute\nAction Input: {"command": "go to fridge 1"}',
    'Action: {"command": "go to fridge 1"}',
    "<|channel|>final<|message|>go to fridge 1",
    "<|channel|>analysis<|message|>Bed 1?<|end|><|start|>assistant<|channel|>final<|message|>go to fridge 1<|return|>",
    "<|start|>assistant<|channel|>final<|message|>Thought: x\nAction: go to fridge 1",
    "行动: go to fridge 1",
    "思考: 我想\n行动: go to fridge 1",
    "思考：我想\n行动：go to fridge 1",
    "Acción: go to fridge 1",
    "Pensamiento: voy\nAcción: go to fridge 1",
    "Gedanke: ich gehe\nAktion: go to fridge 1",
    "Überlegung: ich\nHandlung: go to fridge 1",
    "Pensée : je vais\nAction : go to fridge 1",
    "Réflexion: x\nAction: go to fridge 1",
    "考え: x\n行動: go to fridge 1",
    "思考：x\nアクション：go to fridge 1",
    "動作：go to fridge 1",
    "ACTION：go to fridge 1",
    "\ufeffgo to fridge 1",
    "go\xa0to\xa0fridge\xa01",
    "\u200bgo to fridge 1",
    "go to\u200b fridge 1",
    "\u202ago to fridge 1\u202c",
    "ｇｏ ｔｏ ｆｒｉｄｇｅ １",
    "➡️ go to fridge 1",
    "🚶 go to fridge 1",
    "⇒ go to fridge 1",
    "-> go to fridge 1",
    "=> go to fridge 1",
    "▶ go to fridge 1",
    "• go to fridge 1",
    "1) go to fridge 1",
    "1️⃣ go to fridge 1",
    "✅ go to fridge 1",
    "» go to fridge 1",
    "go to fridge 1<|im_end|>",
    "go to fridge 1<|eot_id|>",
    "go to fridge 1<end_of_turn>",
    "go to fridge 1<|endoftext|>",
    "go to fridge 1<|end|>",
    "go to fridge 1</s>",
    "go to fridge 1<|user|>",
    "go to fridge 1<|END_OF_TURN_TOKEN|>",
    "go to fridge 1[|endofturn|]",
    "go to fridge 1<|eom_id|>",
    "go to fridge 1<|return|>",
    "go to fridge 1 [/INST]",
    "go to fridge 1<eos>",
    "go to fridge 1<|end_of_text|>",
    "go to fridge 1<｜end▁of▁sentence｜><｜User｜>hi",
    "go to fridge 1<|observation|>\nYou arrive",
    "<|assistant|>\ngo to fridge 1",
    "<|im_start|>assistant\ngo to fridge 1<|im_end|>",
    "<s>go to fridge 1</s>",
    "[THINK]go to bed 1[/THINK]go to fridge 1",
    "◁think▷go to bed 1◁/think▷go to fridge 1",
    "<seed:think>go to bed 1</seed:think>go to fridge 1",
    "<|begin_of_thought|>go to bed 1<|end_of_thought|>go to fridge 1",
    "<reasoning>go to bed 1</reasoning>go to fridge 1",
    "<|START_THINKING|>go to bed 1<|END_THINKING|>go to fridge 1",
    "<scratchpad>go to bed 1</scratchpad>\ngo to fridge 1",
    "<inner_thoughts>x</inner_thoughts>go to fridge 1",
    "<thinking>x</thinking>go to fridge 1",
    "<longcat_think>x</longcat_think>go to fridge 1",
    "<think>\nThought: x\nAction: go to fridge 1\n</think>",
    "<think>Thought: x\nAction: go to fridge 1",
    "<think>\nhm\n<action>go to fridge 1</action>\n</think>",
    "<think>\nAction: go to fridge 1\n</think>\n\n",
    "<|channel|>analysis<|message|>Thought: x\nAction: go to fridge 1<|end|>",
    "go to fridge 1 > take pen 1 from desk 1",
    "OK. > go to fridge 1 > use desklamp 1 > examine baseballbat 1.",
    "think: I need a pan. > go to fridge 1 > take pan 1 from stoveburner 1 > go to bed 1"
    + " > go to shelf 1" * 20,
    "go to fridge 1" + " > go to shelf 1" * 30,
    "go to fridge 1 -> open fridge 1",
    "go to fridge 1; open fridge 1",
    "go to fridge 1 && open fridge 1",
    "go to fridge 1\\nopen fridge 1",
    "> go to fridge 1 > open fridge 1",
    "go to fridge 1 | open fridge 1",
    "**go to fridge 1**",
    "### Action\ngo to fridge 1",
    "*Action:* go to fridge 1",
    "__Action__: go to fridge 1",
    'Action: "go to fridge 1"',
    "Action: 'go to fridge 1'.",
    "~~~\ngo to fridge 1\n~~~",
    "Next, I will do **go to fridge 1**",
    "The next action is: `go to fridge 1`",
    "My action is `go to fridge 1`.",
    "Action: Go to the fridge 1.",
    "Action:\n\ngo to fridge 1",
    "Thought: x Action: go to fridge 1",
    "思考：我去冰箱。行动：go to fridge 1",
    "Aktion: `go to fridge 1`",
    "\\boxed{\\text{go to fridge 1}}",
    "The answer is $\\boxed{go to fridge 1}$.",
    "Action[go to fridge 1]",
    "Final Answer: go to fridge 1",
    "Réponse finale : go to fridge 1",
    "最终答案：go to fridge 1",
    "go_to(fridge 1)",
    "goto[fridge 1]",
    "Act: go to fridge 1",
    "Command> go to fridge 1",
    '{"actions": ["go to fridge 1", "look"]}',
    '{"action": ["go to fridge 1"]}',
    '[TOOL_CALLS] [{"name": "go", "arguments": {"to": "fridge 1"}}]',
    '<function=act>{"command": "go to fridge 1"}</function>',
    "<tool_call>act\n<arg_key>command</arg_key>\n<arg_value>go to fridge 1</arg_value>\n</tool_call>",
    '<|python_tag|>{"name": "act", "parameters": {"command": "go to fridge 1"}}',
    'act(command="go to fridge 1")',
    '<tool_call>\n{"name": "go to fridge 1"}\n</tool_call>',
    '<invoke name="act"><parameter name="command">go to fridge 1</parameter></invoke>',
    "analysisWe go.assistantfinalgo to fridge 1",
    "<think>x</think>\n\n**Action:** go to fridge 1",
    "{'thought': 'I go.', 'action': 'go to fridge 1'}",
    '{"thought": "I go.", "action": "go to fridge 1"',
    "Sure! Here is my action:\n\ngo to fridge 1",
    'Sure, here is the JSON:\n{"action": "go to fridge 1"}',
    "Observation: x\nThought: y\nAction: go to fridge 1",
]


@pytest.mark.parametrize("completion", HOUSEHOLD)
def test_a_command_is_found_in_whatever_a_model_wraps_it(completion: str) -> None:
    action = read_household(completion, "repair")
    assert (action.command, action.error) == ("go to fridge 1", None)
    assert action.repairs
    assert read_household(completion, "strict").command is None


SEARCHES = [
    "<action>Search[Lake Merrin]</action>",
    "<think>x</think><action>Search[Lake Merrin]</action>",
    "<action>Search[Lake Merrin]",
    '<tool_call>{"name": "Search", "arguments": {"entity": "Lake Merrin"}}</tool_call>',
    '{"tool": "Search", "input": "Lake Merrin"}',
    '{"thought": "x", "action": "Search[Lake Merrin]"}',
    '{"action": {"name": "Search", "input": "Lake Merrin"}}',
    '{"output": {"action": "Search", "action_input": "Lake Merrin"}}',
    '{"Search": "Lake Merrin"}',
    '{"Search": {"entity": "Lake Merrin"}}',
    'Action: Search ({"input": "Lake Merrin"})',
    'Search("Lake Merrin")',
    'Action: Search("Lake Merrin")',
    "Search('Lake Merrin')",
    'Search(entity="Lake Merrin")',
    '[Search(entity="Lake Merrin")]',
    '```tool_code\nSearch(entity="Lake Merrin")\n```',
    'Search[entity="Lake Merrin"]',
    "Search[query=Lake Merrin]",
    'Search[{"entity": "Lake Merrin"}]',
    'Action: search(query: "Lake Merrin")',
    'Action: Search\nAction Input: {"input": "Lake Merrin"}',
    'Action: Search\nAction Input: "Lake Merrin"',
    "Action: Search\nInput: Lake Merrin",
    "Action: Search\nAction Input:\nLake Merrin",
    'Action: Search\nAction Input: ```json\n{"query": "Lake Merrin"}\n```',
    "行动: Search\n行动输入: Lake Merrin",
    "Aktion: Search\nAktionseingabe: Lake Merrin",
    "Acción: Search\nEntrada de la acción: Lake Merrin",
    "ACTION：Search［Lake Merrin］",
    "Ａｃｔｉｏｎ：Ｓｅａｒｃｈ［Lake Merrin］",
    "Pensée : x\nAction : Search[Lake Merrin]",
    "Gedanke 1: x\nAktion 1: Search[Lake Merrin]\nBeobachtung 1: y",
    "思考：x\n行动：Search[Lake Merrin]\n观察：y",
    "思考: x\n行動: Search【Lake Merrin】",
    "\ufeffSearch[Lake Merrin]",
    "\u200bAction: Search[Lake\xa0Merrin]\u200e",
    "Search[Lake\u200b Merrin]",
    "👉 Search[Lake Merrin]",
    "🔍 Action: Search[Lake Merrin]",
    "➡️ Search[Lake Merrin]",
    "→ Search[Lake Merrin]",
    "1. Search[Lake Merrin]",
    "① Search[Lake Merrin]",
    "1️⃣ Search[Lake Merrin]",
    "Search[Lake Merrin]<|im_end|>",
    "Action: Search[Lake Merrin]<end_of_turn>",
    "Search[Lake Merrin]<|eot_id|><|start_header_id|>user<|end_header_id|>\nFinish[x]",
    "Search[Lake Merrin]<|im_end|>\n<|im_start|>user\nx",
    "<|im_start|>assistant\nThought: x\nAction: Search[Lake Merrin]<|im_end|>",
    "[THINK]Finish[a][/THINK]Search[Lake Merrin]",
    "<|begin_of_thought|>x<|end_of_thought|><|begin_of_solution|>Search[Lake Merrin]<|end_of_solution|>",
    "<|channel|>final<|message|>Action: Search[Lake Merrin]",
    "<think>\nAction: Search[Lake Merrin]",
    '<think>x\n<tool_call>\n{"name": "Search", "arguments": {"entity": "Lake Merrin"}}\n</tool_call>\n</think>',
    'analysisx.assistantcommentary to=functions.Search json{"entity": "Lake Merrin"}',
    '<|channel|>commentary to=functions.Search <|constrain|>json<|message|>{"entity": "Lake Merrin"}<|call|>',
    "**Search[Lake Merrin]**",
    "*Action*: *Search[Lake Merrin]*",
    "`Action: Search[Lake Merrin]`",
    "Action: Search Lake Merrin",
    'Action: Search for "Lake Merrin"',
    'Action: Search: "Lake Merrin"',
    'Search: "Lake Merrin"',
    "Action: Search Lake Merrin.",
    "<search>Lake Merrin</search>",
    '<search query="x">Lake Merrin</search>',
    "Next, I'll run `Search[Lake Merrin]`.",
    "I will now use **Search[Lake Merrin]**",
    "Search「Lake Merrin」",
    "Search《Lake Merrin》",
    "Search<Lake Merrin>",
    "Search{Lake Merrin}",
    "Action: Search\\[Lake Merrin\\]",
    "Search[[Lake Merrin]]",
    "<Search>Lake Merrin</Search>",
    '<action name="Search">Lake Merrin</action>',
    "<tool_call>\n<function=Search>\n<parameter=entity>Lake Merrin</parameter>\n</function>",
    'Action: functions.Search({"entity": "Lake Merrin"})',
    '```json\n[{"name": "Search", "arguments": {"entity": "Lake Merrin"}}]\n```',
    '{"name":"functions.search","parameters":{"query":"Lake Merrin"}}',
    "Action: Search, Action Input: Lake Merrin",
    "Action: Search Action Input: Lake Merrin",
    'Sure!\n\n{"name": "Search", "arguments": {"entity": "Lake Merrin"}}',
    'Thought: x\n{"name": "Search", "arguments": {"entity": "Lake Merrin"}}',
    "Action: search_page\nAction Input: Lake Merrin",
    "Action: [Search] Lake Merrin",
    "Action: Search - Lake Merrin",
    "Action = Search[Lake Merrin]",
    "Act: Search[Lake Merrin]",
    "Action: **Search** Lake Merrin",
    'Action: Search\n{"entity": "Lake Merrin"}',
]


@pytest.mark.parametrize("completion", SEARCHES)
def test_a_search_is_found_in_whatever_a_model_wraps_it(completion: str) -> None:
    action = read_question(completion, "repair")
    assert (action.command, action.error) == ("Search[Lake Merrin]", None)
    assert action.repairs


ANSWERS = [
    "<answer>Lake Merrin</answer>",
    "Final Answer: Lake Merrin",
    "Answer: Lake Merrin",
    "Antwort: Lake Merrin",
    "Réponse : Lake Merrin",
    "Respuesta final: Lake Merrin",
    "答案：Lake Merrin",
    "最终答案: Lake Merrin",
    "<think>x</think><answer>Lake Merrin",
    "\\boxed{Lake Merrin}",
    "The answer is \\boxed{Lake Merrin}.",
    "**Final Answer:** Lake Merrin",
    '{"answer": "Lake Merrin"}',
    '{"action": "Final Answer", "action_input": "Lake Merrin"}',
    "Action: Finish Lake Merrin",
    "Action: Finish with Lake Merrin",
    "Action: Finish: Lake Merrin",
    'Finish(answer="Lake Merrin")',
    "Finish: Lake Merrin",
    "Action: Final Answer\nAction Input: Lake Merrin",
    "Action: Finish\nAction Input: Lake Merrin",
    'Finish[answer="Lake Merrin"]',
    "Action: Answer[Lake Merrin]",
    "<finish>Lake Merrin</finish>",
    "Final Answer:\nLake Merrin",
    "Thought: I know it. Final Answer: Lake Merrin",
    '{"actions": ["Finish[Lake Merrin]"]}',
    "<answer>\nFinish[Lake Merrin]\n</answer>",
]


@pytest.mark.parametrize("completion", ANSWERS)
def test_an_answer_is_found_in_whatever_a_model_wraps_it(completion: str) -> None:
    action = read_question(completion, "repair")
    assert (action.command, action.error) == ("Finish[Lake Merrin]", None)
    assert action.repairs


NEAR_MISSES = [
    ("goto fridge 1", "go to fridge 1"),
    ("go to fridge1", "go to fridge 1"),
    ("go to the fridge", "go to fridge 1"),
    ("walk to dining table 1", "go to diningtable 1"),
    ("pick up apple 1 from fridge 1", "take apple 1 from fridge 1"),
    ("pick apple 1 up", "take apple 1 from fridge 1"),
    ("turn on desklamp 1", "use desklamp 1"),
    ("turn the desklamp on", "use desklamp 1"),
    ("place mug 1 onto the desk 1", "move mug 1 to desk 1"),
    ("wash mug 1 in the sinkbasin", "clean mug 1 with sinkbasin 1"),
    ("heat up mug 1", "heat mug 1 with microwave 1"),
    ("Thought: I need it.\nAction: pick up apple 1 from fridge 1", "take apple 1 from fridge 1"),
    ("<action>goto fridge 1</action>", "go to fridge 1"),
    ('{"action": "goto fridge 1"}', "go to fridge 1"),
    ("I'll open fridge 1 now.", None),
    ("I'll open fridge 1.", "open fridge 1"),
    ("goto fridge 1, then open it", "go to fridge 1"),
    ("goto shelf", None),  # there are two
    ("walk to shelf", None),
    ("pick up mug 9 from desk 1", None),  # not there
    ("I could go to fridge 1", None),
    ("I will not go to fridge 1", None),
    ("think: I will goto fridge 1", None),
    ("Thought: turn on desklamp 1", None),
    ("<think>goto fridge 1</think>", None),
]
ROOM = (
    *(
        "go to fridge 1",
        "go to diningtable 1",
        "go to shelf 1",
        "go to shelf 2",
        "open fridge 1",
        "look",
        "inventory",
    ),
    *("take apple 1 from fridge 1", "take mug 2 from desk 1", "move mug 1 to desk 1", "use desklamp 1"),
    *("clean mug 1 with sinkbasin 1", "heat mug 1 with microwave 1"),
)


@pytest.mark.parametrize(("completion", "command"), NEAR_MISSES)
def test_a_near_miss_is_repaired_where_one_admissible_command_is_meant_and_only_there(
    completion: str, command: str | None
) -> None:
    action = read_household(completion, "admissible", ROOM)
    assert action.command == command
    assert ("near_miss" in action.repairs) is (command is not None)
    assert read_household(completion, "repair").command not in ROOM


def test_a_command_that_can_be_executed_in_the_other_grammar_is_no_near_miss() -> None:
    assert read_household("put mug 1 in/on desk 1", "admissible", ROOM).repairs == ()
    assert read_household("put mug 1 in desk 1", "admissible", ROOM).repairs == ()


WORDS = st.sampled_from(
    (
        *(
            "I",
            "could",
            "should",
            "perhaps",
            "go to desk 1",
            "take mug 1 from desk 1",
            "look",
            "and",
            "then",
            "or",
            "not",
        ),
        *("Search[Paris]", "Finish[yes]", "Lookup[dam]", "`look`", "later,", "because", "it", "is", "there"),
    )
)
PROSE = st.lists(WORDS, max_size=12).map(" ".join)


@examples(200)
@given(PROSE)
def test_nothing_that_a_thought_merely_mentions_is_executed(words: str) -> None:
    """Whatever stands in the middle of a thought: words before it, and a full sentence behind it."""
    thought = f"I think {words} it is so."
    for completion in (
        f"think: {thought}",
        f"Thought: {thought}",
        f"思考：{thought}",
        f"<think>{thought}</think>",
    ):
        for policy in ("strict", "repair", "admissible"):
            assert read_household(completion, policy, ADMISSIBLE).command is None
            assert read_question(completion, policy).command is None
        assert read_household(f"{completion}\ngo to bed 1", "repair").command == "go to bed 1"
        assert read_question(f"{completion}\nAction: Search[Rome]", "repair").command == "Search[Rome]"


@examples(200)
@given(
    st.text(st.characters(codec="ascii", exclude_characters="[]{}<>=\\\r\n"), min_size=1, max_size=30), PROSE
)
def test_no_policy_reads_a_well_formed_reply_otherwise(argument: str, words: str) -> None:
    thought = f"Thought: I {words.replace('[', '(').replace(']', ')')}\n"
    for completion in (f"Search[{argument}]", f"{thought}Action: Lookup[{argument}]", f"Finish[{argument}]"):
        strict = read_question(completion, "strict")
        if strict.error is None:
            assert read_question(completion, "repair") == read_question(completion, "admissible") == strict


def documented() -> set[str]:
    table = re.findall(r"^`.*?(?=  )", completions.__doc__ or "", flags=re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(table)))


def test_every_repair_has_one_name_in_both_environments_and_is_documented() -> None:
    of_households = {name for text in HOUSEHOLD for name in read_household(text, "repair").repairs}
    of_questions = {name for text in (*SEARCHES, *ANSWERS) for name in read_question(text, "repair").repairs}
    of_questions |= {
        name
        for case in cases("hotpotqa.jsonl")
        for name in read_question(case["completion"], "repair").repairs
    }
    of_households |= {
        name
        for case in cases("alfworld.jsonl")
        for name in read_household(case["completion"], "repair").repairs
    }
    assert of_households | of_questions <= documented()
    assert of_households & of_questions >= {
        *(
            "reasoning_removed",
            "special_tokens",
            "channel_markers",
            "invisible_signs",
            "full_width",
            "leading_sign",
        ),
        *(
            "tag",
            "tool_call",
            "action_in_reasoning",
            "action_input",
            "extra_actions",
            "cut_invented_observation",
        ),
    }


def test_a_run_that_wants_admissible_commands_of_an_environment_without_them_is_refused_by_name() -> None:
    config = {
        "environment": {"name": "hotpotqa"},
        "model": {"model": "simulated"},
        "limits": {"parse": "admissible"},
    }
    with pytest.raises(
        UsageError, match="parse=admissible: hotpotqa lists no admissible commands; use parse=repair"
    ):
        make_plan(resolve([], config | {"tasks": 1}))


def test_the_policy_stands_on_the_row() -> None:
    config = {"environment": {"name": "alfworld"}, "model": {"model": "simulated"}, "tasks": 1}
    keys = set()
    for policy in ("repair", "admissible"):
        plan = make_plan(resolve([], config | {"limits": {"parse": policy}}))
        assert plan.arms[0].settings["parse"] == policy
        keys.add(plan.arms[0].settings["settings_hash"])
        plan.close()
    assert len(keys) == 2
