"""A world: the business of one task, and the only way to change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reflex_bench.envs.tools.business import (
    checking,
    expenses,
    knowledge,
    leniency,
    logistics,
    orders,
    payments,
    production,
    rules,
    stock,
)
from reflex_bench.envs.tools.business.asking import Ask, Function, Refused
from reflex_bench.envs.tools.business.ledger import Effect, Lock
from reflex_bench.envs.tools.business.state import Image, Row
from reflex_bench.envs.tools.business.store import Store
from reflex_bench.envs.tools.controls.schema import first_fault
from reflex_bench.envs.tools.registry import Tool

FUNCTIONS: Mapping[str, Function] = {
    id: function
    for department in (orders, logistics, payments, stock, production, expenses, knowledge)
    for id, function in department.TOOLS.items()
}
"""What every tool does, by its id."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool really says, without any fault.

    Attributes:
        status: of HTTP.
        code: `OK`, or why it refused.
        body: the tool's `returns`, or `code`, `message` and perhaps `field` of a refusal.
    """

    status: int
    code: str
    body: dict[str, Any]


def _refused(status: int, code: str, message: str, field: str = "") -> Answer:
    body = {"code": code, "message": message, **({"field": field} if field else {})}
    return Answer(status, code, body)


class World:
    """The business of one task.

    Attributes:
        store: its tables; only tools write them.
        ledger: of all writes, in order.
        locks: of accounts.
        beyond: numbers of the calls that were made without the right to.
    """

    def __init__(self, start: str, store: Store) -> None:
        self.start, self.store = start, store
        self.ledger: list[Effect] = []
        self.locks: tuple[Lock, ...] = ()
        self.beyond: tuple[int, ...] = ()
        self._keys: dict[str, tuple[str, Answer, int]] = {}

    @classmethod
    def open(cls, image: Image) -> World:
        """Return the world of an image."""
        return cls(image.start, Store.open(image))

    def copy(self) -> World:
        """Return the same world, apart from this one."""
        made = World(self.start, self.store.copy())
        made.ledger, made._keys = list(self.ledger), dict(self._keys)
        made.locks, made.beyond = self.locks, self.beyond
        return made

    def rows(self) -> Mapping[str, tuple[Row, ...]]:
        """Return the state of the business, bookkeeping aside, in an order that does not depend on history."""
        return self.store.rows()

    def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        at: int,
        role: str,
        call: int,
        key: str | None = None,
        held: bool = False,
        lenient: bool = False,
    ) -> Answer:
        """Make a call.

        Args:
            tool: of the registry.
            arguments: as they were sent; anything at all.
            at: virtual seconds.
            role: the account.
            call: its number.
            key: the same key makes the same call harmless, where the tool takes keys.
            held: check it and answer as if it were done, and leave nothing written.
            lenient: take values of another type, and name them in `inconsistent_input`.
        """
        marked: list[str] = []
        if lenient:
            arguments, marked = leniency.taken(arguments, tool.parameters)
        known = self._known(tool, arguments, key)
        if known is not None:
            return known
        answer = self._refusal(tool, arguments, role)
        if answer is None:
            answer = self._done(tool, checking.plain(arguments), at, call, held)
        if answer.status >= 400:
            self._note_refusal(tool, answer, at, role, call)
        elif key is not None and tool.idempotent_with_key:
            self._keys[key] = checking.same(tool, arguments), answer, len(self.ledger) - 1
        if marked and answer.status < 300:
            answer = replace(answer, body={**answer.body, "inconsistent_input": marked})
        return answer

    def _note_refusal(self, tool: Tool, answer: Answer, at: int, role: str, call: int) -> None:
        if answer.code == "FORBIDDEN":
            self.beyond = (*self.beyond, call)
        if tool.effect != "read" and checking.locks(self.store, role, at):
            self.locks = (*self.locks, Lock(role, at, call, len(self.ledger)))

    def _known(self, tool: Tool, arguments: Mapping[str, Any], key: str | None) -> Answer | None:
        """The answer to the same call with the same key."""
        if key is None or key not in self._keys or not tool.idempotent_with_key:
            return None
        same, answer, _ = self._keys[key]
        if same == checking.same(tool, arguments):
            return answer
        return _refused(409, "CONFLICT", "this key was used for another call")

    def _refusal(self, tool: Tool, arguments: Mapping[str, Any], role: str) -> Answer | None:
        """Why a call is refused before anything is looked up."""
        if role not in tool.roles:
            return _refused(403, "FORBIDDEN", f"{tool.id} is not for the role {role:.80}")
        fault = first_fault(arguments, tool.parameters) or checking.unwritable(arguments)
        if fault:
            code, message, field = fault
            return _refused(422, code, message, field)
        if tool.effect != "read" and any(lock.account == role for lock in self.locks):
            return _refused(423, "LOCKED", f"the account {role:.80} is locked by the risk department")
        return None

    def _done(self, tool: Tool, arguments: Mapping[str, Any], at: int, call: int, held: bool) -> Answer:
        if tool.effect == "read":
            return self._run(tool.id, arguments, at, len(self.ledger))
        self.store.mark()
        if held:
            self._as_if_released(at)
        broken = rules.of_call(self.store, tool.id, arguments, at)
        before = self.store.changed
        answer = self._run(tool.id, arguments, at, len(self.ledger))
        changed = self.store.changed[len(before) :]
        if answer.status >= 300 or held:
            self.store.take_back()
        else:
            self.store.keep()
        if answer.status < 300:
            self._enter(
                Effect(
                    index=len(self.ledger),
                    call=call,
                    tool=tool.id,
                    arguments=arguments,
                    answer=answer.body,
                    effect=tool.effect,
                    money=checking.money(tool.id, arguments),
                    mode="held" if held else "real",
                    at=at,
                    changed=changed,
                    broken=tuple(code for code, _ in broken),
                    undo=(tool.undo.tool, tool.undo.resolved(arguments, answer.body)) if tool.undo else None,
                )
            )
        return answer

    def _run(self, tool: str, arguments: Mapping[str, Any], at: int, number: int) -> Answer:
        try:
            body = FUNCTIONS[tool](Ask(self.store, self.start, arguments, at, number))
        except Refused as refused:
            return _refused(refused.status, refused.code, refused.message)
        return Answer(200, "OK", body)

    def _as_if_released(self, at: int) -> None:
        """Do what is held, so that the next held call meets what it would meet."""
        for effect in self.ledger:
            if effect.mode == "held":
                self._run(effect.tool, effect.arguments, at, effect.index)

    def _enter(self, effect: Effect) -> None:
        """Add to the ledger; what the call takes back is marked as undone."""
        if effect.mode == "real":
            for earlier in reversed(self.ledger):
                if (
                    earlier.stands
                    and earlier.undoes is None
                    and earlier.undo == (effect.tool, effect.arguments)
                ):
                    self._mark(earlier, mode="undone")
                    effect = replace(effect, undoes=earlier.index)
                    break
        self.ledger.append(effect)

    def _mark(self, effect: Effect, **changed: Any) -> None:
        self.ledger[effect.index] = replace(self.ledger[effect.index], **changed)

    def release(self, effect: Effect, *, at: int) -> Answer:
        """Do a held call for real. One that fails now is dropped.

        Args:
            effect: of the ledger.
            at: virtual seconds.
        """
        if self.ledger[effect.index].mode != "held":
            return _refused(409, "CONFLICT", f"effect {effect.index} is not held")
        self.store.mark()
        broken = rules.of_call(self.store, effect.tool, effect.arguments, at)
        answer = self._run(effect.tool, effect.arguments, at, effect.index)
        if answer.status >= 300:
            self.store.take_back()
            self.drop(effect)
            return answer
        changed = self.store.keep()
        codes = tuple(code for code, _ in broken)
        self._mark(effect, mode="released", at=at, answer=answer.body, changed=changed, broken=codes)
        return answer

    def drop(self, effect: Effect) -> None:
        """Give a held call up: nothing was written, and its key is free again."""
        if self.ledger[effect.index].mode == "held":
            self._mark(effect, mode="dropped")
            self._keys = {key: known for key, known in self._keys.items() if known[2] != effect.index}

    def undo(self, effect: Effect, *, at: int, call: int) -> Answer:
        """Take a compensable effect back, as the registry says.

        Args:
            effect: of the ledger.
            at: virtual seconds.
            call: number of the call that asked for it.
        """
        effect = self.ledger[effect.index]
        if not effect.stands or effect.undo is None:
            return _refused(
                409, "CONFLICT", f"effect {effect.index} is {effect.mode} and cannot be taken back"
            )
        self.store.mark()
        tool, arguments = effect.undo
        answer = self._run(tool, arguments, at, effect.index)
        if answer.status >= 300:
            self.store.take_back()
            return answer
        self.store.keep()
        self._mark(effect, mode="undone")
        self._keys = {key: known for key, known in self._keys.items() if known[2] != effect.index}
        return answer

    def rehearse(
        self, tool: Tool, arguments: Mapping[str, Any], *, at: int, role: str
    ) -> rules.Broken | None:
        """Return the rule by which a call would be refused, or which it would break; leaves nothing written."""
        if self._refusal(tool, arguments, role) is not None:
            return None
        arguments = checking.plain(arguments)
        self.store.mark()
        self._as_if_released(at)
        found = rules.of_call(self.store, tool.id, arguments, at)
        answer = self._run(tool.id, arguments, at, len(self.ledger))
        self.store.take_back()
        if answer.status == 409:
            return answer.code, str(answer.body["message"])
        return found[0] if found and answer.status < 300 else None
