"""Detects what is missing of a reply that was cut off for lack of room."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

from reflex_bench.envs.base import Action
from reflex_bench.models.base import Reply

Missing = Literal["", "answer", "end", "action"]
"""Of a reply: nothing; all of the answer; the end of its action; an action, in a text that has none yet."""

MAX_ROOM_FOR_TEXT = 2
"""Times that a text without an action is given twice the room: one that has not come to it by then rambles on."""

MORE = "0"
"""A sign behind a text, to see whether more text would change its action: it continues names and numbers alike."""


def missing(reply: Reply, read: Callable[[str], Action] | None = None) -> Missing:
    """Return what is missing of a reply that was cut off; "" for one that ended by itself.

    An action is whole where further text behind it would not change it (`Search[A]`), and may not be where it would
    (`Search[Lake Mer`, `go to cabinet 1`).

    Args:
        reply: as it came.
        read: makes an action of a text; None in roles that do not act, whose texts are of use without their ends.
    """
    if reply.finish != "length":
        return ""
    if reply.is_empty:
        return "answer"
    if reply.calls:
        return "" if _is_json(reply.calls[0].arguments) else "end"
    if read is None:
        return ""
    command = read(reply.text).command
    if command is None:
        return "action"
    return "" if read(reply.text + MORE).command == command else "end"


def wants_room(reply: Reply, given: int, read: Callable[[str], Action] | None = None) -> bool:
    """Return whether a reply is to be asked for again with twice the room.

    Args:
        reply: as it came.
        given: how many times it was asked for again already.
        read: see `missing`.
    """
    what = missing(reply, read)
    return bool(what) and not (what == "action" and given >= MAX_ROOM_FOR_TEXT)


def _is_json(text: str) -> bool:
    try:
        json.loads(text or "{}")
    except (ValueError, RecursionError):
        return False
    return True
