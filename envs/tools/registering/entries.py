"""What an entry of the registry must be, by itself and beside the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from reflex_bench.core.errors import unknown
from reflex_bench.envs.tools.calls import error_types
from reflex_bench.envs.tools.registering import schemas

Fault = tuple[tuple[str | int, ...], str]
Entry = Mapping[str, Any]

ID = re.compile(r"(tool_[a-z][a-z0-9_]*)_v([1-9][0-9]{0,3})")
VERSION = re.compile(r"(\d{4})(\d\d)(\d\d)\.([1-9]\d{0,3})")
ENDPOINT = re.compile(r"(?:/(?:[a-z][a-z0-9_-]*|\{[a-z_]+\}))+")
EFFECTS = ("read", "compensable", "irreversible")
LEVELS = ("low", "medium", "high")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
DEPARTMENTS = ("orders", "logistics", "payments", "stock", "expenses", "knowledge")

NEEDED: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "name": (str,),
    "department": (str,),
    "purpose": (str,),
    "description": (str,),
    "version": (str,),
    "parameters": (dict,),
    "returns": (dict,),
    "endpoint": (str,),
    "method": (str,),
    "timeout": (int, float),
    "retries": (dict,),
    "cost_level": (str,),
    "price": (int, float),
    "effect": (str,),
    "roles": (list,),
}
FURTHER: Mapping[str, tuple[type, ...]] = {
    "offered": (bool,),
    "undo": (dict,),
    "confirm": (str,),
    "idempotency": (bool,),
    "fallback": (str,),
    "record": (list,),
}
KEYS: Mapping[str, tuple[type, ...]] = {**NEEDED, **FURTHER}
CHANGEABLE = (
    *("name", "description", "purpose", "timeout", "retries", "cost_level", "price", "effect"),
    *("undo", "confirm", "idempotency", "roles", "fallback", "record", "offered"),
)
"""Keys that a file of changes may give; the others are bound to code."""


def by_itself(entry: Entry) -> Iterator[Fault]:
    """Yield what is wrong with an entry, whatever the others are."""
    for name in NEEDED:
        if name not in entry:
            yield (), f"{name} is missing"
    for name, value in entry.items():
        if name not in KEYS:
            yield (name,), str(unknown("key of a tool", name[:80], KEYS))
        elif not isinstance(value, KEYS[name]) or (isinstance(value, bool) and bool not in KEYS[name]):
            wanted = " or ".join(kind.__name__ for kind in KEYS[name])
            yield (name,), f"{name} is {value!r:.80}; wanted: {wanted}{_quoted(name)}"
        else:
            yield from _of_key(name, value, entry)
    yield from _of_effect(entry)


def _quoted(name: str) -> str:
    return ', in quotation marks: "20260401.1"' if name == "version" else ""


def _of_key(name: str, value: Any, entry: Entry) -> Iterator[Fault]:
    listed = {"effect": EFFECTS, "cost_level": LEVELS, "method": METHODS, "department": DEPARTMENTS}
    if name in listed and value not in listed[name]:
        yield (name,), str(unknown(name, value[:80], listed[name]))
    elif name == "id" and not ID.fullmatch(value):
        yield (name,), f"the id is {value!r:.80}; an id is like tool_refund_v2"
    elif name == "version" and not _is_dated(value):
        yield (
            (name,),
            f"the version is {value!r:.80}; a version is the day of its release and a number: 20260401.1",
        )
    elif name in ("parameters", "returns"):
        for path, fault in schemas.of_object(value):
            yield (name, *path), fault
    elif name == "endpoint":
        yield from _of_endpoint(value, entry)
    elif name == "timeout" and not 0 < value <= 600:
        yield (name,), f"timeout is {value!r:.80}; wanted: seconds, more than 0 and at most 600"
    elif name == "price" and not 0 <= value <= 1000:
        yield (name,), f"price is {value!r:.80}; wanted: dollars, from 0 to 1000"
    elif name == "retries":
        yield from _of_retries(value)
    elif name == "roles" and not (value and all(isinstance(each, str) and each for each in value)):
        yield (name,), "roles lists the names of the roles that may call it, at least one"
    elif name in ("name", "description", "purpose", "confirm") and not value.strip():
        yield (name,), f"{name} is empty"


def _is_dated(version: str) -> bool:
    match = VERSION.fullmatch(version)
    if match is None:
        return False
    try:
        date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return False
    return True


def _of_endpoint(value: str, entry: Entry) -> Iterator[Fault]:
    if not ENDPOINT.fullmatch(value):
        yield ("endpoint",), f"the endpoint is {value!r:.80}; an endpoint is like /orders/{{order_id}}"
        return
    fields = fields_of(entry, "parameters")
    for name in re.findall(r"\{([a-z_]+)\}", value):
        if name not in fields:
            yield ("endpoint",), f"{{{name}}} of the endpoint is none of the parameters"


def fields_of(entry: Entry, which: str) -> Mapping[str, Any]:
    """Return the fields of an entry's `parameters` or `returns`; none where it has no such schema."""
    schema = entry.get(which)
    fields = schema.get("properties") if isinstance(schema, dict) else None
    return fields if isinstance(fields, dict) else {}


