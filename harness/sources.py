"""Where settings come from: YAML files, the profiles that ship with the package, and `key=value` pairs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from reflex_bench.harness.errors import UsageError, unknown

_MOST_PARTS, _DEEPEST = 100_000, 50
"""Of one source. A few lines of aliases can stand for more than fits into memory."""
_UNREADABLE = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""In what PyYAML ends where a tag or a date says something that it cannot make."""


def read_source(source: str) -> dict[str, Any]:
    """One source of settings.

    Args:
        source: a YAML file (`x.yaml`, or the name of one that ships with the package) or a `key.sub=value` pair.

    Raises:
        UsageError: there is no such file, or it is no YAML, nested too deep, or more than a configuration can be.
    """
    name, equals, value = source.partition("=")
    if equals and not _exists(source):
        shown = f"-c {' '.join(source.split())[:200]}"
        parsed, keys = _parsed(value, f"{shown}: the value is not valid YAML"), name.split(".")
        if len(keys) > _DEEPEST:
            raise UsageError(f"{shown}: nested too deep")
        for key in reversed(keys):
            parsed = {key: parsed}
        return dict(parsed)
    path = Path(source) if _exists(source) else _shipped(source)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from None
    loaded = _parsed(text, f"{path}: not readable as YAML")
    if not isinstance(loaded or {}, dict):
        raise UsageError(f"{path}: a configuration is a mapping of keys, not a {type(loaded).__name__}")
    return loaded or {}


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # longer than a name can be, or with a character that none can have
        return False


def _parsed(text: str, refusal: str) -> Any:
    try:
        value = yaml.safe_load(text)
    except _UNREADABLE as error:
        raise UsageError(" ".join(f"{refusal}: {error}"[:600].split())) from None
    parts, left = [(value, 0)], _MOST_PARTS
    while parts:
        part, depth = parts.pop()
        left -= 1
        if left < 0 or depth > _DEEPEST:
            raise UsageError(f"{refusal}: too large, or nested too deep")
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        parts += [(each, depth + 1) for each in inner]
    return value


def _shipped(name: str) -> Path:
    """A configuration of the package by its bare name, e.g. `paper` or `profiles/paper`."""
    folder = Path(str(files("reflex_bench.configs")))
    known = {str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.rglob("*.yaml"))}
    by_name = {**{path.stem: path for path in known.values()}, **known}
    wanted = name.removesuffix(".yaml")
    if wanted in by_name:
        return by_name[wanted]
    if name.endswith((".yaml", ".yml")) or "/" in name:
        shown = " ".join(name[:200].split())
        raise UsageError(f"no such configuration file: {shown}; shipped with the package: {', '.join(known)}")
    raise unknown("configuration (a YAML file, a shipped name, or key=value)", name[:200], by_name)
