"""Labels, what may stand before them, and the record of an action that was found."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflex_bench.envs.completions import labels

GAP = r"[ \t*_`]{0,4}"
LABEL = re.compile(
    rf"(?:(?P<observation>{labels.OBSERVATION}){GAP}[0-9]{{0,6}}{GAP}{labels.COLON}"
    rf"|(?:(?P<input>{labels.INPUT})|(?P<action>{labels.ACTION})|(?:{labels.THOUGHT})){GAP}(?P<number>[0-9]{{0,6}}){GAP}"
    rf"(?P<sign>{labels.COLON}|{labels.ARROW}))",
    re.IGNORECASE,
)
# What may stand before a label or an action: emphasis, quoting, bullets, arrows, emoji, a list number, a tag.
PREFIX = re.compile(
    r"(?:(?![\[\]［］【】〔〕(){}（）「」『』〈〉《》⟨⟩<\"'“”‘’«»„:：.,;!?/\\$])[\W_]"
    r"|[①-⑳]|[0-9]{1,3}[.)\u20e3][ \t]|</?[|｜]?[\w:]{1,20}(?:\s[^<>\n]{0,60})?[|｜]?>"
    r"|\[(?=(?:search|finish|look_?up)\())*",
    re.IGNORECASE,
)
VERB = r"(search|look[ _-]?up|finish)"


@dataclass(frozen=True, slots=True)
class FoundAction:
    """An action: what precedes `start` is the thought, what follows `end` is surplus."""

    start: int
    end: int
    verb: str
    argument: str
    repairs: tuple[str, ...]


def prefix_end(text: str, start: int, stop: int) -> int:
    """Return index of the first word of a line."""
    match = PREFIX.match(text, start, stop)
    return match.end() if match else start
