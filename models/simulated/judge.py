"""Simulated judge, and simulated reflector that fills in forms: no language model, and wrong now and then.

It reads nothing but the attempt in its prompt. What it makes of it is turned round in some of its answers, and some of
its answers are no JSON, or JSON with something around it, as those of real models are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reflex_bench.core.shared_texts import (
    DIAGNOSIS_REQUEST,
    EARLIER_REFLECTIONS,
    HISTORY_HEADER,
    JUDGE_REQUEST,
    REFLECTION_REQUEST,
    STEP_REQUEST,
    TASK_HEADER,
)
from reflex_bench.models.base import Message
from reflex_bench.models.simulated import household_view as household

_WRONG, _WRONG_STEP, _MISCOUNTS = 0.12, 0.06, 0.08
"""How often a verdict is turned round, an attempt under way is misjudged, and a step is named that there was not."""
_MALFORMED, _STILL_MALFORMED, _WRAPPED = 0.12, 0.25, 0.2
"""How often an answer cannot be read, how often not even when asked for again, and how often it is not JSON alone."""
_MARK = re.compile(r"^\[Step (\d+)\]\n", re.MULTILINE)
_ANSWER = re.compile(r"Finish\[(.*)\]")
_FRUITLESS = re.compile(
    r"Nothing happens|Could not find|No (?:more )?results|No action was found|Invalid", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt as its reader sees it; `steps` are (number, said, seen)."""

    opening: str
    steps: tuple[tuple[int, str, str], ...]

    @property
    def last(self) -> int:
        return self.steps[-1][0] if self.steps else 0


def question(messages: Sequence[Message]) -> str:
    """Return the question that a conversation is about, if it is one for this module; else ""."""
    first = next((message.content.rstrip() for message in messages if message.role == "user"), "")
    return first if first.endswith((JUDGE_REQUEST, STEP_REQUEST, DIAGNOSIS_REQUEST)) else ""


def reply(asked: str, again: bool, reflect: Callable[[str], str], rng: Random) -> str:
    """Return the answer to a question.

    Args:
        asked: from `question`.
        again: whether an earlier answer was of no use.
        reflect: what the simulated reflector answers to a request for a free reflection.
        rng: decides what goes wrong.
    """
    told = asked.rpartition(TASK_HEADER)[2].partition(EARLIER_REFLECTIONS)[0].partition(HISTORY_HEADER)[0]
    for request in (JUDGE_REQUEST, STEP_REQUEST, DIAGNOSIS_REQUEST):
        told = told.removesuffix(request)
    attempt = _read(told.strip().rpartition("\n")[0])
    if asked.endswith(DIAGNOSIS_REQUEST):
        written = reflect(_MARK.sub("", asked.removesuffix(DIAGNOSIS_REQUEST)) + REFLECTION_REQUEST)
        answer = _diagnosis(attempt, written, again, rng)
    elif asked.endswith(STEP_REQUEST):
        answer = _assessment(attempt, rng)
    else:
        answer = _verdict(attempt, rng)
    return _written(answer, _STILL_MALFORMED if again else _MALFORMED, rng)


def _read(episode: str) -> _Attempt:
    opening, *blocks = _MARK.split(episode)
    steps = []
    for number, block in zip(blocks[::2], blocks[1::2], strict=True):
        lines = block.splitlines()
        said = [line.removeprefix("> ") for line in lines if line.startswith(">")]
        steps.append((int(number), "\n".join(said), "\n".join(lines[len(said) :])))
    return _Attempt(opening.strip(), tuple(steps))


def _view(attempt: _Attempt) -> household.View:
    return household.read_view(attempt.opening, [(said, seen) for _, said, seen in attempt.steps])


def _verdict(attempt: _Attempt, rng: Random) -> dict[str, Any]:
    if household.is_household(attempt.opening):
        share, reason = _household_progress(_view(attempt))
    else:
        share, reason = _answered(attempt)
    if rng.random() < _WRONG:
        share, reason = 1 - share, f"Looking at the end alone, I see it otherwise: {reason}"
    wasted = sum(bool(_FRUITLESS.search(seen)) for _, _, seen in attempt.steps)
    return {
        "reason": reason,
        "critical_step": attempt.last or None,
        "efficiency": f"{wasted} steps brought nothing." if wasted else "",
        "score": round(share, 2),
        "success": share > 0.5,
    }


