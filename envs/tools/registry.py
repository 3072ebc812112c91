"""The registry of tools: loaded once, checked, and never changed after that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from reflex_bench.core.errors import ReflexError, unknown
from reflex_bench.envs.tools.registering import entries, lined

SHIPPED = "registry.yaml"
Effect = Literal["read", "compensable", "irreversible"]


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call may be made again, and after which types of error."""

    count: int
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes a call back.

    Attributes:
        tool: the id.
        arguments: its arguments, each as `arguments.NAME` of the call that is taken back or `answer.NAME` of what it
            answered.
    """

    tool: str
    arguments: Mapping[str, str]

    def resolved(self, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that take one call back."""
        source = {"arguments": arguments, "answer": answer}
        return {
            name: source[where][field]
            for name, (where, _, field) in (
                (name, each.partition(".")) for name, each in self.arguments.items()
            )
        }


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        id: with its generation, `tool_refund_v2`.
        version: day of its release and a number, `20260401.1`.
        parameters, returns: JSON Schemas of the arguments and of the body of a success.
        endpoint, method: of the API.
        timeout: seconds.
        price: of one call, in dollars.
        undo: what takes a call back; None unless it is compensable.
        confirm: who must agree; "" unless it is irreversible.
        idempotent_with_key: whether a key makes a repeat harmless.
        roles: that may call it.
        fallback: another tool for the same purpose.
        record: facts of which it is the system of record.
    """

    id: str
    name: str
    description: str
    version: str
    parameters: Mapping[str, Any]
    returns: Mapping[str, Any]
    endpoint: str
    method: str
    timeout: float
    retries: Retries
    cost_level: Literal["low", "medium", "high"]
    price: float
    effect: Effect
    undo: Undo | None
    confirm: str
    idempotent_with_key: bool
    roles: tuple[str, ...]
    fallback: str | None
    record: tuple[str, ...]
    department: str
    purpose: str


class NoSuchTool(ReflexError):
    """An id that no tool has.

    Attributes:
        code: `TOOL_NOT_FOUND`, or `VERSION_MISMATCH` for another generation of a tool.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Registry:
    """Tools by id, in the order of the file.

    Attributes:
        hash: of everything about them.
    """

    tools: Mapping[str, Tool]
    hash: str

    @staticmethod
    def load(changes: Path | None = None) -> Registry:
        """Return the tools that ship with the package, changed as a file says.

        Args:
            changes: a YAML file in the form of the registry; None for no changes.

        Raises:
            UsageError: an entry that cannot be; with file, line and what would be right.
        """
        return _shipped() if changes is None else _made(lined.read(changes, str(changes)))

    def find(self, id: str) -> Tool:
        """Return the tool of an id. Nothing is matched by likeness.

        Raises:
            NoSuchTool: no tool has it.
        """
        tool = self.tools.get(id)
        if tool is not None:
            return tool
        match = entries.ID.fullmatch(id)
        for known in self.tools if match else ():
            same = entries.ID.fullmatch(known)
            if match and same and same[1] == match[1]:
                raise NoSuchTool("VERSION_MISMATCH", f"{id} is not in use; call {known}")
        raise NoSuchTool("TOOL_NOT_FOUND", f"there is no tool {id[:80]!r}")


@lru_cache(maxsize=1)
def _shipped() -> Registry:
    return _made(None)


@lru_cache(maxsize=1)
def _source() -> lined.Lined:
    with as_file(files("reflex_bench.envs.tools") / SHIPPED) as path:
        return lined.read(path, SHIPPED)


def _made(changes: lined.Lined | None) -> Registry:
    origin: dict[str, tuple[lined.Lined, int]] = {}
    found = dict(_listed(_source(), origin))
    if changes is not None:
        for id, entry in _listed(changes, origin, found):
            found[id] = _changed(found[id], entry)
    for id, entry in found.items():
        _refuse(origin[id], entries.by_itself(entry))
    offered = {id: entry for id, entry in found.items() if entry.get("offered", True)}
    # Changed ones first: what does not fit together is told of the change, and not of what ships.
    for id in sorted(offered, key=lambda id: origin[id][0] is not changes):
        _refuse(origin[id], entries.among(offered[id], offered))
    tools = {id: _tool(entry) for id, entry in offered.items()}
    told = json.dumps([asdict(tool) for tool in tools.values()], sort_keys=True, ensure_ascii=False)
    return Registry(MappingProxyType(tools), hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16])


