"""How `scripts/fuzz` spoils an input, and how it makes one smaller."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from fuzz_targets import Target

# What no writer of ours makes: as JSON, so that a parser decides what becomes of it.
ODD_VALUES = (
    *("null", "true", "false", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000, '""'),
    *(
        "[]",
        "{}",
        "[[]]",
        '{"": null}',
        "[" * 200 + "]" * 200,
        "[" * 900 + "]" * 900,
        "[" * 20_000,
        "[" * 20_000 + "]" * 20_000,
    ),
    *('{"a":' * 3000 + "1" + "}" * 3000, r'"\ud800"', r'"\u001b[31m\u009b1m\u0000"', '"\\u202e\u2028"'),
    *('"<script>x</script>"', '"../../x"', '"=1+1"', '"' + "a" * 20_000 + '"', '"\ufeff"', '"007"', '"NaN"'),
)
ODD_TEXTS = (
    *("\x00", "\x1b", "\x1b[2J", "\x9b", "\u202e", "\u2028", "\ufeff", "\ud800", "\r", "\r\n", "\n", "\t", " "),
    *("{", "}", "[", "]", "(", ")", '"', "'", "\\", "<", ">", "&", "`", ":", "=", ",", "-", "#", "*", "!", "|"),
    *("<think>", "</think>", "```", "> ", "null", "NaN", "9" * 5000, "İ", "ß", "e\u0301", "1.", "\U0001f600"),
)  # fmt: skip
ODD_BYTES = (
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"\r", b"\x1b[31m"),
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\u", b"&a", b"*a", b"- ", b"!!", b"?", b"9" * 5000),
)


def smaller(data: bytes, kind: str) -> Iterator[bytes]:
    if kind in ("json", "lines"):
        lines = data.split(b"\n") if kind == "lines" else [data]
        for number, line in enumerate(lines):
            if len(lines) > 2:
                yield b"\n".join(lines[:number] + lines[number + 1 :])
            for less in _pruned(line):
                yield b"\n".join([*lines[:number], less, *lines[number + 1 :]])
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 4


def _pruned(line: bytes) -> Iterator[bytes]:
    try:
        tree = json.loads(line)
        places = list(_places(tree))
    except (ValueError, RecursionError):
        return
    for holder, key in places:
        kept = holder[key]
        empty: tuple[object, ...] = ({}, [], "", None)
        for put in empty if isinstance(kept, dict | list) and kept else ():
            holder[key] = put
            yield json.dumps(tree).encode()
        holder[key] = kept
    for holder, key in places:
        if isinstance(holder, dict):
            kept = holder.pop(key)
            yield json.dumps(tree).encode()
            holder[key] = kept


def changed(dice: random.Random, data: bytes, target: Target) -> bytes:
    """A seed with one to four changes."""
    if target.kind == "text":
        text = data.decode("utf-8", "surrogatepass")
        for _ in range(dice.randint(1, 4)):
            text = _text_changed(dice, text, target)
        return text.encode("utf-8", "surrogatepass")
    if target.kind in ("json", "lines") and dice.random() < 0.75:
        lines = data.split(b"\n") if target.kind == "lines" else [data]
        for _ in range(dice.randint(1, 3)):
            number = dice.randrange(len(lines))
            lines[number] = _tree_changed(dice, lines[number])
        return b"\n".join(lines)
    for _ in range(dice.randint(1, 4)):
        data = _bytes_changed(dice, data, dice.choice(target.seeds))
    return data


def _text_changed(dice: random.Random, text: str, target: Target) -> str:
    at, to = sorted(dice.randint(0, len(text)) for _ in range(2))
    to = min(to, at + 40)
    other = dice.choice(target.seeds).decode("utf-8", "surrogatepass")
    word = dice.choice([*ODD_TEXTS, *re.findall(r"\w+|\W", other)[:200], chr(dice.randrange(0x110000))])
    changes: list[Callable[[], str]] = [
        lambda: text[:at] + text[to:],
        lambda: text[:at] + word + text[at:],
        lambda: text[:at] + word * dice.choice([2, 30, 3000]) + text[at:],
        lambda: text[:at] + text[at:to] * dice.choice([2, 100]) + text[to:],
        lambda: text[:at] + other[dice.randint(0, len(other)) :],
        lambda: text[:at] + text[at:to].swapcase() + text[to:],
    ]
    return dice.choice(changes)()[:200_000]


def _bytes_changed(dice: random.Random, data: bytes, other: bytes) -> bytes:
    at, to = sorted(dice.randint(0, len(data)) for _ in range(2))
    odd = dice.choice([*ODD_BYTES, bytes([dice.randrange(256)])])
    changes: list[Callable[[], bytes]] = [
        lambda: data[:at] + data[min(to, at + 40) :],
        lambda: data[:at] + odd * dice.choice([1, 1, 2, 3000]) + data[at:],
        lambda: data[:at] + odd + data[at + len(odd) :],
        lambda: data[:at],
        lambda: data[:to] + data[at:],
        lambda: data[:at] + other[dice.randint(0, len(other)) :],
        lambda: data.decode("utf-8", "replace").encode("utf-16") if dice.random() < 0.1 else data[at:],
    ]
    return dice.choice(changes)()[:400_000]


def _tree_changed(dice: random.Random, line: bytes) -> bytes:
    """A JSON value with one of its parts replaced, lost, renamed, doubled or moved."""
    try:
        tree = [json.loads(line)]
        places = list(_places(tree))
    except (ValueError, RecursionError):
        return line
    holder, key = dice.choice(places)
    (other_holder, other), mark = dice.choice(places), "@ODD@"
    kept, choice = holder[key], dice.randrange(8)
    if choice == 0 and holder is not tree:
        del holder[key]
    elif choice == 1 and isinstance(holder, dict):
        holder[dice.choice([mark, "", "\ud800", f"{key}s"])] = holder.pop(key)
    elif choice == 2 and other_holder is not tree:
        holder[key] = json.loads(json.dumps(other_holder[other]))
    elif choice == 3:
        holder[key] = str(kept) if not isinstance(kept, str) else [kept]
    elif choice == 4 and isinstance(holder, list) and holder is not tree:
        holder.append(kept)
    else:
        holder[key] = mark
    try:
        text = json.dumps(tree[0], ensure_ascii=dice.random() < 0.5, separators=(",", ":"))
    except RecursionError:
        return line
    text = text.replace(f'"{mark}":', f'{json.dumps(str(key))}:1,"{mark}":').replace(
        f'"{mark}"', dice.choice(ODD_VALUES)
    )
    return text.encode("utf-8", "surrogatepass")


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every part of a tree."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield tree, key
        yield from _places(tree[key])
