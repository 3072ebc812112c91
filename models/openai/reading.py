"""Reads replies of the OpenAI-compatible protocol from the bytes of an answer.

They are read by hand and not through the `openai` package's types: those accept whatever a server sends (a missing
`choices` becomes an attribute error much later), and building them costs more time than the rest of a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.core.errors import ModelError
from reflex_bench.models.base import Reply, ToolCall
from reflex_bench.models.openai.endings import Ending, ending
from reflex_bench.models.openai.errors.messages import Complaint, as_text, error_message, one_line
from reflex_bench.models.openai.reasoning import Split, split_message, split_text
from reflex_bench.models.openai.responses import as_completion
from reflex_bench.models.openai.streams import is_stream, join_stream, without_comments
from reflex_bench.models.openai.usage import read_usage, told_cost
from reflex_bench.models.options import Api


class ErrorInside(ModelError):
    """An answer that claims success and tells of an error.

    Attributes:
        complaint: what it tells.
    """

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(
            f"an error in place of a reply: {complaint.message or complaint.code or 'no reason given'}"
        )
        self.complaint = complaint


class OtherProtocol(ModelError):
    """A proper answer, of another API."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="malformed")


def read_reply(content: bytes, api: Api, stop: Sequence[str]) -> Reply:
    """Return the reply in the body of a successful answer, without time; its cost is what the answer itself tells.

    Reasoning is taken out first; then the text is cut at the first stop again: some servers include it, ignore some, or
    were not sent all. A reply without text is returned as it is, with the text "".

    Args:
        content: the body: JSON, or a stream of events.
        api: which shape it has.
        stop: from `stops`.

    Raises:
        ModelError: `malformed`, `server` (an error in a successful answer's body) or `content_filter`.
    """
    data = _json_object(content)
    if api == "responses":
        data = as_completion(data)
    choice = _first_choice(data)
    finish = ending(_name(choice.get("finish_reason")))
    _check_ending(choice, finish)
    split = _split(choice, api)
    if finish.kind == "unknown" and not split.text.strip() and not split.reasoning and not _calls(choice):
        raise ModelError(f"the endpoint broke off: {finish.name}", kind="server")
    text = split.text.removeprefix(" ") if api == "completions" else split.text
    # A text that is nothing but reasoning with marks is left to who reads it; it is never cut inside.
    found = [] if split.is_whole else [at for at in map(text.find, stop) if at >= 0]
    cut = min(found, default=None)
    return Reply(
        text=_writable(text[:cut]),
        usage=read_usage(data.get("usage"), text, split.reasoning),
        finish=finish.name if cut is None else "stop",
        cost=told_cost(data.get("usage")),
        model=_name(data.get("model")),
        server=_name(data.get("system_fingerprint")),
        calls=_calls(choice),
        reasoning=_writable(split.reasoning),
        reasoning_form=split.form,
        reasoning_data=_writable(split.data),
        cut_here=cut is not None,
    )


def _json_object(content: bytes) -> dict[str, Any]:
    text = as_text(content)
    if is_stream(text):
        data = join_stream(text)
        if data is None:
            raise ModelError("the answer is a stream of events that broke off", kind="malformed")
        return data
    try:
        data = json.loads(without_comments(text))
    except (ValueError, RecursionError):
        lines = text.strip().splitlines()[:2]
        if len(lines) > 1 and all(line.startswith("{") for line in lines):
            _refuse_other(_json(lines[0]))
        shown = one_line(text[:2000], 120)
        raise ModelError(f"the answer is not JSON: {shown or 'an empty body'}", kind="malformed") from None
    if isinstance(data, list) and data and isinstance(data[0], dict):
        if data[0].get("error"):
            raise ErrorInside(error_message(data))
        _refuse_other(data[0])
    if not isinstance(data, dict):
        raise ModelError(f"the answer is JSON, but no object: {one_line(str(data), 120)}", kind="malformed")
    return data


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


OTHER_PROTOCOLS = (
    (("done", "message"), "Ollama's own API; the address to give ends in /v1 (http://<host>:11434/v1)"),
    (("done", "response"), "Ollama's own API; the address to give ends in /v1 (http://<host>:11434/v1)"),
    (("output", "object"), "the Responses API: --api responses; for the chat API the address to give ends in /v1"),
    (("stop_reason", "content"), "Anthropic's own API; the address to give ends in /v1, with /chat/completions"),
    (("candidates",), "Gemini's own API; the address to give ends in /v1beta/openai"),
    (("generated_text",), "Hugging Face's own API; the address to give ends in /v1"),
    (("tokens_predicted", "content"), "llama.cpp's own API; the address to give ends in /v1"),
    (("generations",), "Cohere's own API; the address to give ends in /compatibility/v1"),
)  # fmt: skip
"""Keys by which answers of other APIs are known, and what to say of them."""


