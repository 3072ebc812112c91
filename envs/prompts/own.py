"""A person's own texts in place of those that an environment brings: read, checked, and put there."""

from __future__ import annotations

import difflib
import string
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.base import Example, Prompts
from reflex_bench.envs.prompts import AGENT_MARK, parse_example, parse_form
from reflex_bench.envs.text_form import TextForm

Place = tuple[str | int, ...]


class ReflectionExample(BaseModel):
    """An episode and what a good reflection on it says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    episode: str
    reflection: str


class Texts(BaseModel):
    """The keys of a file of prompts; see `Prompts` for what each is. What is None is the environment's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    instruction: str | None = None
    act_instruction: str | None = None
    cot_instruction: str | None = None
    tools_instruction: str | None = None
    reflection_instruction: str | None = None
    thought_observation: str | None = None
    invalid_observation: str | None = None
    thought_form: str | None = None
    action_form: str | None = None
    stop: list[str] | None = None
    verbs: list[str] | None = None
    needs_action: bool | None = None
    examples: dict[str, list[str]] | None = None
    cot_examples: list[str] | None = None
    reflection_examples: list[ReflectionExample] | None = None
    text: dict[str, Any] | None = None
    published: dict[str, Any] | None = None
    advice: dict[str, str] | None = None


PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "thought_form": ("",),
    "action_form": ("",),
    "invalid_observation": ("command",),
    "observation": ("n",),
    "begin": ("n",),
    "begin_action": ("n",),
    "memory_item": ("i", "text"),
}
"""What may stand in braces, by the key; in the other texts braces are text."""

NEEDED = {"thought_form": "", "action_form": "", "memory_item": "text"}
"""What must."""


def with_texts(prompts: Prompts, text: str, name: str) -> Prompts:
    """Return prompts in which the keys of a file stand in the place of the environment's.

    Args:
        prompts: the environment's.
        text: the file, YAML. It replaces the task types in its `examples`, and the keys in its `text` and `published`.
        name: the file's, for messages.

    Raises:
        UsageError: it is no YAML; or has a key that prompts do not have, an example that is no episode or is of a task
            type that does not exist, or a placeholder that nothing is put in place of.
    """
    raw, lines = _read(text, name)
    try:
        given = Texts.model_validate(raw)
    except ValidationError as error:
        raise _refusal(error, lines, name) from None
    check = _Check(lines, name)
    for key in ("thought_form", "action_form", "invalid_observation"):
        check.placeholders((key,), key, getattr(given, key))
    changed: dict[str, Any] = {
        key: value.strip()
        if key.endswith("instruction")
        else tuple(value)
        if isinstance(value, list)
        else value
        for key in _PLAIN
        if (value := getattr(given, key)) is not None
    }
    if given.examples is not None:
        changed["examples"] = {**prompts.examples, **check.examples(given.examples, prompts)}
    if given.cot_examples is not None:
        changed["cot_examples"] = tuple(check.episodes(("cot_examples",), given.cot_examples))
    if given.reflection_examples is not None:
        pairs = given.reflection_examples
        changed["reflection_examples"] = tuple(
            (each.episode.strip(), each.reflection.strip()) for each in pairs
        )
    if given.advice is not None:
        changed["advice"] = {**prompts.advice, **given.advice}
    if given.text is not None:
        changed["text"] = check.form("text", prompts.text, given.text)
    if given.published is not None:
        if prompts.published is None:
            raise check.wrong(
                ("published",), "the environment has no published structure to change; leave it out"
            )
        changed["published"] = check.form("published", prompts.published, given.published)
    return replace(prompts, **changed)


_PLAIN = [
    each
    for each in Texts.model_fields
    if each not in ("examples", "cot_examples", "reflection_examples", "text", "published", "advice")
]


def _read(text: str, name: str) -> tuple[dict[str, Any], dict[Place, int]]:
    """Return what the YAML says, and the line on which each part of it begins."""
    try:
        node, raw = yaml.compose(text, yaml.SafeLoader), yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(f"{where}: no YAML: {problem}") from None
    if not isinstance(raw, dict) or not all(isinstance(key, str) for key in raw):
        raise UsageError(
            f"{name}: prompts map keys to texts; `reflex prompts NAME` prints a file to begin with"
        )
    return raw, dict(_lines(node, ()))


