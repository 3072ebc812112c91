"""The ledger: every write that a tool made, or would have made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reflex_bench.envs.tools.business.store import Change

Mode = Literal["real", "held", "released", "undone", "dropped"]
Class = Literal["read", "compensable", "irreversible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A write.

    Attributes:
        index: its place in the ledger, from 0.
        call: by which it came, over all trials of a task.
        tool: the id.
        arguments: of the call.
        answer: the body that the tool answered.
        effect: the class of the tool.
        money: whole cents that it moves; 0 where it moves none.
        mode: `real`, `held` (checked and not done), `released` (held, then done), `undone`, or `dropped` (held and
            never done).
        at: virtual seconds of the call.
        changed: rows that it changed, or would have changed.
        broken: codes of rules that it breaks and that the tool itself does not check.
        undo: the tool that takes it back, with its arguments; None where none does.
        undoes: index of the effect that it takes back; None where it takes none back.
    """

    index: int
    call: int
    tool: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    effect: Class
    money: int
    mode: Mode
    at: int
    changed: tuple[Change, ...]
    broken: tuple[str, ...] = ()
    undo: tuple[str, Mapping[str, Any]] | None = None
    undoes: int | None = None

    @property
    def stands(self) -> bool:
        """Whether it is really done, and not undone."""
        return self.mode in ("real", "released")


@dataclass(frozen=True, slots=True)
class Lock:
    """An account that the risk department locked.

    Attributes:
        account: whose.
        at: virtual seconds.
        call: that was refused once too often.
        effects: in the ledger at that moment.
    """

    account: str
    at: int
    call: int
    effects: int
