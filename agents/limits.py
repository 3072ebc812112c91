"""What ends a trial, and how an episode is put before a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reflex_bench.envs.base import ParsePolicy


@dataclass(frozen=True, slots=True)
class Layout:
    """How an episode is put before a model.

    Attributes:
        text: as one running text (`reflex_bench.envs.text_form.TextForm`), not as the turns of a chat.
        published: in the structure of the published loop (`Prompts.published`), not in ours.
        examples: which worked examples of a type are shown, by their places from 0; None for all.
        example_turns: in a chat, the examples are turns; else they are one message.
        labels: in a chat, thoughts and actions are labelled.
        instruction_last: in a chat, the instruction stands right before the task, not at the beginning.
        prefill: in a chat, the agent's turn is begun for it, where a server goes on with an assistant's turn.
        memory: where reflections stand: before the task, as a directive at the head of the system message, or at the
            end of the last message of every turn, which is not kept.
    """

    text: bool = False
    published: bool = False
    examples: tuple[int, ...] | None = None
    example_turns: bool = True
    labels: bool = True
    instruction_last: bool = False
    prefill: bool = False
    memory: Literal["task", "system", "every_turn"] = "task"


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a trial.

    Attributes:
        max_steps: model turns, thoughts included (ReAct counts `think:` turns, too).
        cycles: a trial is a loop when the same (action, observation) cycle has come more than this many times in a row;
            3 in Reflexion (Shinn et al., 2023, section 4.1).
        parse: how freely completions are read.
        actions: whether actions are written as text, or called as native tools of the chat API.
        same_action: the same turn twice in a row, thoughts included, ends the trial as a loop, whatever was answered.
        ask_again: a turn in which no action can be found is asked for once more.
        layout: how the episode is put before the model.
    """

    max_steps: int
    cycles: int = 3
    parse: ParsePolicy = "repair"
    actions: Literal["text", "tools"] = "text"
    same_action: bool = False
    ask_again: bool = True
    layout: Layout = Layout()