def _household_progress(view: household.View) -> tuple[float, str]:
    """Return how much of a household task is done, by what the attempt says, and why."""
    goal = view.goal
    if goal is None:
        return 0.0, "I cannot tell what the task asks for."
    if goal.kind == "examine":
        lit = any(household.type_of(lamp) == goal.target for lamp in view.lit)
        held = household.type_of(view.holding) == goal.object
        return (
            lit + held
        ) / 2, f"The {goal.object} was {'' if held else 'not '}held, the lamp {'' if lit else 'not '}on."
    placed = [
        name
        for name, place in dict(view.placed).items()
        if (household.type_of(name), household.type_of(place)) == (goal.object, goal.target)
    ]
    ready = [
        name for name in placed if goal.kind not in household.STATION or (goal.kind, name) in view.treated
    ]
    wanted = 2 if goal.kind == "puttwo" else 1
    reason = f"{len(placed)} of {wanted} {goal.object} stand where they belong"
    return min(len(ready) / wanted, 1.0), reason + (", but not treated." if len(ready) < len(placed) else ".")


def _answered(attempt: _Attempt) -> tuple[float, str]:
    """Return whether a question has got an answer that stands in what was read."""
    *before, (_, said, verdict) = attempt.steps or [(0, "", "")]
    given = _ANSWER.search(said)
    if not given:
        return 0.0, "No answer was handed in."
    if "wrong" in verdict.lower() or "incorrect" in verdict.lower():
        return 0.0, "The answer was turned down."
    answer = given[1].strip().lower()
    read = " ".join(seen for _, _, seen in before).lower()
    if answer in ("yes", "no"):
        return (
            (0.8, "Both sides were looked up.") if len(before) > 1 else (0.3, "One side was not looked up.")
        )
    if answer and answer in read and len(before) > 1:
        return 0.9, f"'{given[1].strip()}' stands on a page that was read."
    return 0.2, "The answer stands on none of the pages that were read."


def _assessment(attempt: _Attempt, rng: Random) -> dict[str, Any]:
    status, reason = _standing(attempt)
    if rng.random() < _WRONG_STEP:
        status, reason = rng.choice(
            (("deviation", "This looks like a detour."), ("on_track", "This may still work."))
        )
    return {"reason": reason, "status": status}


def _standing(attempt: _Attempt) -> tuple[str, str]:
    recent = [(said, seen) for _, said, seen in attempt.steps[-4:]]
    fruitless = [said for said, seen in recent if _FRUITLESS.search(seen)]
    if len(fruitless) >= 3:
        return "wrong_path", f"'{fruitless[-1].splitlines()[-1]}' and what came before it brought nothing."
    if household.is_household(attempt.opening):
        view = _view(attempt)
        held = household.type_of(view.holding)
        if view.goal and held and held != view.goal.object:
            return (
                "wrong_path",
                f"It carries the {view.holding}, but the task asks for the {view.goal.object}.",
            )
    if fruitless or len(set(recent)) < len(recent):
        return "deviation", "Something was tried in vain or twice."
    return "on_track", "It is still finding out where things are."


def _diagnosis(attempt: _Attempt, written: str, again: bool, rng: Random) -> dict[str, Any] | None:
    first, *rest = _SENTENCE.split(written.strip())
    if not rest or not attempt.steps:
        return None
    failed = next((step for step in reversed(attempt.steps) if _FRUITLESS.search(step[2])), attempt.steps[-1])
    number = attempt.last + rng.randint(2, 6) if not again and rng.random() < _MISCOUNTS else failed[0]
    done = failed[1].splitlines()[-1] if failed[1] else "nothing"
    return {
        "failed_step": number,
        "expected": f"that '{done}' brings me closer to the goal",
        "observed": (" ".join(failed[2].split()) or "nothing")[:200],
        "deviation_type": _deviation(written.lower()),
        "root_cause": first,
        "correction": " ".join(rest).removeprefix("Next time ").strip(),
        "confidence": round(rng.uniform(0.5, 0.95), 2),
    }


def _deviation(text: str) -> str:
    if "task asks" in text or "only one" in text or "are asked for" in text:
        return "goal_drift"
    if "never found" in text or "had not seen" in text or "no page" in text:
        return "premise_error"
    return "action_error"


def _written(answer: Mapping[str, Any] | None, malformed: float, rng: Random) -> str:
    """Return an answer as it comes: mostly JSON alone."""
    if answer is None:
        return "I cannot tell what went wrong."
    text = json.dumps(answer, ensure_ascii=False, indent=rng.choice((None, 1)))
    if rng.random() < malformed:
        in_words = "; ".join(f"{key} is {value}" for key, value in answer.items())
        return rng.choice(
            (text[: len(text) * 2 // 3], in_words, str(dict(answer)).replace("None", "unknown"))
        )
    if rng.random() < _WRAPPED:
        return rng.choice(
            (f"```json\n{text}\n```", f"Here is what I think:\n{text}", f"<think>Let me see.</think>\n{text}")
        )
    return text
