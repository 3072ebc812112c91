"""Simulated model: a deterministic stand-in behind the interface of a chat model. It is no language model.

It exists to try the harness, to test it and to load it. It sees only the messages, the temperature and the
seed of a request, and answers only text: no state of an environment, no gold answer, no knowledge of which
arm it serves. It plays imperfectly on purpose, writes reflections from the trajectory in its prompt, and
acts on reflections that it is shown.

With a temperature of 0 the same messages get the same reply; above 0 the seed decides how a trial is
played.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.core.shared_texts import (
    DIRECTIVE_HEADER,
    EARLIER_REFLECTIONS,
    HISTORY_HEADER,
    MEMORY_HEADER,
    REFLECTION_REQUEST,
    TASK_HEADER,
)
from reflex_bench.models.base import (
    CHARACTERS_PER_TOKEN,
    Message,
    Model,
    Reply,
    Request,
    Usage,
    characters_of,
    characters_of_tools,
)
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.simulated import household, judge, questions
from reflex_bench.models.simulated import household_notes as notes
from reflex_bench.models.simulated import household_view as view
from reflex_bench.models.simulated import questions_notes as question_notes
from reflex_bench.models.simulated import questions_review as question_review
from reflex_bench.models.simulated import questions_view as question_view

VERSION = "1"
"""Token counts are estimated at this many characters a token, and said to be."""

UNKNOWN = "I do not know this kind of conversation."
"""What it answers where it cannot tell what is wanted."""

_UNTIDY = 0.08


def create(name: str, options: ModelOptions) -> Model:
    """Return the model of the name `simulated`; it has no endpoint, so none of the options concerns it.

    Args:
        name: what stands behind `simulated/`: nothing.
        options: not looked at.

    Raises:
        UsageError: something stands there.
    """
    if name:
        raise UsageError(f"there is one simulated model, `simulated`; not {name!r}")
    return SimulatedModel()


class SimulatedModel:
    """See the module. Implements `reflex_bench.models.base.Model`; it keeps nothing between calls."""

    simulated = True
    plays = ("alfworld", "hotpotqa")
    """The environments whose conversations it knows; a model without this attribute may be asked about any."""

    def __init__(self, name: str = "simulated") -> None:
        self.name = name

    def check(self) -> Sequence[str]:
        """Return no warning: nothing can be wrong with it."""
        return ()

    def complete(self, request: Request) -> Reply:
        """Return one reply."""
        text = answer(request)
        cut = min((text.find(stop) for stop in request.stop if stop in text), default=len(text))
        text, longest = text[:cut], request.max_tokens * CHARACTERS_PER_TOKEN
        lengths = [*map(characters_of, request.messages), characters_of_tools(request.tools)]
        usage = Usage(sum(map(estimate, lengths)), estimate(len(text[:longest])))
        return Reply(text[:longest], usage, "length" if len(text) > longest else "stop", model=self.name)

    def cost(self, usage: Usage) -> float | None:
        """Return None: its tokens are estimates, and nobody sells them."""
        return None

    def settings(self) -> Mapping[str, Any]:
        """Its version, and that its token counts are estimates."""
        return {
            "simulated": True,
            "version": VERSION,
            "tokens": f"estimated, {CHARACTERS_PER_TOKEN} characters each",
        }

    def close(self) -> None:
        """Do nothing: there is nothing to free."""


def estimate(characters: int) -> int:
    """About how many tokens a text of this length has."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def answer(request: Request) -> str:
    """Return the text of the reply, from the messages, the temperature and the seed alone."""
    last = request.messages[-1].content.rstrip() if request.messages else ""
    asked = judge.question(request.messages)
    if asked:
        again = sum(message.role == "user" for message in request.messages) > 1
        rng = _dice(request, asked, str(len(request.messages)))
        return judge.reply(asked, again, lambda prompt: _reflection(prompt, request), rng)
    if last.endswith(REFLECTION_REQUEST):
        # Asked once more, the attempt stands in the first question.
        told = [message.content.rstrip() for message in request.messages if TASK_HEADER in message.content]
        return _reflection(told[0] if told else last, request)
    for position in range(len(request.messages) - 1, -1, -1):
        message = request.messages[position]
        if message.role == "user" and TASK_HEADER in message.content:
            before, _, opening = message.content.rpartition(TASK_HEADER)
            memory, turns = _memory(before, opening, request.messages[position + 1 :], request)
            opening, begun = opening.partition(f"\n\n{MEMORY_HEADER}")[0], ""
            if turns and turns[-1].role == "assistant":
                turns, begun = turns[:-1], turns[-1].content.rpartition("\n")[2]
            return _from(begun, _turn(opening.strip(), memory, turns, request))
    return UNKNOWN


