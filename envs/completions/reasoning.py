"""Separates a model's reasoning from its reply."""

from __future__ import annotations

import re

_NAMES = (
    r"(?:\w{1,20}[:_])?(?:think|thinking|thoughts?|reason|reasoning|scratchpad|analysis|rationale|inner_monologue"
    r"|plan|planning|reflection|reflexion|explore|exploration|monitor|memory|notes?|critique|deliberation)(?:_\w{1,20})?"
)
# Wider than `core.reasoning_marks`: what an actor writes in any such tag is a thought; the answer of a judge may
# stand in one. Qwen, DeepSeek and many more; Kimi (◁think▷); Magistral ([THINK]); OpenThinker and SkyThought
# (begin_of_thought); Cohere (START_THINKING); Gemma (unused94, <|channel>thought); Open WebUI (details).
_MARK = re.compile(
    rf"[<◁⟨‹〈]/?{_NAMES}(?:\s[^<>\n]{{0,200}})?[>▷⟩›〉]"
    r"|(?:(?<!\w)\[|\[/)(?:THINK|THINKING|REASONING)\]"
    r"|<[|｜]/?(?:(?:begin|start|end)(?:[_▁]of)?[_▁])?(?:think|thinking|thought|reasoning)(?:[_▁](?:start|begin|end))?[|｜]>"
    r"|<unused9(?:4>(?:thought)?|5>)|<\|channel>thought\b|<channel\|>"
    r"|<details\b[^<>\n]{0,60}type=\"reasoning\"[^<>\n]{0,100}>|</details>",
    re.IGNORECASE,
)
_HINT = re.compile(r"[<◁⟨‹〈\[]")
_ANNOUNCED = re.compile(
    r"\s*here(?:'s| is) my (?:thought process|reasoning):?(.*?)\n\s*here(?:'s| is) my (?:final )?(?:response|answer):?",
    re.IGNORECASE | re.DOTALL,
)


def split_reasoning(text: str, repairs: list[str]) -> tuple[str, str, bool]:
    """Return the text outside reasoning marks, what stood inside them, and whether a mark was never closed.

    A closing mark without an opening one makes all text before it reasoning: some chat templates write the opening mark
    themselves.
    """
    announced = _ANNOUNCED.match(text)
    if announced:
        repairs.append("reasoning_removed")
        return text[announced.end() :], announced[1], False
    if not _HINT.search(text):
        return text, "", False
    outside: list[str] = []
    inside: list[str] = []
    depth, start = 0, 0
    for mark in _MARK.finditer(text):
        piece = text[start : mark.start()]
        start = mark.end()
        if not _closes(mark[0]):
            (outside if depth == 0 else inside).append(piece)
            depth += 1
            continue
        if depth == 0:
            inside.extend(outside)
            outside.clear()
        inside.append(piece)
        depth = max(0, depth - 1)
        repairs.append("reasoning_removed")
    if depth == 0:
        outside.append(text[start:])
    else:
        inside.append(text[start:])
    return "".join(outside), "".join(inside), depth > 0


def _closes(mark: str) -> bool:
    word = mark.lower()
    return (
        "/" in word[:3]
        or word.startswith(("<|end", "<｜end"))
        or word.endswith(("end|>", "end｜>"))
        or word in ("<unused95>", "<channel|>")
    )
