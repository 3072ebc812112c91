"""Builds the messages of a conversation from an episode.

The order is static-first, so that the prefix caches of servers work: instruction, examples, then (in the last user turn
before the agent speaks) the memory and the task, then the turns of this trial, which only ever grow at the end. The
memory stands right before the task, as in Reflexion (Shinn et al., 2023, appendix B).

Each turn is written in the one form that the run asks for: as a message of a chat, as a native tool call and its
result, or as lines of one running text (`reflex_bench.envs.text_form.TextForm`), which then stand in `Message.text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reflex_bench.agents.base import Layout
from reflex_bench.agents.memory.placing import block, directive
from reflex_bench.core.shared_texts import EARLIER_REFLECTIONS, REFLECTION_REQUEST, TASK_HEADER
from reflex_bench.envs.base import Action, CallsTools, Example, Prompts
from reflex_bench.models.base import Message, Role, ToolCall

EXAMPLE_HEADERS = ("Here is an example.", "Here is another example.")
EXAMPLES_END = "These were the examples."
CONTINUED_STOPS = ("\nSTATUS:", f"\n{TASK_HEADER}", "\n> ")
"""Where a reflection or a verdict that continues a text goes over into another episode."""
BLANK_LINE = re.compile(r"\n[ \t]*\n")
AS_A_CHAT = Layout()
UNREADABLE = "(unreadable)"
"""What stands in the conversation for a reply in which nothing could be read."""
MAX_UNREAD_LENGTH = 200
"""Characters of a reply without an action that come back to the model."""
FINISHED = "The task has ended."
"""Answers the last call of an example: servers want every tool call answered."""


def opening(prompts: Prompts, task_type: str, first: str, memory: Sequence[str]) -> tuple[Message, ...]:
    """Return the conversation up to the agent's first turn, as it is put before a chat model unless told otherwise."""
    return tuple(Writer(prompts).opening(task_type, first, memory))


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes turns as messages.

    Attributes:
        prompts: the environment's texts, as `reflex_bench.agents.arranging.arranged` made them.
        layout: how the episode is put before the model.
        tools: makes tool calls of commands; None where actions are text.
    """

    prompts: Prompts
    layout: Layout = AS_A_CHAT
    tools: CallsTools | None = None

    def agent_turn(self, number: int, words: str, action: Action, example: int = 0) -> Message:
        """Return a turn of the agent.

        Args:
            number: of the turn, from 1.
            words: the turn in the form of a chat.
            action: what was read out of it.
            example: the worked example that the turn stands in, from 1; 0 for the trial.
        """
        call = self.tools.as_call(action.command) if self.tools and action.command is not None else None
        if call:
            return Message(
                "assistant", action.thought, call=ToolCall(*call), call_id=_call_id(example, number)
            )
        return Message("assistant", words, text=self._text(as_lines(words, self.prompts, number)))

    def seen(self, number: int, words: str, before: Message) -> Message:
        """Return the environment's answer to a turn."""
        if before.call:
            return Message("tool", words or FINISHED, call_id=before.call_id)
        return Message("user", words, text=self._text(self.prompts.text.observation.format(n=number) + words))

    def begun(self, number: int, thought: str | None = None) -> Message | None:
        """Return the beginning of the agent's next turn, made for it; None where it begins by itself.

        Args:
            number: of the turn, from 1.
            thought: that of the turn, where only its action is missing.
        """
        prompts, form = self.prompts, self.prompts.text
        labels = [each.partition("{}")[0].strip() for each in (prompts.thought_form, prompts.action_form)]
        # Where actions have no label, a turn that is begun as a thought could not be an action any more.
        chat, text = labels[0] if labels[1] else "", form.begin.format(n=number)
        if thought is not None:
            known = prompts.thought_form.format(thought)
            chat = f"{known}\n{labels[1]}".strip()
            text = f"{as_lines(known, prompts, number)}\n{form.begin_action.format(n=number)}"
        if self.layout.text:
            return Message("assistant", chat, text=text)
        return Message("assistant", chat) if self.layout.prefill and chat else None

    def opening(self, task_type: str, first: str, memory: Sequence[str]) -> list[Message]:
        """Return the conversation up to the agent's first turn.

        Args:
            task_type: decides which examples are shown.
            first: what `Episode.reset` returned.
            memory: the reflections shown in this trial, oldest first; with none, the prompt is plain ReAct's.
        """
        prompts, layout = self.prompts, self.layout
        instruction = prompts.instruction
        if memory and layout.memory == "system":
            instruction = f"{directive(memory)}\n\n{instruction}"
        shown = prompts.examples.get(task_type) or prompts.examples.get("", ())
        ordered = shown[::-1] if layout.text and prompts.text.newest_example_first else shown
        examples = [turn for place, each in enumerate(ordered) for turn in self._example(place, each)]
        system = [Message("system", instruction, text=self._text(instruction))]
        if not layout.text and not layout.example_turns and not self.tools:
            examples = [Message("user", as_one_message(ordered))] if ordered else []
        task = self._task(first, memory if layout.memory == "task" else (), bool(ordered))
        if layout.instruction_last and not layout.text:
            system, task = [], Message("user", f"{instruction}\n\n{task.content}")
        return list(merged([*system, *examples, task]))

    def _example(self, place: int, example: Example) -> Iterable[Message]:
        header, text = EXAMPLE_HEADERS[min(place, 1)], self.prompts.text.example_headers[min(place, 1)]
        before: Message | None = None
        for number, (seen, words) in enumerate(example.turns, 1):
            if before is None:
                yield Message("user", f"{header}\n{seen}", text=self._text(text + seen))
            else:
                yield self.seen(number - 1, seen, before)
            action = self.tools.read_action(words, "repair") if self.tools else Action()
            before = self.agent_turn(number, words, action, place + 1)
            yield before
        if before is not None and (example.closing or before.call):
            yield self.seen(len(example.turns), example.closing, before)

    def _task(self, first: str, memory: Sequence[str], after_examples: bool) -> Message:
        form = self.prompts.text
        lines = [form.examples_end] if form.examples_end and after_examples else []
        if memory:
            lines.append(form.memory_header)
            lines += [form.memory_item.format(i=number, text=text) for number, text in enumerate(memory)]
        lines += [form.task_header] if form.task_header else []
        text = self._text("\n".join([*lines, first]))
        before = f"{block(memory)}\n\n" if memory else ""
        return Message("user", f"{before}{TASK_HEADER}\n{first}", text=text)

    def reminded(self, message: Message, memory: Sequence[str]) -> Message:
        """The last message of a conversation with the memory at its end."""
        reminder = block(memory)
        text = self._text(f"{message.text}\n\n{reminder}")
        return replace(message, content=f"{message.content}\n\n{reminder}", text=text)

    def _text(self, words: str) -> str:
        return words if self.layout.text else ""


