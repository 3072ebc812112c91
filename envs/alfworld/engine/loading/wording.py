"""Reads the texts of a game file's grammar: its command templates and its feedback.

The grammars of all releases have one structure and differ in wording only (`put X in/on Y` or `move X to Y`, with or
without `help`, …). So the structure is checked against the one known here, rule by rule and condition by condition, and
the words are taken from the file. Whatever has another structure is an `UnknownGame`.

Source of the structure: alfworld/data/alfred.twl2; of the way it is read: textworld/envs/pddl/logic and textgen.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from reflex_bench.envs.alfworld.engine.loading.pddl import UnknownGame

Rules = Mapping[str, list[dict[str, str]]]
Actions = Mapping[str, tuple[str, str]]
Names = tuple[tuple[str, str], ...]

_O, _R = {"{o.name}": "o"}, {"{r.name}": "r"}
_A_THING = "o.indefinite + ' ' + o.name"
_CONTENTS = {f"[{{{_A_THING} | inreceptacle(o:object, r:receptacle)}}]": "contents"}
_NESTED = {f"[{{{_A_THING.replace('o.', 'o2.')} | inreceptacleobject(o2:object, o:object)}}]": "contents"}
_HERE = "atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)"
_ASTRAY = (
    "atlocation(a:agent, l:location) & objectatlocation(o:object, l:location)"
    " & receptacleatlocation(r:receptacle, l:location) & not_inreceptacle(o:object, r:receptacle)"
)
_CLEAN, _HOT, _COOL, _SLICED = (f"{state}(o:object)" for state in ("isclean", "ishot", "iscool", "issliced"))

# Every rule that can be reached: its alternatives in order, each with its condition and with what may stand in its text
# besides words. The first alternative whose condition holds is the one that is said.
_STRUCTURE: dict[str, list[tuple[str, dict[str, str]]]] = {
    "intro": [("", {"#look.feedback#": "look", "#task#": "task"})],
    "look.feedback": [
        (_HERE, {"#look-variations#": "facing", "#list_objects_on_the_floor#": "astray"}),
        ("", {"#list_appliances#": "receptacles"}),
    ],
    "look-variations": [("", {f"[{{r.name | {_HERE}}}]": "receptacles"})],
    "list_objects_on_the_floor": [(_ASTRAY, {f"[{{#overview(o)# | {_ASTRAY}}}]": "astray"}), ("", {})],
    "list_appliances": [
        (
            "receptacleatlocation(r:receptacle, l:location)",
            {"[{#overview(r)# | receptacleatlocation(r:receptacle, l:location)}]": "receptacles"},
        ),
        ("", {}),
    ],
    "overview(o)": [("", {"{o.indefinite}": "a", **_O})],
    "overview(r)": [("", {"{r.indefinite}": "a", "{r.name or r.id}": "r", **_R})],
    "list_empty": [("", {})],
    "list_separator": [("", {})],
    "list_last_separator": [("", {})],
    "GotoLocation.feedback": [("", {**_R, "{lend.name}": "place", "#examineReceptacle.feedback#": "seen"})],
    "OpenObject.feedback": [("", {**_R, "#examineReceptacle.feedback#": "seen"})],
    "CloseObject.feedback": [("", _R)],
    "PickupObject.feedback": [("", _O | _R)],
    "PutObject.feedback": [("", _O | _R)],
    "inventory.feedback": [
        ("holdsany(a:agent)", {f"[{{{_A_THING} | holds(a:agent, o:object)}}]": "held"}),
        ("", {}),
    ],
    "examineReceptacle.feedback": [
        ("openable(r:receptacle) & opened(r:receptacle)", _R | _CONTENTS),
        ("openable(r:receptacle)", _R),
        ("", _R | _CONTENTS),
    ],
    "examineObject.feedback": [
        ("isreceptacleobject(o:object)", _O | _NESTED),
        (f"{_CLEAN} & {_HOT} & {_SLICED}", _O),
        (f"{_CLEAN} & {_COOL} & {_SLICED}", _O),
        (f"{_CLEAN} & {_SLICED}", _O),
        (f"{_HOT} & {_SLICED}", _O),
        (f"{_COOL} & {_SLICED}", _O),
        (f"{_CLEAN} & {_HOT}", _O),
        (f"{_CLEAN} & {_COOL}", _O),
        (_HOT, _O),
        (_CLEAN, _O),
        (_COOL, _O),
        ("toggleable(o:object) & istoggled(o:object)", _O),
        ("toggleable(o:object) & not_istoggled(o:object)", _O),
        (f"sliceable(o:object) & {_SLICED}", _O),
        ("", _O),
    ],
    "toggleObject.feedback": [
        ("toggleable(o:object) & istoggled(o:object)", _O),
        ("toggleable(o:object)", _O),
        ("", _O),
    ],
    "heatObject.feedback": [("", _O | _R)],
    "cleanObject.feedback": [("", _O | _R)],
    "coolObject.feedback": [("", _O | _R)],
    "sliceObject.feedback": [("", {"{co.name}": "o", "{ko.name}": "knife"})],
}

_THE_O, _THE_R = {"{o}": "0", "{o.name}": "0"}, {"{r}": "1", "{r.name}": "1"}
_GO = {"[{r.name | receptacleatlocation(r:receptacle, lend:location)}]": "1"}
_CUT = {"{co}": "0", "{co.name}": "0", "{ko}": "1", "{ko.name}": "1"}
# Each action of the grammar: our verb for it, its feedback rule, and what its command must name.
_COMMANDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "look": ("look", "look.feedback", {}),
    "inventory": ("inventory", "inventory.feedback", {}),
    "examinereceptacle": ("examine", "examineReceptacle.feedback", _THE_R),
    "examineobject": ("inspect", "examineObject.feedback", _THE_O),
    "gotolocation": ("go", "GotoLocation.feedback", _THE_R | _GO),
    "openobject": ("open", "OpenObject.feedback", _THE_R),
    "closeobject": ("close", "CloseObject.feedback", _THE_R),
    "pickupobject": ("take", "PickupObject.feedback", _THE_O | _THE_R),
    "putobject": ("put", "PutObject.feedback", _THE_O | _THE_R),
    "cleanobject": ("clean", "cleanObject.feedback", _THE_O | _THE_R),
    "heatobject": ("heat", "heatObject.feedback", _THE_O | _THE_R),
    "coolobject": ("cool", "coolObject.feedback", _THE_O | _THE_R),
    "toggleobject": ("use", "toggleObject.feedback", _THE_O),
    "sliceobject": ("slice", "sliceObject.feedback", _CUT),
}

_TASK = re.compile(r'"task"\s*:\s*\[\s*\{\s*"rhs"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}\s*\]')
_TOKEN = re.compile(
    r'\s+|#[^\n]*|"""(?P<block>.*?)"""|"(?P<text>[^"]*)"|(?P<word>[\w/-]+)|(?P<mark>::|[;{}])', re.DOTALL
)
_PIECE = re.compile(r"(\[\{[^}]*\}\]|\{[^}]*\}|#[^#]*#)")
# What the text parser gives a meaning of its own, drops, or stumbles over.
_UNSAFE = re.compile(r'[;|"<>\[\]#{}\t]|^\s*//', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of one grammar.

    Attributes:
        commands: by verb, with `{0}` for the object and `{1}` for the receptacle (or, to slice, the knife).
        phrases: by rule of the grammar, its alternatives in order, with named slots.
        help: what `help` answers, or None where the game has no such command.
    """

    commands: Mapping[str, str]
    phrases: Mapping[str, tuple[str, ...]]
    help: str | None


