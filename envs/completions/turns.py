"""Finds the turn that was asked for among the tokens of chat templates and channels.

A server that does not stop at the end of a turn, or does not hide its special tokens, leaves them in the text (ChatML,
Llama 3 and 4, Mistral, DeepSeek, Gemma, GLM, Phi, Cohere, EXAONE, Granite, Kimi, InternLM, MiniMax), as it leaves the
channels of OpenAI's open-weight models (harmony), with their markers or without.
"""

from __future__ import annotations

import re

_OWN_ROLE = r"(?:assistant|model|bot|ai|chatbot)"
_OTHER_ROLE = r"(?:user|human|system|developer|tool|function|observation|environment|tool_response|ipython)"


def _headers(role: str) -> str:
    return (
        rf"<\|im_start\|>\s*{role}\b|<\|(?:start_header_id|header_start)\|>\s*{role}\s*<\|(?:end_header_id|header_end)\|>"
        rf"|<start_of_turn>\s*{role}\b|<\|turn>\s*{role}\b|<\|start_of_role\|>\s*{role}\s*<\|end_of_role\|>"
        rf"|<\|im_{role}\|>(?:[^<\n]{{0,40}}<\|im_middle\|>)?|<[|｜]{role}[|｜]>|\[\|{role}\|\]|\]~b\]\s*{role}\b"
        rf"|<\|START_OF_TURN_TOKEN\|>\s*<\|{role}_TOKEN\|>|<\|start\|>\s*{role}\b"
    )


_TOKEN = re.compile(
    rf"(?P<own>{_headers(_OWN_ROLE)}|\[/INST\])"
    rf"|(?P<other>{_headers(_OTHER_ROLE)}|\[INST\])"
    r"|(?P<end><[|｜](?:im_end|eot_id|eom_id|eot|end|eos|eod|eod_id|return|call|end_?of_?text|end_?of_?turn|endofresponse"
    r"|end[▁_]of[▁_](?:sentence|turn|text)|end_of_turn_token|hy_eos|assistant_end|im_sep|end_of_utterance|eog|eoc)[|｜]>"
    r"|</s>|<(?:eos|end_of_turn|eoa|eoh|end_of_utterance|turn\|)>|\[(?:EOS|/BOS)\]|\[\|endofturn\|\]|<seed:eos>|\[e~\[)"
    r"|(?P<begin><s>|<bos>|\[BOS\]|<seed:bos>|<pad>|<unk>"
    r"|<[|｜](?:begin_?of_?text|start_?of_?text|startoftext|begin[▁_]of[▁_](?:sentence|text)|bos|im_start"
    r"|start_response|end_response|START_RESPONSE|END_RESPONSE)[|｜]>)",
    re.IGNORECASE,
)
_NEXT_OWN = re.compile(rf"\s*(?:{_headers(_OWN_ROLE)})", re.IGNORECASE)
_HINT = re.compile(r"<[|｜/a-z]|\[[A-Z/|e]|\]~", re.IGNORECASE)
_WORD = re.compile(r"\w")

_MESSAGE = re.compile(
    r"(?:<\|start\|>(?P<role>[^<]{0,80}))?(?:<\|channel\|>)?\s*(?P<channel>analysis|commentary|final)\b(?P<to>[^<]{0,120})"
    r"(?:<\|constrain\|>[^<]{0,20})?<\|message\|>",
    re.IGNORECASE,
)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?(\w{1,40})")
# The same with its markers taken out: "analysisWe need …assistantfinalgo to desk 1".
_BARE = re.compile(
    r"\s*(?:assistant)?analysis(?P<analysis>.*?)assistant\s?(?P<rest>final|commentary)", re.DOTALL
)
_BARE_CALL = re.compile(r"\s*to=(?:functions\.)?(\w{1,40})\s*(?:json|code)?\s*(?=\{)")


def own_turn(text: str, repairs: list[str]) -> str:
    """Return what the model says in its own turn.

    No tokens of the template, nothing of another speaker or a later turn.
    """
    if not _HINT.search(text):
        return text
    kept: list[str] = []
    position, spoke = 0, False
    for token in _TOKEN.finditer(text):
        kept.append(text[position : token.start()])
        position = token.end()
        spoke = spoke or _WORD.search(kept[-1]) is not None
        if token["own"] or token["begin"] or not spoke:
            continue
        following = _NEXT_OWN.match(text, position)
        if token["end"] and following:
            continue
        position = len(text)
        break
    if not kept:
        return text
    repairs.append("special_tokens")
    kept.append(text[position:])
    return "\n".join(piece.strip("\n") for piece in kept if piece.strip())


def final_channel(text: str, repairs: list[str]) -> tuple[str, str]:
    """Return the text that is meant for the user, and what stood in the channel for reasoning.

    A call in the channel `commentary` comes out as a tool call in the form that `calls` reads.
    """
    if "<|message|>" not in text:
        return _bare_channels(text, repairs)
    kept: list[str] = []
    reasoning: list[str] = []
    position = 0
    for message in _MESSAGE.finditer(text):
        if message.start() < position:
            continue
        role = (message["role"] or "assistant").strip().lower()
        if not role.startswith("assistant"):
            break  # a tool or a user answers: invented
        end = _MESSAGE_END.search(text, message.end())
        position = end.start() if end else len(text)
        body = text[message.end() : position].strip()
        recipient = _RECIPIENT.search(f"{message['to']} {role}")
        if message["channel"].lower() == "analysis" and not recipient:
            reasoning.append(body)
        else:
            kept.append(_as_call(recipient[1], body) if recipient else body)
    if not kept and not reasoning:
        return text, ""
    repairs.append("channel_markers")
    return "\n".join(kept), "\n".join(reasoning)


def _bare_channels(text: str, repairs: list[str]) -> tuple[str, str]:
    bare = _BARE.match(text) if "analysis" in text[:40] else None
    if bare is None:
        return text, ""
    repairs.append("channel_markers")
    rest = text[bare.end() :]
    call = _BARE_CALL.match(rest) if bare["rest"] == "commentary" else None
    return (_as_call(call[1], rest[call.end() :]) if call else rest), bare["analysis"]


def _as_call(name: str, arguments: str) -> str:
    return f"<|tool_call_begin|>{name}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
