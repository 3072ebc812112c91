"""Where a memory stands before a model: before the task, in the system message, or behind every turn."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflex_bench.agents.reflection.instructions import INSTRUCTION
from reflex_bench.core.shared_texts import DIRECTIVE_HEADER, FAILED, MEMORY_HEADER, REQUIRED

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def block(memory: Sequence[str]) -> str:
    """Return the reflections as a list under a heading, oldest first."""
    return MEMORY_HEADER + "".join(f"\n- {text}" for text in memory)


def directive(memory: Sequence[str]) -> str:
    """Return the reflections as orders: for each, a line on what failed and one on what is required next.

    A sentence that says what to do, by the words that the audit knows such sentences by, is required; the others tell
    what failed. A reflection that has sentences of one kind alone has one line.
    """
    lines = [DIRECTIVE_HEADER]
    for number, text in enumerate(memory, 1):
        sentences = [each for each in _SENTENCE.split(text.strip()) if each]
        required = [each for each in sentences if INSTRUCTION.search(each.lower())]
        failed = [each for each in sentences if each not in required]
        lines += [f"{number}. {FAILED} {' '.join(failed)}"] if failed else []
        lines += [f"{number}. {REQUIRED} {' '.join(required)}"] if required else []
    return "\n".join(lines)