def read_wording(grammar: str, has_help: bool, names: Names = ()) -> tuple[Wording, str]:
    """Return the wording of a grammar, and the sentence that states the task.

    Args:
        grammar: a game file's grammar (TextWorld's twl2).
        has_help: whether the domain has the action `help`.
        names: by variable of the file's actions, the name by which it is known here.

    Raises:
        UnknownGame: the grammar has another structure than the known ones.
    """
    parts = _TASK.split(grammar)
    if len(parts) != 3:
        raise UnknownGame("a grammar without exactly one sentence that states the task")
    before, sentence, after = parts
    return _wording(f'{before}"task": []{after}', has_help, names), _compile(json.loads(sentence), {})


@lru_cache(maxsize=64)
def _wording(grammar: str, has_help: bool, names: Names) -> Wording:
    try:
        rules, actions = _parse(grammar)
        if names:
            rules, actions = _rename(rules, actions, dict(names))
        return _recognise(rules, actions, has_help)
    except (StopIteration, LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnknownGame(f"a grammar that cannot be read ({type(error).__name__}: {error})") from error


def _rename(rules: Rules, actions: Actions, names: Mapping[str, str]) -> tuple[Rules, Actions]:
    """Return the same grammar, for a domain in which the actions' variables are called as they are here."""
    variable = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b(?=[.:}}])")

    def within(text: str) -> str:
        return variable.sub(lambda match: names[match[1]], text)

    def renamed(text: str) -> str:
        return "".join(within(part) if place % 2 else part for place, part in enumerate(_PIECE.split(text)))

    new = {"condition": within}
    for each in (each for found in rules.values() for each in found):
        each.update({key: new.get(key, renamed)(value) for key, value in each.items()})
    return rules, {name: (renamed(template), renamed(said)) for name, (template, said) in actions.items()}


