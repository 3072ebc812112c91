"""YAML as plain data, with the line in which every part of it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reflex_bench.core.errors import UsageError

MAX_BYTES = 1_000_000
MAX_PARTS = 50_000
"""Of a file, anchors written out."""

Path_ = tuple[str | int, ...]
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Lined:
    """A file that was read.

    Attributes:
        name: of the file, for messages.
        data: what it holds.
        lines: of every part by its path, from 1.
    """

    name: str
    data: Any = None
    lines: dict[Path_, int] = field(default_factory=dict)

    def wrong(self, path: Path_, message: str) -> UsageError:
        """Return the error for a part of it, with the line of the nearest part that is written there."""
        while path not in self.lines and path:
            path = path[:-1]
        return UsageError(f"{self.name}, line {self.lines.get(path, 1)}: {message}")


def read(path: Path, name: str) -> Lined:
    """Return a YAML file.

    Args:
        path: of the file.
        name: by which messages call it.

    Raises:
        UsageError: it cannot be read, is no YAML, too large, or has a key twice; with the line.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{name}: larger than {MAX_BYTES:,} bytes")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{name}: there is no such file") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{name}: not readable: {' '.join(str(error).split())[:200]}") from None
    lined = Lined(name)
    try:
        loader = _BASE(text)
        try:
            node = loader.get_single_node()
            lined.data = _Reader(lined, loader).value(node, ()) if node else None
        finally:
            loader.dispose()
    except RecursionError:
        raise UsageError(f"{name}: nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        what = getattr(error, "problem", None) or str(error)
        raise UsageError(f"{where}: not readable as YAML: {' '.join(str(what).split())[:200]}") from None
    return lined


class _Reader:
    """Makes data of nodes; what an anchor names is written out wherever it is used."""

    def __init__(self, lined: Lined, loader: Any) -> None:
        self._lined, self._loader, self._left = lined, loader, MAX_PARTS

    def value(self, node: yaml.Node, path: Path_) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UsageError(f"{self._lined.name}: more than {MAX_PARTS:,} parts, anchors written out")
        self._lined.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*path, place)) for place, each in enumerate(node.value)]
        return self._loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode, path: Path_) -> Mapping[str, Any]:
        made: dict[str, Any] = {}
        for key, each in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UsageError(f"{self._lined.name}, line {line}: a key must be a word")
            if key.value in made:
                first = self._lined.lines[(*path, key.value)]
                raise UsageError(
                    f"{self._lined.name}, line {line}: the key {key.value!r:.80} is given twice, first in line {first}"
                )
            self._lined.lines[(*path, key.value)] = line
            made[key.value] = self.value(each, (*path, key.value))
        return made