def _listed(
    source: lined.Lined, origin: dict[str, tuple[lined.Lined, int]], known: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the entries of a file with their ids, and note where each stands.

    Args:
        known: the entries that a file of changes may change; None for the registry itself.
    """
    data = source.data
    if not isinstance(data, dict) or not isinstance(data.get("tools"), list):
        raise source.wrong((), "a registry has the key tools, and under it a list of entries")
    for name in data:
        if name not in ("tools", "shared"):
            raise source.wrong((name,), str(unknown("key of a registry", name[:80], ("tools", "shared"))))
    seen: dict[str, int] = {}
    for place, entry in enumerate(data["tools"]):
        path = ("tools", place)
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise source.wrong(path, "an entry is a mapping with an id")
        id = entry["id"]
        if id in seen:
            first = source.lines[("tools", seen[id])]
            raise source.wrong((*path, "id"), f"the id {id!r:.80} is given twice, first in line {first}")
        seen[id] = place
        if known is not None:
            if id not in known:
                raise source.wrong((*path, "id"), f"{unknown('tool', id[:80], known)} (a new one needs code)")
            _refuse((source, place), _unchangeable(entry, known[id]))
        origin[id] = source, place
        yield id, entry


def _unchangeable(entry: Mapping[str, Any], shipped: Mapping[str, Any]) -> Iterator[entries.Fault]:
    for name, value in entry.items():
        if name not in entries.KEYS:
            yield (name,), str(unknown("key of a tool", name[:80], entries.KEYS))
        elif name not in entries.CHANGEABLE and value != shipped.get(name):
            # What is wrong in itself is told as that.
            yield from (
                fault for fault in entries.by_itself({**shipped, name: value}) if fault[0][:1] == (name,)
            )
            able = ", ".join(entries.CHANGEABLE)
            yield (
                (name,),
                f"{name} of {entry['id']} is bound to code and cannot be changed; what can be: {able}",
            )


def _changed(shipped: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry of the registry with what a file says; what only its former class has goes with that class."""
    made = {**shipped, **entry}
    for name in entries.FURTHER:
        if name in made and made[name] is None:
            del made[name]
    if made.get("effect") != shipped["effect"]:
        for name in ("undo", "confirm"):
            if name not in entry:
                made.pop(name, None)
        if made.get("effect") == "read" and "idempotency" not in entry:
            made.pop("idempotency", None)
    return made


def _refuse(origin: tuple[lined.Lined, int], faults: Iterator[entries.Fault]) -> None:
    source, place = origin
    for path, message in faults:
        id = source.data["tools"][place]["id"]
        raise source.wrong(("tools", place, *path), f"{id}: {message}")


def _tool(entry: Mapping[str, Any]) -> Tool:
    undo = entry.get("undo")
    return Tool(
        id=entry["id"],
        name=entry["name"],
        description=entry["description"],
        version=entry["version"],
        parameters=entry["parameters"],
        returns=entry["returns"],
        endpoint=entry["endpoint"],
        method=entry["method"],
        timeout=float(entry["timeout"]),
        retries=Retries(entry["retries"]["count"], tuple(entry["retries"]["classes"])),
        cost_level=entry["cost_level"],
        price=float(entry["price"]),
        effect=entry["effect"],
        undo=Undo(undo["tool"], undo["arguments"]) if undo else None,
        confirm=entry.get("confirm", ""),
        idempotent_with_key=entry.get("idempotency", False),
        roles=tuple(entry["roles"]),
        fallback=entry.get("fallback"),
        record=tuple(entry.get("record", ())),
        department=entry["department"],
        purpose=entry["purpose"],
    )
