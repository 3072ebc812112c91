"""Grammar of commands: a command of the game, alone on a line or in a call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reflex_bench.envs.completions import labels
from reflex_bench.envs.completions.characters import narrow

GIVE_UP = "give up"
MAX_LENGTH = 200
"""Characters of a command; a longer line is prose, which also keeps the patterns below linear."""

_NAME = r"(?!the |an? )[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}(?: [0-9]+)?"
COMMAND = re.compile(
    rf"(?:look|inventory|help|{GIVE_UP}|(?:go to|open|close|use|examine) {_NAME}"
    rf"|take {_NAME}(?: from {_NAME})?|(?:clean|heat|cool|slice) {_NAME} with {_NAME}"
    rf"|(?:move {_NAME} to|put {_NAME} (?:in/on|into|onto|in|on)) {_NAME})"
)
ACTION_LABEL = re.compile(
    rf"(?:{labels.ACTION}|{labels.ANSWER}|output|response|your turn)[ *_`]{{0,4}}\d{{0,6}}[ *_`]{{0,4}}"
    rf"(?P<sign>{labels.COLON}|{labels.ARROW})[ \t*_`]*",
    re.IGNORECASE,
)
# Only after a number, or a command without objects, is it clear where the command ends and the remark begins.
_REMARK = re.compile(
    r"(?<=\d)(?=[.,;:!\\|<]| ?\(| ?-{1,2} | ?(?:[>→⇒➔—–|/&]|->|=>|\.{3})"
    r"| (?:and|then|to|so|because|in order|since|where)\b)|(?<=look|tory)(?=[.,;!]| ?\(| ?>| and | then )"
)
_ARTICLE = re.compile(r"\b(?:the|an?) ")
_PLACEHOLDER = re.compile(r"\b(?:receptacle|object|recep|obj)\b(?! \d)")
_SEPARATOR = re.compile(r"\s*(?:[>→⇒➔,;|.!]|->|=>|&&|\\n|\band\b|\bthen\b)\s*")
# What stands before the words of a line. Signs: arrows, emoji, bullets of other alphabets, never letters or brackets.
_BEFORE = (
    ("prompt_prefix", re.compile(r">+\s*")),
    (
        "numbering",
        re.compile(
            r"(?:(?:(?:step|schritt|étape|etape|paso|passo|шаг|第|ステップ|步骤) ?)?\(?[0-9]{1,3}(?:步|歩)?[.):\u20e3,]"
            r"|[-•*·◦‣▪●])\s+|[①-⑳]\s*|[0-9]\u20e3\s*|(?:第|步骤|ステップ) ?[0-9]{1,3}(?:步|歩)?[:：]\s*",
            re.IGNORECASE,
        ),
    ),
    ("markdown", re.compile(r"[*_`#~]+\s*")),
    ("quotes", re.compile(r"[\"'“”‘’«„「『]+\s*")),
    ("tag", re.compile(r"</?[|｜]?[\w:]{1,30}(?:\s[^<>\n]{0,60})?[|｜]?>\s*|\$?\\boxed\{(?:\\text\{)?\s*")),
    ("brackets", re.compile(r"[\[({<【〔]+\s*")),
    ("action_label", ACTION_LABEL),
    ("leading_sign", re.compile(r"(?:(?![\[({<\"'“”‘’«„「『【〔.,:;!?\\/$])\W)+\s*|\$\s*")),
)
_TAG_BEHIND = re.compile(r"(?:\s*</?[|｜]?[\w:▁]{1,30}[|｜]?>)+\s*$")
_AFTER = {
    **dict.fromkeys("*_`~#", "markdown"),
    **dict.fromkeys("\"'“”‘’»」』", "quotes"),
    **dict.fromkeys("])}>】〕$", "brackets"),
    **dict.fromkeys(".,;:!…\\", "full_stop"),
}
_CALL = re.compile(r"([a-z][a-z_ ]{1,20}?)\s*[\[({]([^\[\](){}]*)[\])}]")
_KEYWORD = re.compile(r"\s*[A-Za-z_]{1,20}\s*[=:]\s*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAMESPACE = re.compile(r"^(?:functions?|tools?|actions?|env)[.:/]")
_FORMS = {
    "go": "go to {}",
    "goto": "go to {}",
    "go to": "go to {}",
    **{verb: verb + " {}" for verb in ("open", "close", "use", "examine")},
    "take": "take {} from {}",
    "put": "put {} in/on {}",
    "move": "move {} to {}",
    **{verb: verb + " {} with {}" for verb in ("clean", "heat", "cool", "slice")},
}
_PLACES = re.compile(
    r"recep|location|place|from|to$|with|source|target|destination|container|tool|applian|where|in_on|second"
)


def is_placeholder(command: str) -> bool:
    """Return whether a command names the instruction's own words for a thing, as in `go to RECEPTACLE`."""
    return _PLACEHOLDER.search(command) is not None