def _lines(node: yaml.Node | None, place: Place) -> Iterator[tuple[Place, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line + 1
            yield from _lines(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield (*place, number), value.start_mark.line + 1
            yield from _lines(value, (*place, number))


def _refusal(error: ValidationError, lines: Mapping[Place, int], name: str) -> UsageError:
    first = error.errors(include_url=False)[0]
    place: Place = tuple(first["loc"])
    known = Texts.model_fields if len(place) == 1 else ReflectionExample.model_fields
    check = _Check(lines, name)
    if first["type"] == "extra_forbidden":
        return check.wrong(place, f"unknown key {place[-1]!r}; {_nearest(str(place[-1]), known)}")
    if first["type"] == "missing":
        return check.wrong(
            place[:-1], f"a reflection example lacks {place[-1]!r}; it needs episode and reflection"
        )
    return check.wrong(place, f"{'.'.join(map(str, place))}: {first['msg'].lower()}")


def _nearest(given: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = difflib.get_close_matches(given, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


class _Check:
    """Refuses what cannot be put before a model, with file and line."""

    def __init__(self, lines: Mapping[Place, int], name: str) -> None:
        self._lines, self._name = lines, name

    def wrong(self, place: Place, what: str) -> UsageError:
        """Return the error at a place of the file."""
        while place and place not in self._lines:
            place = place[:-1]
        line = f", line {self._lines[place]}" if place else ""
        return UsageError(f"{self._name}{line}: {what}")

    def placeholders(self, place: Place, key: str, text: str | None) -> None:
        """Raise `UsageError` where braces hold what nothing is put in place of, or lack what must stand there."""
        if text is None or key not in PLACEHOLDERS:
            return
        allowed = PLACEHOLDERS[key]
        try:
            found = [each for _, each, _, _ in string.Formatter().parse(text) if each is not None]
        except ValueError as error:
            raise self.wrong(place, f"{key}: {error}; write a brace that is text twice") from None
        for each in found:
            if each not in allowed:
                shown = " or ".join(f"{{{name}}}" for name in allowed)
                raise self.wrong(place, f"{key}: nothing is put in place of {{{each}}}; it may hold {shown}")
        if key in NEEDED and NEEDED[key] not in found:
            raise self.wrong(place, f"{key}: {{{NEEDED[key]}}} must stand where the text goes")

    def examples(self, given: Mapping[str, list[str]], prompts: Prompts) -> dict[str, tuple[Example, ...]]:
        """Return worked examples by task type."""
        for kind in given:
            if kind not in prompts.examples:
                known = tuple(each or '""' for each in prompts.examples)
                raise self.wrong(("examples", kind), f"no task type {kind!r}; {_nearest(kind, known)}")
        return {kind: tuple(self.episodes(("examples", kind), texts)) for kind, texts in given.items()}

    def episodes(self, place: Place, texts: list[str]) -> Iterator[Example]:
        """Yield transcripts as turns."""
        for number, text in enumerate(texts):
            example = parse_example(text)
            if not example.turns or not example.turns[0][0]:
                raise self.wrong(
                    (*place, number),
                    "an example begins with what the environment says; lines that begin with `> ` are the agent's",
                )
            yield example

    def form(self, key: str, form: TextForm, given: Mapping[str, Any]) -> TextForm:
        """Return the form of a running text with some of its keys changed."""
        known = {each.name: getattr(form, each.name) for each in fields(TextForm)}
        for name, value in given.items():
            if name not in known:
                raise self.wrong((key, name), f"unknown key {name!r} of {key}; {_nearest(name, known)}")
            wanted = known[name]
            if isinstance(wanted, tuple):
                fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
                fits = fits and (name != "example_headers" or len(value) == 2)
            else:
                fits = isinstance(value, Mapping if isinstance(wanted, Mapping) else type(wanted))
            if not fits:
                kind = "a list of texts" if isinstance(wanted, tuple) else type(wanted).__name__
                raise self.wrong((key, name), f"{key}.{name}: must be {kind}, as in {wanted!r}")
            if isinstance(value, str):
                self.placeholders((key, name), name, value)
        return replace(form, **{name: getattr(parse_form(given), name) for name in given})


def as_yaml(name: str, prompts: Prompts) -> str:
    """Return prompts as YAML that `with_texts` reads: the file that ships, or one made of a plug-in's prompts.

    Args:
        name: of the environment.
        prompts: its prompts.
    """
    shipped = files("reflex_bench.envs.prompts").joinpath(f"{name}.yaml")
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    plain = {key: value for key in _PLAIN if (value := getattr(prompts, key)) not in ("", ())}
    listed = {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}
    if prompts.examples:
        listed["examples"] = {
            kind: [_transcript(each) for each in examples] for kind, examples in prompts.examples.items()
        }
    if prompts.cot_examples:
        listed["cot_examples"] = [_transcript(each) for each in prompts.cot_examples]
    if prompts.reflection_examples:
        pairs = prompts.reflection_examples
        listed["reflection_examples"] = [{"episode": told, "reflection": said} for told, said in pairs]
    if prompts.advice:
        listed["advice"] = dict(prompts.advice)
    return yaml.safe_dump(listed, sort_keys=False, allow_unicode=True, width=120)


def _transcript(example: Example) -> str:
    lines: list[str] = []
    for seen, said in example.turns:
        lines += [*seen.splitlines(), *(f"{AGENT_MARK}{line}" for line in said.splitlines())]
    return "\n".join([*lines, *example.closing.splitlines()])