def _memory(
    before: str, opening: str, turns: Sequence[Message], request: Request
) -> tuple[str, Sequence[Message]]:
    """What it is reminded of, wherever that stands, and the turns without it."""
    if MEMORY_HEADER in before:
        return before.rpartition(MEMORY_HEADER)[2], turns
    told = next((each.content for each in request.messages if each.role == "system"), before)
    if DIRECTIVE_HEADER in told:
        lines = told.partition(DIRECTIVE_HEADER)[2].partition("\n\n")[0].strip().splitlines()
        return "".join(f"\n- {line.partition('. ')[2]}" for line in lines) + "\n\n", turns
    if MEMORY_HEADER in opening:
        return opening.rpartition(MEMORY_HEADER)[2] + "\n\n", turns
    found = [number for number, each in enumerate(turns) if f"\n\n{MEMORY_HEADER}" in each.content]
    if not found:
        return "", turns
    words, _, memory = turns[found[-1]].content.rpartition(f"\n\n{MEMORY_HEADER}")
    kept = [*turns]
    kept[found[-1]] = replace(turns[found[-1]], content=words)
    # As it reads before the task: the same words have the same effect wherever they stand.
    return f"{memory}\n\n", kept


def _turn(opening: str, memory: str, turns: Sequence[Message], request: Request) -> str:
    asked = question_view.is_question(opening)
    if not asked and not view.is_household(opening):
        return UNKNOWN
    said = [_words(message) for message in turns if message.role == "assistant"]
    seen = [message.content for message in turns if message.role in ("user", "tool")]
    rng = _dice(request, opening, memory, str(len(said)))
    spoken = zip(said, seen, strict=False)
    if asked:
        known = question_notes.read_notes(memory)
        tools = bool(request.tools)
        aloud, alone = tools or _told("thought", request), not (tools or _told("Search[", request))
        return questions.turn(question_view.read_view(opening, spoken), known, rng, aloud, alone)
    return _untidy(household.turn(view.read_view(opening, spoken), notes.read(memory), rng), rng)


def _from(begun: str, reply: str) -> str:
    """Return a reply from behind what was begun of it (`Thought:`, `Action:`).

    The whole where it has nothing of the kind.
    """
    _, found, rest = f"\n{reply}".partition(f"\n{begun} ") if begun else ("", "", "")
    return rest if found else reply


def _words(turn: Message) -> str:
    """Return a turn as a reader of text sees it, its tool call included."""
    if turn.call is None:
        return turn.content
    arguments = json.loads(turn.call.arguments)
    return f"Thought: {turn.content}\nAction: {turn.call.name}[{next(iter(arguments.values()), '')}]"


def _told(mark: str, request: Request) -> bool:
    """Return whether the instruction (without one, any message) has a word that tells what kind of turn is wanted."""
    told = [message for message in request.messages if message.role == "system"] or request.messages
    return any(mark.lower() in message.content.lower() for message in told)


def _reflection(prompt: str, request: Request) -> str:
    episode = (
        prompt.removesuffix(REFLECTION_REQUEST)
        .rpartition(TASK_HEADER)[2]
        .partition(HISTORY_HEADER)[0]
        .strip()
    )
    episode, _, earlier = episode.partition(EARLIER_REFLECTIONS)
    asked = question_view.is_question(episode)
    if not asked and not view.is_household(episode):
        return UNKNOWN
    opening, turns, status = _parse_episode(episode)
    known = [line.removeprefix("- ") for line in earlier.splitlines() if line.startswith("- ")]
    if asked:
        tried = question_view.read_view(opening, turns)
        # The note is no part of what was read; with it, the dice would fall otherwise than without.
        rng = _dice(request, episode.replace(question_view.WHOLE_PAGE, ""))
        return question_review.write(tried, status, known, rng)
    return notes.write(view.read_view(opening, turns), status, known, _dice(request, episode))


def _parse_episode(text: str) -> tuple[str, list[tuple[str, str]], str]:
    """First observation, (said, seen) pairs and the last line of a trial told as text."""
    opening: list[str] = []
    turns: list[tuple[list[str], list[str]]] = []
    *lines, status = text.strip().splitlines() or [""]
    answered = True
    for line in lines:
        if line.startswith(">"):
            if answered:
                turns.append(([], []))
            turns[-1][0].append(line)
            answered = False
        else:
            (turns[-1][1] if turns else opening).append(line)
            answered = True
    return "\n".join(opening), [("\n".join(said), "\n".join(seen)) for said, seen in turns], status


def _dice(request: Request, *parts: str) -> Random:
    """Chance that is the same for the same text, and at a temperature above 0 differs from seed to seed."""
    return Random("\x1f".join((*parts, str(request.seed) if request.temperature > 0 else "greedy")))


def _untidy(reply: str, rng: Random) -> str:
    """Now and then a reply as real models write them."""
    if rng.random() >= _UNTIDY or reply.startswith("think:"):
        return reply
    return rng.choice(
        (f"> {reply}", f"OK.\n{reply}", f"{reply}.", f"Action: {reply}", f"{reply}\nYou see what you need.")
    )
