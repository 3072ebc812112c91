"""Words by which a sentence says what to do."""

from __future__ import annotations

import re

INSTRUCTION = re.compile(
    r"\b(?:should|must|need to|have to|ought to|will|next (?:time|trial|attempt)|this time|instead|try to|start by|"
    r"begin (?:with|by)|make sure|remember to|(?<!the )first)\b"
)
"""To be searched in lower case."""
