"""Form of an episode as one running text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TextForm:
    """How an episode is written as one running text, for models that continue a text (`--api completions`).

    The defaults are for an environment that states no form: every line of the agent behind `> `, as in the ALFWorld
    prompts of ReAct (Yao et al., 2023, appendix C.2). In the texts, `{n}` stands for the number of the turn, from 1.

    Attributes:
        lines: how a line of the agent begins here, by how it begins in a chat; the first that fits counts.
        observation: with what an answer of the environment begins.
        begin: with what the agent's next turn is begun for the model.
        begin_action: with what the action is begun that a turn lacks; "" where a turn is one line.
        stop: where a reply ends.
        two_calls: the thought and the action of a turn are asked for one after the other, which is then no repair.
        instruction, act_instruction: instead of those of `Prompts`; "" for the same.
        example_headers: what stands before the first example, and before each further one, line break included.
        examples_end: what stands after the last example; "" for nothing.
        newest_example_first: the examples in the opposite order.
        memory_header: what stands before the memory.
        memory_item: one entry of it, with `{i}` (from 0) and `{text}`.
        task_header: what stands before the task; "" for nothing.
    """

    lines: Mapping[str, str] = field(default_factory=lambda: {"": "> "})
    observation: str = ""
    begin: str = ">"
    begin_action: str = ""
    stop: tuple[str, ...] = ("\n>",)
    two_calls: bool = False
    instruction: str = ""
    act_instruction: str = ""
    example_headers: tuple[str, str] = ("\nHere is an example.\n", "\nHere is another example.\n")
    examples_end: str = ""
    newest_example_first: bool = False
    memory_header: str = "\nThis is what you wrote down after earlier, failed attempts, oldest first:"
    memory_item: str = "- {text}"
    task_header: str = "\nHere is your task."
