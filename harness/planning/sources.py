"""Sources of settings: YAML files, the profiles that ship with the package, and `key=value` pairs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from reflex_bench.core.errors import UsageError, unknown

_MAX_PARTS, _MAX_DEPTH = 100_000, 50
"""Of one source. A few lines of aliases can stand for more than fits into memory."""
_MERGED = "tag:yaml.org,2002:merge"
"""Of the key `<<`, which may stand there more than once."""
_UNREADABLE = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""In what PyYAML ends where a tag or a date says something that it cannot make."""


@dataclass(frozen=True, slots=True)
class SettingSource:
    """What one source says.

    Attributes:
        settings: nested.
        pair: whether it is a `key=value` pair; a file otherwise.
        keys: how many keys the pair's name has: 2 in `arms.short={...}`.
        origin: what it is, for people: `-c`, the name of a file or of a profile.
    """

    settings: dict[str, Any]
    pair: bool = False
    keys: int = 0
    origin: str = ""


def read_source(source: str, known: Collection[str] = ()) -> SettingSource:
    """Return one source of settings.

    Args:
        source: a YAML file (`x.yaml`, or the name of one that ships with the package) or a `key.sub=value` pair.
        known: keys that a configuration has, to recognise a pair that lacks its value.

    Raises:
        UsageError: there is no such file, or it is no YAML, nested too deep, or more than a configuration can be.
    """
    name, equals, value = source.partition("=")
    if equals and not _exists(source):
        return _pair(name, value, f"-c {' '.join(source.split())[:200]}")
    if not _exists(source) and source.split(".")[0] in known:
        raise UsageError(f"-c {source[:200]}: a value is missing; write -c {source[:200]}=VALUE")
    if _exists(source):
        return SettingSource(read_file(Path(source), source), origin=source)
    path = _shipped(source)
    return SettingSource(read_file(path, str(path)), origin=f"profile {path.stem}")


def read_file(path: Path, shown: str) -> dict[str, Any]:
    """Return the settings in a YAML file.

    Args:
        path: the file.
        shown: what it is called in messages.

    Raises:
        UsageError: it is no YAML, nested too deep, more than a configuration can be, or no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown}: not readable as YAML: {' '.join(str(error).split())}") from None
    loaded = _parsed(text, shown, "not readable as YAML")
    if not isinstance(loaded or {}, dict):
        raise UsageError(f"{shown}: a configuration is a mapping of keys, not a {type(loaded).__name__}")
    return loaded or {}


def _pair(name: str, value: str, shown: str) -> SettingSource:
    parsed, keys = _parsed(value, shown, "the value is not valid YAML"), name.split(".")
    if len(keys) > _MAX_DEPTH:
        raise UsageError(f"{shown}: nested too deep")
    for key in reversed(keys):
        parsed = {key: parsed}
    return SettingSource(dict(parsed), pair=True, keys=len(keys), origin="-c")


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # longer than a name can be, or with a character that none can have
        return False


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it was built
    """As `yaml.safe_load` reads, but a key that is given twice is an error: the first would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGED:
                continue
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in lines:
                raise _Twice(key.value, lines[name], line)
            lines[name] = line
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


class _Twice(yaml.YAMLError):
    """A key that a mapping has twice, and where."""

    def __init__(self, key: str, first: int, second: int) -> None:
        where = f"in lines {first} and {second}" if first != second else f"in line {first}"
        super().__init__(f"the key {key!r} is given twice, {where}; keep one of them")


def _parsed(text: str, where: str, wrong: str) -> Any:
    refusal = f"{where}: {wrong}"
    try:
        value = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except _Twice as twice:
        raise UsageError(" ".join(f"{where}: {twice}"[:600].split())) from None
    except _UNREADABLE as error:
        raise UsageError(" ".join(f"{refusal}: {error}"[:600].split())) from None
    parts, left = [(value, 0)], _MAX_PARTS
    while parts:
        part, depth = parts.pop()
        left -= 1
        if left < 0 or depth > _MAX_DEPTH:
            raise UsageError(f"{refusal}: too large, or nested too deep")
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        parts += [(each, depth + 1) for each in inner]
    return value


def _shipped(name: str) -> Path:
    """Return a profile of the package by its name, `paper` or `profiles/paper`.

    Its other files are no configurations.
    """
    folder = Path(str(files("reflex_bench.configs")))
    known = {
        str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.glob("profiles/*.yaml"))
    }
    by_name = {**{path.stem: path for path in known.values()}, **known}
    wanted = name.removesuffix(".yaml")
    if wanted in by_name:
        return by_name[wanted]
    if name.endswith((".yaml", ".yml")) or "/" in name:
        shown = " ".join(name[:200].split())
        raise UsageError(f"no such configuration file: {shown}; shipped with the package: {', '.join(known)}")
    raise unknown("configuration (a YAML file, a shipped name, or key=value)", name[:200], by_name)