def _refuse_other(data: Any) -> None:
    if isinstance(data, dict) and "choices" not in data:
        for keys, said in OTHER_PROTOCOLS:
            if all(key in data for key in keys):
                raise OtherProtocol(f"the answer is in the form of {said}")


def _first_choice(data: dict[str, Any]) -> dict[str, Any]:
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    base = data.get("base_resp")
    if isinstance(base, dict) and base.get("status_code"):
        raise ErrorInside(error_message(data))
    if data.get("error") or data.get("errors") or data.get("detail"):
        raise ErrorInside(error_message(data))
    if _says_filtered(data):
        raise ModelError("the endpoint's content filter withheld the reply", kind="content_filter")
    _refuse_other(data)
    status = data.get("status") or data.get("code")
    if choices is None and status and (data.get("message") or data.get("msg")):
        raise ErrorInside(error_message(data))
    raise ModelError("the answer holds no choices", kind="malformed")


def _says_filtered(data: Mapping[str, Any]) -> bool:
    feedback = data.get("promptFeedback")
    blocked = isinstance(feedback, dict) and bool(feedback.get("blockReason"))
    return blocked or "content_filter" in error_message(data.get("prompt_filter_results") or {}).names


def _check_ending(choice: dict[str, Any], finish: Ending) -> None:
    """Raises where a reply did not end as one does."""
    refused = _refused(choice)
    if finish.kind == "filter" or refused:
        why = f": {one_line(refused, 120)}" if refused else ""
        raise ModelError(f"the endpoint's content filter withheld the reply{why}", kind="content_filter")
    if finish.kind == "fault" or choice.get("error"):
        said = error_message(choice.get("error") or {}).message or finish.name or "no reason given"
        raise ModelError(f"the endpoint broke off: {said}", kind="server")


def _refused(choice: dict[str, Any]) -> str:
    """Return the words with which a reply without text refuses; "" for any other reply.

    OpenAI's reference has them in the message's `refusal`, and in parts of its content that are of the type `refusal`.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        return ""
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    told = [message.get("refusal"), *(part.get("refusal") for part in parts if isinstance(part, dict))]
    words = " ".join(each for each in told if isinstance(each, str) and each.strip())
    return "" if words and split_message(message).text.strip() else words


def _split(choice: dict[str, Any], api: Api) -> Split:
    message = choice.get("message") or choice.get("delta")
    if api != "completions" and isinstance(message, dict):
        content = message.get("content")
        if content is not None and not isinstance(content, str | list | dict):
            raise ModelError("the reply's content is no text", kind="malformed")
        return split_message(message)
    if not isinstance(choice.get("text"), str):
        raise ModelError("the answer's first choice holds no reply", kind="malformed")
    return split_text(choice["text"])


def _writable(text: str) -> str:
    """Half a surrogate pair is legal JSON, and nothing that could be written to a file."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _calls(choice: dict[str, Any]) -> tuple[ToolCall, ...]:
    """Return the native tool calls of a reply, also in the form that came before them; what has no name is none."""
    message = choice.get("message") or choice.get("delta")
    if not isinstance(message, dict):
        return ()
    listed = message.get("tool_calls")
    calls = listed if isinstance(listed, list) else ()
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    functions = functions or [message.get("function_call")]
    return tuple(
        ToolCall(_name(function["name"]), _arguments(function.get("arguments")))
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str) and function["name"]
    )


def _arguments(value: object) -> str:
    """Return the arguments as JSON text, as which most servers send them; some send the object itself."""
    text = value if isinstance(value, str) else json.dumps(value) if value else ""
    return text.encode("utf-8", "replace").decode("utf-8")


def _name(value: object) -> str:
    return one_line(value, 200) if isinstance(value, str) else ""


def model_names(content: bytes) -> set[str]:
    """Return every name and alias in the body of `GET /models`; none where the body cannot be read."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return set()
    entries = data.get("data") if isinstance(data, dict) else data
    names: set[str] = set()
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            aliases = entry.get("aliases")
            listed = [entry.get("id"), *(aliases if isinstance(aliases, list) else ())]
            names.update(name for name in listed if isinstance(name, str))
    return names
