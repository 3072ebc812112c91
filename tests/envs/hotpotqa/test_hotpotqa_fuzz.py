"""Random text at the parser and the scorer.

`REFLEX_BENCH_FUZZ` sets how many strings each of the bulk tests makes: with 1000000 they take some minutes.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflex_bench.envs.base import ParsePolicy
from reflex_bench.envs.hotpotqa.parsing.actions import VERBS, read_action, split_command
from reflex_bench.envs.hotpotqa.scoring import answer_score, normalise, success_rule

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("REFLEX_BENCH_FUZZ", "5000"))
BATCH = 100
POLICIES: tuple[ParsePolicy, ...] = ("strict", "repair", "admissible")

PIECES = (
    "Thought", "Action", "Observation", "Action Input", "Search", "lookup", "FINISH", "Compare", " 1", ":", "：", "[",
    "]", "(", ")", "【", "】", "［", "\n", "\r\n", "\r", " ", "**", "`", "```", "> ", "- ", "<think>", "</think>",
    "the", "a", "yes", "noanswer", "1871",
    '"', "“", "\ud800", "\u200b", "İ", "ß", "{", "}", "\x00", "\u2028", ", ", ". ",
    "\u0301", "<action>", "</action>", "<answer>",
    '{"action": "', '"}', "<tool_call>", "<|im_end|>", "<|channel|>final<|message|>",
    "<|tool_call_begin|>", "[TOOL_CALLS]", "行动", "思考", "Answer",
    "\\boxed{", "「", "」", "👉", "query=", "\\", "title",
    "analysis", "assistantfinal", "<think", "◁think▷", "［", "Ｓｅａｒｃｈ", "'",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(alphabet=st.characters(), max_size=60),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=25).map("".join),
)
CHECKS = list(HealthCheck)
SHRINKING = settings(max_examples=300, database=None, suppress_health_check=CHECKS)
BULK = settings(max_examples=-(-COUNT // BATCH), database=None, suppress_health_check=CHECKS)


def random_text(dice: random.Random) -> str:
    pieces = (
        dice.choice(PIECES) if dice.random() < 0.8 else chr(dice.randrange(0x110000)) for _ in range(20)
    )
    return "".join(piece for piece in pieces if dice.random() < 0.8)


def check_parser(text: str) -> None:
    for policy in POLICIES:
        action = read_action(text, policy)
        assert (action.command is None) is (action.error is not None)
        if action.command is not None:
            assert len(action.command.splitlines()) == 1
            call = split_command(action.command)
            assert call is not None
            assert call[0] in VERBS
            assert call[1] or call[0] == "Finish"
            assert f"{call[0]}[{call[1]}]" == action.command


def check_scorer(prediction: str, gold: str) -> None:
    score = answer_score(prediction, gold)
    assert all(0 <= value <= 1 for value in (score.em, score.f1, score.precision, score.recall))
    assert normalise(normalise(gold)) == normalise(gold)
    assert answer_score(gold, gold).em == 1
    assert answer_score(gold, gold).f1 == (1 if normalise(gold) else 0)
    assert answer_score(gold, prediction).f1 == score.f1
    if success_rule("em").holds(prediction, gold):
        assert score.em == 1
        assert success_rule("contains").holds(prediction, gold)


@SHRINKING
@given(TEXTS)
def test_the_parser_never_raises_and_its_commands_can_be_executed(text: str) -> None:
    check_parser(text)


@SHRINKING
@given(TEXTS, TEXTS)
def test_scores_are_between_zero_and_one_and_consistent(prediction: str, gold: str) -> None:
    check_scorer(prediction, gold)


@BULK
@given(st.integers(min_value=0))
def test_the_parser_holds_in_bulk(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(BATCH):
        check_parser(random_text(dice))


@BULK
@given(st.integers(min_value=0))
def test_the_scorer_holds_in_bulk(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(BATCH):
        check_scorer(random_text(dice), random_text(dice))
