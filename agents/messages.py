"""How an episode becomes a conversation.

The order is static-first, so that the prefix caches of servers work: instruction, examples, then (in the last user turn
before the agent speaks) the memory and the task, then the turns of this trial, which only ever grow at the end. The
memory stands right before the task, as in Reflexion (Shinn et al., 2023, appendix B).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reflex_bench.envs.base import Prompts
from reflex_bench.models.base import Message, Role

TASK_HEADER = "Here is your task."
MEMORY_HEADER = "This is what you wrote down after earlier, failed attempts, oldest first:"
EXAMPLE_HEADERS = ("Here is an example.", "Here is another example.")
REFLECTION_REQUEST = "Reflection:"
CONTINUED_STOPS = ("\nSTATUS:", f"\n{TASK_HEADER}", "\n> ")
"""Where a reflection or a verdict that continues a text goes over into another episode."""
BLANK_LINE = re.compile(r"\n[ \t]*\n")
EARLIER_REFLECTIONS = "What you wrote down after still earlier attempts at this task:"


def opening(
    prompts: Prompts, task_type: str, first_observation: str, memory: Sequence[str]
) -> tuple[Message, ...]:
    """The conversation up to the agent's first turn.

    Args:
        prompts: the environment's texts.
        task_type: decides which examples are shown.
        first_observation: what `Episode.reset` returned.
        memory: the reflections shown in this trial, oldest first; with none, the prompt is plain ReAct's.
    """
    turns: list[Message] = [Message("system", prompts.instruction)]
    examples = prompts.examples.get(task_type) or prompts.examples.get("", ())
    for number, example in enumerate(examples):
        header = EXAMPLE_HEADERS[min(number, 1)]
        for index, (seen, said) in enumerate(example.turns):
            turns.append(Message("user", f"{header}\n{seen}" if index == 0 else seen))
            turns.append(Message("assistant", said))
        if example.closing:
            turns.append(Message("user", example.closing))
    turns.append(Message("user", f"{_memory_block(memory)}{TASK_HEADER}\n{first_observation}"))
    return merged(turns)


def _memory_block(memory: Sequence[str]) -> str:
    if not memory:
        return ""
    return MEMORY_HEADER + "".join(f"\n- {text}" for text in memory) + "\n\n"


def merged(turns: Iterable[Message]) -> tuple[Message, ...]:
    """Joins neighbours of one role: some servers refuse two user messages in a row."""
    out: list[Message] = []
    for turn in turns:
        if out and out[-1].role == turn.role:
            out[-1] = Message(turn.role, f"{out[-1].content}\n\n{turn.content}")
        else:
            out.append(turn)
    return tuple(out)


def reflecting(prompts: Prompts, episode: str, earlier: Sequence[str]) -> tuple[Message, ...]:
    """The conversation in which a model is asked what went wrong.

    Args:
        prompts: the environment's texts.
        episode: the failed trial as text, from `transcript`.
        earlier: what was written after earlier trials of this task, oldest first.
    """
    parts = [
        f"{text}\n\n{REFLECTION_REQUEST} {reflection}" for text, reflection in prompts.reflection_examples
    ]
    if earlier:
        episode += f"\n\n{EARLIER_REFLECTIONS}" + "".join(f"\n- {text}" for text in earlier)
    parts.append(f"{TASK_HEADER}\n{episode}\n\n{REFLECTION_REQUEST}")
    role: Role = "user"
    return (Message("system", prompts.reflection_instruction), Message(role, "\n\n".join(parts)))


def transcript(first_observation: str, turns: Iterable[tuple[str, str]], status: str) -> str:
    """A finished trial as text: the agent's lines marked `> `, then how it ended.

    Args:
        first_observation: what `Episode.reset` returned.
        turns: (completion, observation) pairs.
        status: e.g. `STATUS: FAILED (30 steps used up)`.
    """
    lines = [first_observation]
    for said, seen in turns:
        lines.extend(f"> {line}" for line in said.splitlines() or [""])
        lines.append(seen)
    lines.append(status)
    return "\n".join(lines)