def undress(line: str) -> tuple[int, list[str]]:
    """Return where the words of a line begin, and what stands before them."""
    position, repairs = 0, []
    while True:
        for name, pattern in _BEFORE:
            found = pattern.match(line, position)
            if found and found.end() > position:
                position = found.end()
                repairs.append(name)
                if name == "action_label" and found["sign"] != ":":
                    repairs.append("other_punctuation")
                break
        else:
            return position, list(dict.fromkeys(repairs))


def command_in(line: str) -> tuple[str | None, list[str]]:
    """Return the command that a line is, and the liberties it took to see it; None for any other line."""
    if len(line) > MAX_LENGTH:
        return None, []
    if line[-1:].isalnum() and line.isascii() and COMMAND.fullmatch(line) and not _ARTICLE.search(line):
        return line, []  # as most are: what follows would find nothing to do
    plain = narrow(line)
    start, repairs = undress(plain)
    end = _end_of_words(plain, start, repairs)
    text = plain[start:end]
    if text != line[start:end]:
        repairs.append("full_width")
    tidy = " ".join(text.split())
    command, more = _tidied(text, tidy)
    if command is None and ("[" in text or "(" in text or plain[end : end + 1] in tuple("])}")):
        command, more = _called(" ".join(plain[start:].split()))
    if command is None:
        return None, []
    once = dict.fromkeys(name for name in (*repairs, *more) if name != "extra_actions")
    return command, [*once, *["extra_actions"] * more.count("extra_actions")]


def _end_of_words(line: str, start: int, repairs: list[str]) -> int:
    tag = _TAG_BEHIND.search(line, start) if line.endswith(">") else None
    end = tag.start() if tag else len(line)
    repairs.extend(["tag"] * bool(tag))
    while end > start and (line[end - 1] in _AFTER or line[end - 1].isspace()):
        end -= 1
        if not line[end].isspace():
            boxed = line[end] in "}$" and "tag" in repairs
            repairs.append("tag" if boxed else _AFTER[line[end]])
    return end


def _tidied(text: str, tidy: str) -> tuple[str | None, list[str]]:
    repairs = ["spacing"] if tidy != text else []
    lower = tidy.lower()
    if lower != tidy:
        repairs.append("letter_case")
    for cut in (len(lower), *(remark.start() for remark in _REMARK.finditer(lower))):
        command = _ARTICLE.sub("", lower[:cut])
        if COMMAND.fullmatch(command):
            if len(command) < cut:
                repairs.append("article")
            return command, repairs + (surplus(lower[cut:]) if cut < len(lower) else [])
    return None, []


def surplus(rest: str) -> list[str]:
    """Return what is ignored behind a command on its line: further commands, once for each, or text."""
    pieces = (_ARTICLE.sub("", piece.strip()) for piece in _SEPARATOR.split(rest.lower()))
    further = sum(COMMAND.fullmatch(piece) is not None for piece in pieces)
    return ["extra_actions"] * further or ["trailing_text"] * bool(rest.strip(" .,;:!*_`\"'>)]}"))


def _called(text: str) -> tuple[str | None, list[str]]:
    """Return a command in the form of a call: `go to[desk 1]`, `take("mug 1", "desk 1")`."""
    call = _CALL.match(_CAMEL.sub(" ", text).lower())
    if call is None:
        return None, []
    values = [_KEYWORD.sub("", value, count=1).strip(" \"'“”`") for value in call[2].split(",")]
    command = command_of_call(call[1], values)
    return command, ["call_form"]


def command_of_call(name: str, arguments: Mapping[str, Any] | Sequence[str] | str) -> str | None:
    """Return the command that a call of a tool stands for; None where it stands for none.

    The name or one of the arguments is the command, or the name and the arguments together are its words; between a
    thing and a place the preposition is put in.

    Args:
        name: of the tool.
        arguments: by name, in order, or one text.
    """
    if isinstance(arguments, Mapping):
        things = [
            (str(key), item) for key, item in arguments.items() if isinstance(item, str) and item.strip()
        ]
        things.sort(key=lambda pair: _PLACES.search(pair[0].lower()) is not None)
        values = [item for _, item in things]
    else:
        values = [arguments] if isinstance(arguments, str) else list(arguments)
    values = [value.strip() for value in values if value.strip()]
    for written in (name, *values):
        command, _ = command_in(written) if not _CALL.fullmatch(written.lower()) else (None, [])
        if command is not None and (COMMAND.fullmatch(written.lower()) or not values or written is not name):
            return command
    verb = _NAMESPACE.sub(
        "", " ".join(_CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").lower().split())
    )
    for words in (" ".join([verb, *values]), _filled(verb, values)):
        command, _ = _tidied(words, " ".join(words.split())) if len(words) <= MAX_LENGTH else (None, [])
        if command is not None:
            return command
    return None


def _filled(verb: str, values: Sequence[str]) -> str:
    form = _FORMS.get(verb.split(" ")[0] if verb not in _FORMS else verb, "")
    return form.format(*values) if form and form.count("{}") == len(values) else ""
