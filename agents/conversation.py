"""Conversation of one trial, which grows turn by turn and is continued by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reflex_bench.agents.arranging import arranged
from reflex_bench.agents.base import Ask, CallLimit, Limits
from reflex_bench.agents.messages import Writer, format_turn, from_lines
from reflex_bench.agents.reflection.cutting import missing
from reflex_bench.core.errors import ContextOverflow
from reflex_bench.envs.base import (
    Action,
    CallsTools,
    Environment,
    Episode,
    OffersAdmissible,
    Prompts,
    ReadsAdmissible,
)
from reflex_bench.models.base import Message, Reply

ASKED_FOR_ACTION = "asked_for_action"
"""The repair of a turn that came without its action, which was asked for by itself (ReAct's hotpotqa.ipynb)."""
ASKED_ONCE_MORE = "asked_once_more"
"""The repair of a reply in which nothing could be read, so that the turn was asked for once more."""

NO_TOOL_CALL = "no_tool_call"
"""The repair of a reply that was read as text, although tools are to be called."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the agent.

    Attributes:
        reply: the last that came.
        words: the turn as it came, of all replies that it took.
        action: what was read out of it.
    """

    reply: Reply
    words: str
    action: Action


@dataclass
class Conversation:
    """What a model was shown in this trial.

    Attributes:
        environment: reads replies.
        limits: how replies are read, and how the episode is put before the model.
        writer: writes turns.
        messages: so far.
        number: of the agent's next turn, from 1.
        episode: says what is admissible, where replies are read by that.
        reminder: the reflections that every turn is asked for with, where they stand there.
    """

    environment: Environment
    limits: Limits
    writer: Writer
    messages: list[Message] = field(default_factory=list)
    number: int = 1
    episode: Episode | None = None
    reminder: Sequence[str] = ()

    @classmethod
    def opened(
        cls,
        environment: Environment,
        prompts: Prompts,
        limits: Limits,
        task_type: str,
        first: str,
        memory: Sequence[str],
        episode: Episode | None = None,
    ) -> Conversation:
        """Return the conversation up to the agent's first turn.

        Args:
            environment: reads replies.
            prompts: its texts, or those that an agent made of them.
            limits: see there.
            task_type: decides which examples are shown.
            first: what `Episode.reset` returned.
            memory: the reflections shown in this trial, oldest first.
            episode: says what is admissible, where replies are read by that.
        """
        native = limits.actions == "tools"
        tools = environment if native and isinstance(environment, CallsTools) else None
        writer = Writer(arranged(prompts, limits), limits.layout, tools)
        reminder = memory if limits.layout.memory == "every_turn" else ()
        messages = writer.opening(task_type, first, memory)
        return cls(environment, limits, writer, messages, episode=episode, reminder=reminder)

    def ask(self, ask: Ask, step: int) -> Turn:
        """Return the agent's next turn.

        A turn in which no action can be found is asked for once more: its action alone where it has a thought, the
        whole turn where it has not.

        Raises:
            CallLimit, ContextOverflow: not even once could it be asked for.
        """
        first = self._said(ask, step, self.writer.begun(self.number))
        if not self._is_unfinished(first):
            return first
        try:
            return self._once_more(ask, step, first)
        except (CallLimit, ContextOverflow):
            return first

    def add(self, turn: Turn, observation: str) -> None:
        """Takes in a turn and the environment's answer to it."""
        words = format_turn(turn.action, turn.words, self.writer.prompts)
        kept = self.writer.agent_turn(self.number, words, turn.action)
        self.messages += [_thinking(kept, turn.reply), self.writer.seen(self.number, observation, kept)]
        self.number += 1

    def _is_unfinished(self, turn: Turn) -> bool:
        prompts, action = self.writer.prompts, turn.action
        # A reply that no room was left for was given more already, and would end the same way.
        if action.command is not None or action.error == "cut_off":
            return False
        if self.limits.layout.text and prompts.text.two_calls:
            return True
        return self.limits.ask_again and (action.error is not None or prompts.needs_action)

    def _once_more(self, ask: Ask, step: int, first: Turn) -> Turn:
        prompts, action = self.writer.prompts, first.action
        thought = action.thought.partition("\n")[0] if prompts.needs_action and not self.writer.tools else ""
        if not thought:
            again = self._said(ask, step, self.writer.begun(self.number))
            repairs = (*action.repairs, ASKED_ONCE_MORE, *again.action.repairs)
            return replace(again, action=replace(again.action, repairs=repairs))
        begun, asked = self.writer.begun(self.number, thought), []
        if begun is None:
            words = prompts.thought_form.format(thought)
            asked = [Message("assistant", words), Message("user", prompts.thought_observation)]
        more = self._said(ask, step, begun, asked)
        named = () if self.limits.layout.text and prompts.text.two_calls else (ASKED_FOR_ACTION,)
        repairs = (*action.repairs, *named, *more.action.repairs)
        made = Action(thought, more.action.command, more.action.error, repairs)
        return Turn(more.reply, f"{first.words}\n{more.words}", made)

    def _said(self, ask: Ask, step: int, begun: Message | None, asked: Sequence[Message] = ()) -> Turn:
        """Return what comes, read together with what was begun of it."""
        form, limits = self.writer.prompts.text, self.limits
        stop = form.stop if limits.layout.text else self.writer.prompts.stop
        stop = tuple(each.format(n=self.number) for each in stop)
        messages = [*self.messages, *asked]
        if self.reminder:
            messages[-1] = self.writer.reminded(messages[-1], self.reminder)
        reply = ask([*messages, *([begun] if begun else [])], step=step, stop=stop)
        whole = replace(reply, text=self._whole(reply.text, begun))
        return Turn(reply, reply.text, parse_reply(whole, self.environment, limits, self.episode))

    def _whole(self, reply: str, begun: Message | None) -> str:
        """Return the turn in the form of a chat, what was begun for the model included."""
        if begun is None:
            return reply
        text = reply.lstrip(" ")
        for label in (begun.text, begun.content):
            # A model that repeats what was begun for it; `> ` is left to the parser, which names it.
            text = text.removeprefix(label.rpartition("\n")[2]).lstrip(" ") if label[:1].isalpha() else text
        if not self.limits.layout.text:
            return f"{begun.content} {text}"
        return from_lines(f"{begun.text} {text}", self.writer.prompts, self.number)


def parse_reply(
    reply: Reply, environment: Environment, limits: Limits, episode: Episode | None = None
) -> Action:
    """Return the action in a reply: its first native tool call, else what its text says; none where its end is missing.

    Args:
        reply: of the model.
        environment: reads it.
        limits: `parse` says how freely.
        episode: says what is admissible now, where the policy asks for that.
    """
    if missing(reply, lambda text: environment.read_action(text, limits.parse)) in ("answer", "end"):
        return Action(error="cut_off")
    if reply.calls:
        first = reply.calls[0]
        return environment.read_call(first.name, first.arguments, reply.text.strip(), len(reply.calls) - 1)
    if limits.parse == "admissible" and isinstance(environment, ReadsAdmissible):
        admissible = episode.admissible() if isinstance(episode, OffersAdmissible) else ()
        return environment.read_admissible(reply.text, admissible)
    action = environment.read_action(reply.text, limits.parse)
    return replace(action, repairs=(*action.repairs, NO_TOOL_CALL)) if limits.actions == "tools" else action


def _thinking(turn: Message, reply: Reply) -> Message:
    """Return a turn with the reasoning that it came from; whether that is sent back, the role's settings decide."""
    if not (reply.reasoning or reply.reasoning_data):
        return turn
    return replace(turn, reasoning=reply.reasoning_data or reply.reasoning, form=reply.reasoning_form)