def _recognise(rules: Rules, actions: Actions, has_help: bool) -> Wording:
    phrases = {name: _phrases(name, rules, shape) for name, shape in _STRUCTURE.items()}
    commands: dict[str, str] = {}
    for name, (verb, feedback, pieces) in _COMMANDS.items():
        template, said = actions.get(name, ("", ""))
        if said != f"#{feedback}#":
            raise UnknownGame(f"a grammar in which the action {name} has no feedback of the known form")
        command = _compile(template, pieces)
        if sorted(re.findall(r"\{(\d)\}", command)) != sorted(set(pieces.values())):
            raise UnknownGame(
                f"a grammar in which the command of {name} does not name what it is about: {template!r}"
            )
        commands[verb] = command
    # To examine a receptacle and an object may read alike, since their names differ.
    for alike in ("examine", "inspect"):
        openings = sorted(command.split("{")[0] for verb, command in commands.items() if verb != alike)
        if any(later.startswith(earlier) for earlier, later in pairwise(openings)):
            raise UnknownGame("a grammar with two commands that read alike")
    return Wording(commands, phrases, _help(rules, actions) if has_help else None)


def _phrases(name: str, rules: Rules, shape: list[tuple[str, dict[str, str]]]) -> tuple[str, ...]:
    found = rules.get(name, [])
    if [_tight(rule.get("condition", "")) for rule in found] != [_tight(condition) for condition, _ in shape]:
        raise UnknownGame(f"a grammar whose rule {name!r} has other conditions than the known ones")
    return tuple(_compile(rule["rhs"], pieces) for rule, (_, pieces) in zip(found, shape, strict=True))


def _help(rules: Rules, actions: Actions) -> str:
    template, said = actions.get("help", ("", ""))
    if template != "help":
        raise UnknownGame("a grammar that words `help` differently")
    # Data 2.1.2 states the text in place, the package as a rule.
    if said == "#help.feedback#":
        (said,) = (rule["rhs"] for rule in rules.get("help.feedback", [{"rhs": said}]))
    return _compile(said, {})


def _compile(text: str, pieces: Mapping[str, str]) -> str:
    """Return a format string in which each of the known pieces has become a named slot."""
    if not text.strip():
        raise UnknownGame("a grammar with an empty text")
    slots = {_tight(piece): f"{{{slot}}}" for piece, slot in pieces.items()}
    compiled: list[str] = []
    # The text parser takes white space at the start of a text for an empty comment.
    for index, part in enumerate(_PIECE.split(text.lstrip())):
        if index % 2:
            if _tight(part) not in slots:
                raise UnknownGame(f"a grammar with an unknown expression: {part[:60]}")
            compiled.append(slots[_tight(part)])
        elif _UNSAFE.search(part):
            raise UnknownGame(f"a grammar with a text that may not be taken literally: {part[:60]!r}")
        else:
            compiled.append(part.replace("\\n", "\n"))
    return "".join(compiled)


def _tight(expression: str) -> str:
    # White space means nothing except between quotes.
    return re.sub(r"('[^']*')|\s+", lambda match: match[1] or "", expression)


def _parse(grammar: str) -> tuple[Rules, Actions]:
    """Return all rules, and (template, feedback) for each action, as TextWorld's logic parser collects them."""
    rules: dict[str, list[dict[str, str]]] = {}
    actions: dict[str, tuple[str, str]] = {}
    tokens = _tokens(grammar)
    for word in tokens:
        if word == "grammar":
            rules.update(_block(tokens))
            continue
        name = next(tokens)
        if word != "action" or next(tokens) != "{":
            raise UnknownGame(f"a grammar with an unknown part: {word[:40]!r}")
        told: dict[str, str] = {}
        for field in tokens:
            if field == "}":
                break
            if field == "grammar":
                rules.update(_block(tokens))
            else:
                told[field] = _value(tokens)
        actions[name.lower()] = (told.get("template", ""), told.get("feedback", ""))
    return rules, actions


def _block(tokens: Iterator[str]) -> dict[str, list[dict[str, str]]]:
    lines = textwrap.dedent(_value(tokens)).split("\n")
    block: dict[str, list[dict[str, str]]] = json.loads(
        "\n".join(line for line in lines if line.lstrip()[:1] != "#")
    )
    return block


def _value(tokens: Iterator[str]) -> str:
    mark, value, end = next(tokens), next(tokens), next(tokens)
    if (mark, end) != ("::", ";"):
        raise UnknownGame("a grammar with a part that is not of the form `name :: value;`")
    return value


def _tokens(grammar: str) -> Iterator[str]:
    position = 0
    while position < len(grammar):
        match = _TOKEN.match(grammar, position)
        if match is None:
            raise UnknownGame(f"a grammar that cannot be read at {grammar[position : position + 40]!r}")
        position = match.end()
        if match.lastgroup:
            yield match[match.lastgroup]
