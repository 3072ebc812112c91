"""Native tools for the three actions, read into the same `Action` as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.envs.base import Action
from reflex_bench.envs.completions.calls import TextCall
from reflex_bench.envs.hotpotqa.parsing.verbs import (
    ARGUMENT_NAMES,
    VERBS,
    checked,
    plain_argument,
    split_command,
    value_of,
    verb_of,
)

_MEANING = {
    "Search": "The title of the page to open, e.g. the name of a person, place or work.",
    "Lookup": "Words to find on the open page; the same words again give the next sentence with them.",
    "Finish": "The answer to the question, as short as possible.",
}
_PURPOSE = {
    "Search": "Open the encyclopedia page with this title, or get a list of similar titles.",
    "Lookup": "Find the next sentence of the open page that contains these words.",
    "Finish": "Give the answer and end the task.",
}


def tools(actions: Sequence[str] = VERBS) -> list[dict[str, Any]]:
    """Tool definitions in the form of the chat completions API, one for each verb."""
    return [
        {
            "type": "function",
            "function": {
                "name": verb,
                "description": _PURPOSE[verb],
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {ARGUMENT_NAMES[verb]: {"type": "string", "description": _MEANING[verb]}},
                    "required": [ARGUMENT_NAMES[verb]],
                    "additionalProperties": False,
                },
            },
        }
        for verb in actions
    ]


def from_tool_call(
    name: str,
    arguments: str | Mapping[str, Any],
    *,
    thought: str = "",
    extra: int = 0,
    actions: Sequence[str] = VERBS,
) -> Action:
    """Return the action of the first tool call of a reply. Never raises.

    Args:
        name: the tool's name; letter case is repaired (`letter_case`).
        arguments: the arguments as the API gives them, JSON text or an object. Where the expected name is missing but
            there is exactly one text, that is taken (`argument_name`).
        thought: the text of the reply beside its calls.
        extra: how many further calls the reply held; they are ignored and counted (`extra_actions`).
        actions: the verbs that are allowed.

    Returns:
        With the error `bad_arguments` where the arguments are no JSON object with the one text that is needed.
    """
    repairs: list[str] = []
    verb = name.strip().capitalize()
    if verb != name:
        repairs.append("letter_case")
    repairs.extend(["extra_actions"] * extra)
    if verb not in actions or verb not in ARGUMENT_NAMES:
        return Action(thought, error="unknown_action", repairs=tuple(repairs))
    value, more = value_of(verb, _object(arguments))
    if value is None:
        return Action(thought, error="bad_arguments", repairs=tuple(repairs))
    repairs.extend(more)
    # Half a surrogate pair is a legal escape in JSON, but no file and no server takes the text it makes.
    argument = value.encode("utf-8", "replace").decode("utf-8")
    return checked(thought, verb, " ".join(argument.split()), actions, repairs)


def from_text_call(
    call: TextCall, thought: str, repairs: Sequence[str], actions: Sequence[str] = VERBS
) -> Action:
    """Return the action of a tool call that was written as text. Never raises.

    Args:
        call: with the name of one of the verbs.
        thought: the text before it; what the call carries as a thought is added.
        repairs: what was done before.
        actions: the verbs that are allowed.

    Returns:
        With the errors of `from_tool_call`.
    """
    thought = "\n".join(filter(None, (thought, call.thought.strip())))
    named = [*repairs, "tool_call", *["extra_actions"] * call.more]
    verb = verb_of(call.name)
    if verb is None:
        return Action(thought, error="unknown_action", repairs=tuple(named))
    value, more = value_of(verb, call.arguments)
    if value is None:
        return Action(thought, error="bad_arguments", repairs=tuple(named))
    value, plain = plain_argument(verb, value.encode("utf-8", "replace").decode("utf-8"), "[")
    return checked(thought, verb, " ".join(value.split()), actions, [*named, *more, *plain])


def as_tool_call(command: str) -> tuple[str, str] | None:
    """Return the tool and its arguments as JSON text, of a command `Verb[argument]`; None where it is none."""
    call = split_command(command)
    if call is None:
        return None
    return call[0], json.dumps({ARGUMENT_NAMES[call[0]]: call[1]}, ensure_ascii=False)


def _object(arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(arguments, Mapping):
        return arguments
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
