"""What a control is: what it sees of a call, and what it may do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.calls.channel import Response
from reflex_bench.envs.tools.calls.clock import Clock
from reflex_bench.envs.tools.calls.error_types import error_type
from reflex_bench.envs.tools.registry import Registry, Tool

Check = Callable[[World, Tool, Mapping[str, Any], int, str], "tuple[str, str] | None"]
"""Code and message of the business rule that a call would break: by world, tool, arguments, time and role."""


@dataclass
class Call:
    """A call of the agent on its way.

    Attributes:
        number: in this trial, from 1.
        id: what the agent called.
        tool: the registered tool; None where there is none.
        arguments: as they stand now; controls may change them.
        given: as the agent gave them.
        key: makes a repeat harmless.
        held: check and answer, and leave nothing written.
        spoke: names of the controls that did something about it.
    """

    number: int
    id: str
    tool: Tool | None
    arguments: dict[str, Any]
    given: Mapping[str, Any]
    key: str | None = None
    held: bool = False
    spoke: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """What came of a call, as the agent is to see it.

    Attributes:
        status: of HTTP; None where no answer came; 0 where a control refused the call.
        text: the body as the agent sees it.
        body: what the text is the JSON of; None for none.
        layer: at which an answer of 2xx was found to be no success.
        refused_by: the control that refused it; "" where none did.
        response: what came over the wire; None where nothing was sent.
        tries: how often it was sent.
        cut: characters that were left out.
        remarks: lines of controls after the answer.
    """

    status: int | None
    text: str
    body: Any = None
    layer: str = ""
    refused_by: str = ""
    response: Response | None = None
    tries: int = 0
    cut: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def error_type(self) -> str:
        """What it is called; "" for a success, as far as anybody noticed."""
        if self.refused_by:
            return error_type(400, self.body)
        return error_type(self.status, self.body, self.layer)

    @property
    def failed(self) -> bool:
        """Whether it is known to have failed."""
        return bool(self.error_type)


@dataclass
class Desk:
    """Everything about a trial that a control may look at.

    Attributes:
        task: the id.
        text: the message that began it.
        role: whose rights.
        registry, world, clock: of the trial.
        check: the business rules that a write would break, before it is made.
        fresh: index of the first effect in the ledger that is of this trial.
        counts: what stands on the row: `NAME_spoke`, `NAME_right`, and what else a control counts.
        price: what calls cost so far.
        minutes: of people.
        done: calls that went out in this trial.
        renamed: old and new name of a field, by the tool that told so.
    """

    task: str
    text: str
    role: str
    registry: Registry
    world: World
    clock: Clock
    check: Check
    fresh: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    price: float = 0.0
    minutes: int = 0
    done: int = 0
    renamed: dict[str, tuple[str, str]] = field(default_factory=dict)

    def parameters(self, tool: Tool) -> Mapping[str, Any]:
        """Return the schema of a tool's arguments, with the new names of fields that its answers told in this trial."""
        old, new = self.renamed.get(tool.id, ("", ""))
        if not old:
            return tool.parameters
        named = {new if name == old else name: each for name, each in tool.parameters["properties"].items()}
        required = [new if name == old else name for name in tool.parameters.get("required", ())]
        return {**tool.parameters, "properties": named, "required": required}

    def spoke(self, control: str, call: Call, right: bool | None = None) -> None:
        """Count that a control did something about a call, and whether that was right where it can be told."""
        if control not in call.spoke:
            call.spoke.append(control)
        self.counts[f"{control}_spoke"] += 1
        if right is not None:
            self.counts[f"{control}_right"] += right


class Control:
    """A safeguard. Every method does nothing unless a control has its own.

    Attributes:
        name: as in the configuration.
        prospective: whether a refusal or a change is judged on a copy of the world.
    """

    name = ""
    prospective = True

    def before(self, call: Call, desk: Desk) -> Outcome | None:
        """Refuse a call (what the agent sees instead), change it, or let it pass (None)."""
        return None

    def look(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """Look at what came over the wire, after every try."""
        return outcome

    def again(self, call: Call, outcome: Outcome, desk: Desk) -> int | None:
        """Return after how many virtual milliseconds the call is sent again; None for not at all."""
        return None

    def after(self, call: Call, outcome: Outcome, desk: Desk) -> Outcome:
        """Make of the answer what the agent sees."""
        return outcome

    def reply(self, message: str, desk: Desk) -> str:
        """Make of an answer to a customer what is sent."""
        return message

    def refuse_end(self, name: str, desk: Desk) -> str:
        """Return why `respond` is not allowed now; "" where it is."""
        return ""


def refusal(control: str, code: str, message: str, field: str = "") -> Outcome:
    """Return what an agent sees of a call that a control refused."""
    from reflex_bench.envs.tools.calls.shapes import dumped

    body = {"code": code, "message": message, **({"field": field} if field else {})}
    return Outcome(0, dumped(body), body, refused_by=control)
