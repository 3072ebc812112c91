"""The three actions as native tools of chat APIs, and the way from a tool call to the same `Action` as from text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.envs.base import Action
from reflex_bench.envs.hotpotqa.actions import VERBS, checked

_ARGUMENTS = {
    "Search": ("entity", "The title of the page to open, e.g. the name of a person, place or work."),
    "Lookup": (
        "keyword",
        "Words to find on the open page; the same words again give the next sentence with them.",
    ),
    "Finish": ("answer", "The answer to the question, as short as possible."),
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
                    "properties": {
                        _ARGUMENTS[verb][0]: {"type": "string", "description": _ARGUMENTS[verb][1]}
                    },
                    "required": [_ARGUMENTS[verb][0]],
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
    """The action of the first tool call of a reply. Never raises.

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
    if verb not in actions or verb not in _ARGUMENTS:
        return Action(thought, error="unknown_action", repairs=tuple(repairs))
    values = _object(arguments)
    value = values.get(_ARGUMENTS[verb][0])
    if value is None:
        texts = [item for item in values.values() if isinstance(item, str)]
        value = texts[0] if len(texts) == 1 else None
        repairs.append("argument_name")
    if not isinstance(value, str):
        return Action(
            thought, error="bad_arguments", repairs=tuple(r for r in repairs if r != "argument_name")
        )
    # Half a surrogate pair is a legal escape in JSON, but no file and no server takes the text it makes.
    argument = value.encode("utf-8", "replace").decode("utf-8")
    return checked(thought, verb, " ".join(argument.split()), actions, repairs)


def _object(arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(arguments, Mapping):
        return arguments
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
