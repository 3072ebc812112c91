"""Asks a model for JSON of a given shape.

A reply that has another shape is data: the model is told what is wrong and asked once more, then the question is given
up and the replies are counted. What surrounds the JSON (reasoning, a code fence, prose) is tolerated and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from reflex_bench.agents.base import Ask, CallLimit
from reflex_bench.agents.messages import BLANK_LINE, CONTINUED_STOPS
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.core.reasoning_marks import REASONING_CLOSES, REASONING_OPENS
from reflex_bench.models.base import Message

Shape = TypeVar("Shape", bound=BaseModel)

ASKED_AGAIN = (
    "That is no usable answer: {problem}. Answer again with the JSON object alone, nothing around it."
)
MAX_CALLS = 2
"""Of one question."""

# Every failure costs one pass over the rest of the reply, so that a bound on them keeps reading linear in its length.
_MAX_FAILURES = 20
_MAX_ECHO_LENGTH, _MAX_PROBLEM_LENGTH = 2000, 300
_REASONING = re.compile(
    rf"\s*(?:{REASONING_OPENS}|<\|channel\|>\s*(?:analysis|commentary)\b)",
    re.IGNORECASE,
)
# The channels are those of OpenAI's harmony format.
_REASONING_END = re.compile(
    rf"{REASONING_CLOSES}|<\|channel\|>\s*final\s*(?:<\|message\|>)?",
    re.IGNORECASE,
)
_MARKS = re.compile(r"<\|(?:start|end|return|message|channel|im_end|eot_id|endoftext)\|>(?:assistant\b)?")
_FENCE = re.compile(r"(?:```|~~~)[\w-]*")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Shape]):
    """What became of a question.

    Attributes:
        value: None where it was given up.
        text: the last reply, as it came.
        malformed: replies that held no JSON of the shape.
        repairs: what the last reply had apart from the JSON: `reasoning_block`, `code_fence`, `surrounding_text`,
            `extra_keys`, `run_on`.
    """

    value: Shape | None
    text: str
    malformed: int = 0
    repairs: tuple[str, ...] = ()


def ask_json(
    ask: Ask, messages: Sequence[Message], shape: type[Shape], step: int, continued: bool = False
) -> Answer[Shape]:
    """Asks for an object of a shape, and once more if the reply has none.

    Args:
        ask: the model.
        messages: the conversation; it has to say which keys are wanted.
        shape: what the object is checked against; keys that it does not know are dropped.
        step: see `Ask`.
        continued: whether the model continues a text: its reply then ends at the first blank line after the object.

    Raises:
        CallLimit, ContextOverflow: the first of the two could not be asked at all.
    """
    stop = CONTINUED_STOPS if continued else ()
    text = ask(messages, step=step, stop=stop).text
    answer, problem = _read(text, shape, continued)
    if answer.value is not None:
        return answer
    objection = ASKED_AGAIN.format(problem=problem)
    if continued:
        # A text is gone on with where its last line says what comes next, as in the first question.
        objection += "\n\n" + messages[-1].content.rpartition("\n")[2]
    again = [*messages, Message("assistant", echo(text)), Message("user", objection)]
    try:
        second, _ = _read(ask(again, step=step, stop=stop).text, shape, continued)
    except (CallLimit, ContextOverflow):
        return Answer(None, text, 1)
    return Answer(second.value, second.text, 1 + (second.value is None), second.repairs)


def echo(reply: str) -> str:
    """Return a reply as its model is shown it: of bounded length, and never empty, which some servers refuse."""
    return reply.strip()[:_MAX_ECHO_LENGTH] or "(nothing)"


def after_reasoning(reply: str) -> str:
    """Return a reply without the reasoning before it (`<think>…</think>` and its like); "" where that has no end."""
    *_, ended = (None, *_REASONING_END.finditer(reply))
    if ended:
        return _MARKS.sub("", reply[ended.end() :])
    return "" if _REASONING.match(reply) else _MARKS.sub("", reply)


def _read(text: str, shape: type[Shape], continued: bool) -> tuple[Answer[Shape], str]:
    """Return the last object in a reply that has the shape, or what is wrong with the last that has not.

    Behind a blank line, a text that is continued holds objects about other attempts, which the model invents.
    """
    body = after_reasoning(text)
    if not body and text:
        return Answer(None, text, 1), "there is nothing in it but reasoning"
    repairs = ["reasoning_block"] * (len(body) < len(text))
    value, around, extra, problem = None, body, False, "it holds no JSON object"
    for start, end, found in _objects(body):
        known = {key: part for key, part in found.items() if key in shape.model_fields}
        try:
            # Half a surrogate pair is a legal escape in JSON, but no file and no server takes the text it makes.
            known = json.loads(json.dumps(known, ensure_ascii=False).encode("utf-8", "replace"))
            value = shape.model_validate(known)
        except ValidationError as error:
            problem = _explain(error)
        except RecursionError:
            problem = "it is nested too deep"
        else:
            around, extra = body[:start] + body[end:], len(known) < len(found)
            if continued and (blank := BLANK_LINE.search(body, end)):
                around = body[:start] + body[end : blank.start()]
                repairs += ["run_on"] * bool(body[blank.end() :].strip())
                break
    if value is None:
        return Answer(None, text, 1), problem
    bare = _FENCE.sub("", around)
    repairs += ["code_fence"] * (bare != around) + ["surrounding_text"] * bool(bare.strip())
    repairs += ["extra_keys"] * extra
    return Answer(value, text, 0, tuple(repairs)), ""


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (start, end, object) of the JSON objects in a text; objects inside of one are not told apart."""
    decoder, position, failures = json.JSONDecoder(), 0, 0
    while failures < _MAX_FAILURES and (start := text.find("{", position)) >= 0:
        try:
            found, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures, position = failures + 1, start + 1
        else:
            yield start, position, found


def _explain(error: ValidationError) -> str:
    """Return what is wrong, without the values: those are the model's."""
    parts = [
        f"{'.'.join(map(str, detail['loc'])) or 'the object'}: {detail['msg'][0].lower()}{detail['msg'][1:]}"
        for detail in error.errors(include_url=False, include_input=False)
    ]
    return "; ".join(parts)[:_MAX_PROBLEM_LENGTH]
