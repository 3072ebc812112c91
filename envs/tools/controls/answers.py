"""Controls of what an agent sees of an answer."""

from __future__ import annotations

import json
import re
from typing import Any

from reflex_bench.envs.tools.calls.draws import canonical
from reflex_bench.envs.tools.calls.shapes import dumped, leaves
from reflex_bench.envs.tools.controls.adapters import adapted
from reflex_bench.envs.tools.controls.base import Call, Control, Desk, Outcome, refusal
from reflex_bench.envs.tools.controls.options import Cut, Escape, StateNote

KEPT = ("code", "status", "error", "message", "field", "cached", "age_seconds")
"""Fields of an answer that are never cut."""
PERSON = "A person can be had at any time: say so, and somebody will take over."
_ID = re.compile(r"\b[A-Z]{2,6}-\d{2,12}\b")
_WORD = re.compile(r"\w{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_MAX_ENCODED = 200
"""Characters of an unbroken run of base64 from which on it is a picture, or the like."""
_ENCODED = re.compile(rf"[A-Za-z0-9+/=]{{{_MAX_ENCODED},}}")


class Clean(Control):
    """Values are written as the registry says: dates by ISO 8601, amounts as numbers; prose around them is dropped."""

    name = "clean"
    prospective = False

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`."""
        if call.tool is None or not isinstance(outcome.body, dict) or outcome.failed:
            return outcome
        mended, names = adapted(outcome.body, call.tool.returns)
        prose = [name for name in mended if name in ("note", "log") and name not in _fields(call)]
        if not names and not prose:
            return outcome
        desk.spoke(self.name, call)
        outcome.body = {name: each for name, each in mended.items() if name not in prose}
        outcome.text = dumped(outcome.body)
        return outcome


def _fields(call: Call) -> Any:
    return call.tool.returns.get("properties", {}) if call.tool else {}


class Conflicts(Control):
    """The same fact from two tools is compared; a difference is told, with the system of record."""

    name = "conflicts"
    prospective = False

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Any, str]] = {}

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`. Facts are the same where the call named the same things."""
        tool = call.tool
        if tool is None or not isinstance(outcome.body, dict) or outcome.failed:
            return outcome
        records = {fact: each.id for each in desk.registry.tools.values() for fact in each.record}
        about = canonical({name: each for name, each in call.arguments.items() if isinstance(each, str)})
        for fact in sorted(records.keys() & outcome.body.keys()):
            value, key = outcome.body[fact], (fact, about)
            known = self._known.setdefault(key, (value, tool.id))
            if known[0] != value and known[1] != tool.id:
                desk.spoke(self.name, call)
                outcome.remarks.append(
                    f"[{fact} differs: {known[0]!r} by {known[1]}, {value!r} by {tool.id}; "
                    f"the system of record is {records[fact]}]"
                )
            if tool.id == records[fact]:
                self._known[key] = (value, tool.id)
        return outcome


class Short(Control):
    """Long answers are cut by meaning, so that they stay JSON and keep what matters."""

    name = "cut"
    prospective = False

    def __init__(self, numbers: Cut) -> None:
        self._numbers = numbers

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`."""
        if len(outcome.text) <= self._numbers.longest:
            return outcome
        body = outcome.body
        before = len(outcome.text)
        if isinstance(body, dict):
            outcome.body = {**self._smaller(body, desk.text), "truncated": True}
            outcome.text = dumped(outcome.body)
        else:
            outcome.text = self._nearest(outcome.text, desk.text)[: self._numbers.longest] + " [truncated]"
        outcome.cut = before - len(outcome.text)
        desk.spoke(self.name, call)
        desk.counts["cut_characters"] += outcome.cut
        return outcome

    def _smaller(self, value: Any, task: str) -> Any:
        if isinstance(value, dict):
            return {name: each if name in KEPT else self._smaller(each, task) for name, each in value.items()}
        if isinstance(value, list):
            return [self._smaller(each, task) for each in self._ends(value)]
        if isinstance(value, str) and len(value) > self._numbers.longest // 4:
            return self._nearest(value, task)
        return value

    def _ends(self, items: list[Any]) -> list[Any]:
        """The first and the last few, and the newest of all where they have times."""
        most = self._numbers.items
        if len(items) <= 2 * most:
            return items
        newest = max(range(len(items)), key=lambda place: (_newest(items[place]), place))
        kept = sorted({*range(most), *range(len(items) - most, len(items)), newest})
        return [items[place] for place in kept]

    def _nearest(self, text: str, task: str) -> str:
        """The sentences with most words of the task, in their order; no encoded picture is one."""
        text = _ENCODED.sub(lambda run: f"[{len(run[0])} characters of encoded data]", text)
        wanted = {word.lower() for word in _WORD.findall(task)}
        parts = [part for part in _SENTENCE.split(text) if part.strip()]
        score = {
            place: len(wanted & {w.lower() for w in _WORD.findall(part)}) for place, part in enumerate(parts)
        }
        best = sorted(score, key=lambda place: (-score[place], place))[: self._numbers.sentences]
        return " ".join(parts[place][: self._numbers.longest // 2] for place in sorted(best))


def _newest(item: Any) -> str:
    times = [each for _, each in leaves(item) if isinstance(each, str) and _MOMENT.match(each)]
    return max(times, default="")


class Note(Control):
    """Each answer ends with what is open: the ids in work, the last tool and the last finding."""

    name = "state_note"
    prospective = False

    def __init__(self, numbers: StateNote) -> None:
        self._numbers = numbers
        self._ids: dict[str, int] = {}

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`."""
        now, keep = desk.clock.seconds, self._numbers.minutes * 60
        for id in _ID.findall(json.dumps(call.given, ensure_ascii=False, default=str)):
            self._ids.pop(id, None)
            self._ids[id] = now
        self._ids = {id: at for id, at in self._ids.items() if now - at <= keep}
        found = " ".join((outcome.error_type or outcome.text).split())[: self._numbers.longest]
        asked = " ".join(desk.text.split())[: self._numbers.longest]
        ids = ", ".join(list(self._ids)[-5:]) or "none"
        outcome.remarks.append(f"[open: {asked} · ids: {ids} · last: {call.id}: {found}]")
        desk.spoke(self.name, call)
        return outcome


class Exit(Control):
    """The agent may give up to a person, and must after some refused calls in a row."""

    name = "escape"
    prospective = False

    def __init__(self, numbers: Escape) -> None:
        self._numbers = numbers
        self._refused = 0

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """See `Control`."""
        self._refused = self._refused + 1 if outcome.refused_by else 0
        if self._refused >= self._numbers.refused:
            outcome.remarks.append(
                f"[{self._refused} calls in a row were refused: answer with hand_over now]"
            )
        return outcome

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """See `Control`. Beyond that many refusals no tool is called any more."""
        if self._refused < self._numbers.refused:
            return None
        return refusal(self.name, "HAND_OVER", "too many calls were refused; answer with hand_over")

    def refuse_end(self, name: str, desk: Desk) -> str:
        """See `Control`."""
        if name != "respond" or self._refused < self._numbers.refused:
            return ""
        desk.counts["escape_spoke"] += 1
        return "too many calls were refused; answer with hand_over"

    def reply(self, message: str, desk: Desk) -> str:
        """See `Control`."""
        return f"{message}\n{PERSON}"
