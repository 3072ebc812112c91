"""Audit of reflections that are not in English."""

from __future__ import annotations

import re

_ENGLISH = re.compile(
    r"\b(?:the|a|an|i|to|of|and|in|it|is|was|that|should|next|time|not|my|for|on|at)\b", re.IGNORECASE
)
_OTHERS = re.compile(
    r"\b(?:ich|der|die|das|und|nicht|ist|ein|eine|einen|zu|im|beim|mit|habe|hätte|sollte|muss|nächsten|mal"  # German
    r"|je|le|les|des|et|est|une|dans|pas|dois|devrais|que|fois"  # French
    r"|yo|el|la|los|una|no|debo|debería|vez|siguiente|con"  # Spanish
    r"|eu|não|devo|deveria|próxima|com|uma|io|il|lo|gli|che|non|dovrei|volta"  # Portuguese, Italian
    r"|ik|het|een|niet|moet|volgende|keer|met|nie|się|że|powinienem|następnym|razem|jest|w|z)\b",  # Dutch, Polish
    re.IGNORECASE,
)
"""The commonest words of languages that are written like English."""
_OTHER_SCRIPT = re.compile(
    r"[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_MIN_WORDS, _SHARE = 4, 0.2
_MIN_WORDS_ALONE = 2  # where no English word stands beside them
_EDGE = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z0-9])|"
    r"(?<=[A-Za-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
)


def is_english(text: str) -> bool:
    """Return whether a text can be read by rules for English: false only where another language is certain."""
    if len(_OTHER_SCRIPT.findall(text)) > _SHARE * len(text):
        return False
    others, english = len(_OTHERS.findall(text)), len(_ENGLISH.findall(text))
    return others <= english or others < (_MIN_WORDS if english else _MIN_WORDS_ALONE)


def spaced(text: str) -> str:
    """Return a text with a space wherever a script without spaces meets a Latin name or a number."""
    return _EDGE.sub(" ", text)
