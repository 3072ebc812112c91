"""Broken input for everything that reads: odd texts, odd JSON, real values with one part spoilt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st


def examples(count: int) -> settings:
    """So many examples, the same in every run; `scripts/fuzz` looks for new ones."""
    checks = list(HealthCheck)
    return settings(
        max_examples=count, deadline=None, database=None, derandomize=True, suppress_health_check=checks
    )


ODD_VALUES = (
    *("null", "true", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5000, '""', "[]", "{}"),
    *("[" * 200 + "]" * 200, "[" * 900 + "]" * 900, "[" * 20_000, '{"a":' * 3000 + "1" + "}" * 3000),
    *(r'"\ud800"', r'"\u001b[31m\u009b1m\u0000"', '"<script>x</script>"', '"../../x"', '"=1+1"', '"\ufeff"'),
    '"' + "a" * 20_000 + '"',
)
"""As JSON texts: a parser decides what becomes of them."""
PIECES = (
    *("{", "}", "[", "]", "(", ")", '"', "'", "\\", "<", ">", ":", "=", ",", "-", "#", "*", "`", "|", "\n", "\r"),
    *("\x00", "\x1b[2J", "\x9b", "\u202e", "\u2028", "\ufeff", "\ud800", "İ", "e\u0301", "9" * 5000, "NaN"),
    *("<think>", "</think>", "```json\n", "> ", "1. ", "step ", "Action: ", "go to ", "Search[", "null", "{}"),
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(), max_size=80), st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
"""Any JSON value, NaN and half surrogate pairs among them."""
SOME_BYTES = st.binary(max_size=200)


@st.composite
def spoilt(draw: st.DrawFn, value: Any) -> bytes:
    """A JSON value as bytes, with a part replaced, dropped, doubled, wrapped or written as text."""
    tree = [json.loads(json.dumps(value))]
    holder, key = draw(st.sampled_from(list(_places(tree))))
    how = draw(st.sampled_from(["odd", "odd", "any", "drop", "wrap", "text", "double"]))
    if how == "drop" and holder is not tree:
        del holder[key]
    elif how == "wrap":
        holder[key] = [holder[key]]
    elif how == "text":
        holder[key] = str(holder[key])
    elif how == "any":
        holder[key] = draw(VALUES)
    elif how == "double" and isinstance(holder, dict):
        # The same key twice: the second one counts.
        holder[f"{key}@TWICE"] = 1
    else:
        holder[key] = "@ODD@"
    text = json.dumps(tree[0], ensure_ascii=draw(st.booleans()))
    text = text.replace("@TWICE", "").replace('"@ODD@"', draw(st.sampled_from(ODD_VALUES)))
    return text.encode("utf-8", "surrogatepass")


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield tree, key
        yield from _places(tree[key])


@st.composite
def spoilt_lines(draw: st.DrawFn, rows: list[Any]) -> bytes:
    """JSON lines, one of which is spoilt."""
    lines = [json.dumps(row).encode() for row in rows]
    at = draw(st.integers(0, len(rows) - 1))
    lines[at] = draw(spoilt(rows[at]) | st.just(lines[at - 1]) | st.just(b""))
    return b"\n".join(lines) + b"\n" * draw(st.integers(0, 1))


@st.composite
def torn(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with some cut out, put in, or all of them in another encoding."""
    at, to = sorted(draw(st.integers(0, len(data))) for _ in range(2))
    put = draw(
        st.sampled_from(
            [b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\n", b"\r", b"{", b"]", b'"', b"9" * 5000]
        )
    )
    text = data.decode()
    return draw(
        st.sampled_from(
            [
                data[:at],
                data[:at] + data[to:],
                data[:at] + put + data[at:],
                text.encode("utf-16"),
                text.encode("utf-8-sig"),
            ]
        )
    )