def _of_retries(value: Mapping[str, Any]) -> Iterator[Fault]:
    for name in value:
        if name not in ("count", "classes"):
            yield ("retries", name), str(unknown("key of retries", name[:80], ("count", "classes")))
    count, classes = value.get("count"), value.get("classes")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 10:
        yield ("retries", "count"), f"retries.count is {count!r:.80}; wanted: a whole number from 0 to 10"
    if not isinstance(classes, list):
        yield ("retries", "classes"), "retries.classes lists types of error"
        return
    known = {rule.type for rule in error_types.table()} | {"REFUSED"}
    for each in classes:
        if each not in known:
            yield ("retries", "classes"), str(unknown("type of error", str(each)[:80], known))


def _of_effect(entry: Entry) -> Iterator[Fault]:
    effect, undo = entry.get("effect"), entry.get("undo")
    if effect == "compensable" and undo is None:
        yield ("effect",), "a compensable tool names what undoes it: undo: {tool: …, arguments: {…}}"
    if effect != "compensable" and undo is not None:
        yield ("undo",), f"only a compensable tool has an undo; this one is {effect}"
    if effect == "irreversible" and not entry.get("confirm"):
        yield ("effect",), "an irreversible tool names who must confirm it: confirm: the lead of payments"
    if effect != "irreversible" and entry.get("confirm"):
        yield ("confirm",), f"only an irreversible tool has a confirm; this one is {effect}"
    if effect == "read" and entry.get("method") != "GET":
        yield ("effect",), f"a tool that reads is called with GET, not {entry.get('method')}"
    if effect in EFFECTS[1:] and entry.get("method") == "GET":
        yield ("effect",), "a tool that writes is not called with GET"
    if effect == "read" and entry.get("idempotency"):
        yield ("idempotency",), "a tool that reads needs no key"
    if isinstance(record := entry.get("record"), list):
        for fact in record:
            if fact not in fields_of(entry, "returns"):
                yield ("record",), f"{fact!r:.80} is none of the fields of returns"


def among(entry: Entry, others: Mapping[str, Entry]) -> Iterator[Fault]:
    """Yield what is wrong with an entry beside the others.

    Args:
        entry: that is right by itself.
        others: all that are offered, by id.
    """
    fallback, undo = entry.get("fallback"), entry.get("undo")
    if fallback is not None:
        if fallback == entry["id"] or fallback not in others:
            yield ("fallback",), str(unknown("tool", fallback[:80], others.keys() - {entry["id"]}))
        elif others[fallback]["effect"] != entry["effect"] or others[fallback]["purpose"] != entry["purpose"]:
            yield ("fallback",), f"{fallback} has another purpose or effect: {others[fallback]['purpose']}"
    if undo is not None:
        yield from _of_undo(entry, undo, others)
    for fact in entry.get("record", ()):
        rivals = (id for id, each in others.items() if fact in each.get("record", ()) and id != entry["id"])
        rival = next(rivals, None)
        if rival is not None:
            yield ("record",), f"{rival} is the system of record for {fact} already"


def _of_undo(entry: Entry, undo: Mapping[str, Any], others: Mapping[str, Entry]) -> Iterator[Fault]:
    other, arguments = undo.get("tool"), undo.get("arguments")
    if set(undo) != {"tool", "arguments"} or not isinstance(other, str) or not isinstance(arguments, dict):
        yield ("undo",), "undo has the keys tool and arguments, and no others"
        return
    if other not in others:
        yield ("undo", "tool"), str(unknown("tool", other[:80], others))
        return
    if others[other]["effect"] != "compensable":
        yield (
            ("undo", "tool"),
            f"{other} is {others[other]['effect']}; what undoes a tool can be undone itself",
        )
    taken = fields_of(others[other], "parameters")
    for name in others[other]["parameters"].get("required", ()):
        if name not in arguments:
            yield ("undo", "arguments"), f"{other} needs {name}"
    for name, source in arguments.items():
        if name not in taken:
            yield ("undo", "arguments", name), str(unknown(f"argument of {other}", name[:80], taken))
        where, _, field = str(source).partition(".")
        schema = entry.get({"arguments": "parameters", "answer": "returns"}.get(where, ""), {})
        if field not in schema.get("required", ()):
            yield (
                ("undo", "arguments", name),
                f"{source!r:.80} is no field that is always there; write arguments.NAME or answer.NAME of its own",
            )