def format_turn(action: Action, reply: str, prompts: Prompts) -> str:
    """Return the turn as it stays in the conversation: what was read out of the reply, in the form of the examples.

    What the parser cut (an invented observation, a second action) must not come back as context. Of a reply in which no
    action could be found only the beginning of its thought stays, or a placeholder: a model goes on with whatever it
    sees itself write. Never empty: some servers refuse that.
    """
    thought = action.thought
    if action.error is not None:
        thought = thought[:MAX_UNREAD_LENGTH] if _is_prose(thought) else ""
    parts = [prompts.thought_form.format(thought)] if thought else []
    if action.command is not None:
        parts.append(prompts.action_form.format(action.command))
    return "\n".join(parts) or (UNREADABLE if reply.strip() else "(nothing)")


def _is_prose(thought: str) -> bool:
    """Return whether a thought has words, and not the same few over and over."""
    words = re.findall(r"\w{2,}", thought.lower())
    return bool(words) and len(set(words)) * 4 >= len(words)


def _call_id(example: int, number: int) -> str:
    """Nine characters, as some chat templates demand, and used once: some servers refuse the same one twice."""
    return f"c{example:03d}{number:05d}"


def as_lines(words: str, prompts: Prompts, number: int) -> str:
    """Return a turn of the agent as it reads in a running text."""
    begins = prompts.text.lines.items()
    lines = []
    for line in words.splitlines() or [""]:
        chat, text = next(((chat, text) for chat, text in begins if line.startswith(chat)), ("", ""))
        lines.append(text.format(n=number) + line[len(chat) :])
    return "\n".join(lines)


def from_lines(text: str, prompts: Prompts, number: int) -> str:
    """Return a turn in the form of a chat, from how it reads in a running text; the opposite of `as_lines`."""
    begins = [(chat, form.format(n=number)) for chat, form in prompts.text.lines.items()]
    lines = []
    for line in text.splitlines():
        chat, known = next(
            ((chat, form) for chat, form in begins if form and line.startswith(form)), ("", "")
        )
        lines.append(chat + line[len(known) :])
    return "\n".join(lines)


def as_one_message(examples: Sequence[Example]) -> str:
    """Worked examples as one text, the agent's lines marked `> `."""
    texts = []
    for place, example in enumerate(examples):
        lines = [EXAMPLE_HEADERS[min(place, 1)]]
        for seen, words in example.turns:
            lines += [seen, *(f"> {line}" for line in words.splitlines())]
        texts.append("\n".join([*lines, example.closing] if example.closing else lines))
    return "\n\n".join([*texts, EXAMPLES_END])


def merged(turns: Iterable[Message]) -> tuple[Message, ...]:
    """Joins neighbours of one role: some servers refuse two user messages in a row. What tools say is kept apart."""
    out: list[Message] = []
    for turn in turns:
        if out and out[-1].role == turn.role and not (turn.call_id or out[-1].call_id):
            text = "\n".join(filter(None, (out[-1].text, turn.text)))
            out[-1] = Message(turn.role, f"{out[-1].content}\n\n{turn.content}", text=text)
        else:
            out.append(turn)
    return tuple(out)


def reflecting(prompts: Prompts, episode: str, earlier: Sequence[str]) -> tuple[Message, ...]:
    """Return the conversation in which a model is asked what went wrong.

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
    """Return a finished trial as text: the agent's lines marked `> `, then how it ended.

    Args:
        first_observation: what `Episode.reset` returned.
        turns: (completion, observation) pairs.
        status: e.g. `STATUS: FAILED (30 steps used up)`.
    """
    lines = [first_observation]
    for format_turn, seen in turns:
        lines.extend(f"> {line}" for line in format_turn.splitlines() or [""])
        lines.append(seen)
    lines.append(status)
    return "\n".join(lines)
