"""Append-only file of requests and answers: nothing is asked twice, and all can be replayed offline."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError


class Snapshot:
    """JSON lines `{request, time, answer}`; of two lines with one request the first counts.

    A line that was torn by a crash is skipped, so its request is asked again. Not safe for several threads at once.

    Args:
        path: the file; made with the first answer.

    Raises:
        UsageError: the file cannot be read, or has text but not one such line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._answers: dict[str, dict[str, Any]] = {}
        try:
            raw = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise UsageError(f"cannot read the snapshot {path}: {error.strerror}") from None
        for line in raw.split(b"\n"):
            self._read(line)
        self._unended = bool(raw) and not raw.endswith(b"\n")
        if raw.count(b"\n") and not self._answers:
            raise UsageError(f"{path} is no snapshot: its lines must be {{request, time, answer}}")

    def _read(self, line: bytes) -> None:
        try:
            record = json.loads(line)
            request, answer = record["request"], record["answer"]
            if isinstance(request, str) and isinstance(answer["query"], dict):
                self._answers.setdefault(request, answer)
        except (ValueError, KeyError, TypeError, RecursionError):
            return

    def get(self, request: str) -> dict[str, Any] | None:
        """Return the stored answer."""
        return self._answers.get(request)

    def add(self, request: str, time: str, answer: dict[str, Any]) -> None:
        """Keeps an answer, on disk before it is used."""
        record = {"request": request, "time": time, "answer": answer}
        line = ("\n" if self._unended else "") + json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        self._unended = False
        self._answers[request] = answer

    def sha256(self) -> str:
        """Over the requests and answers, whatever their order and time."""
        digest = hashlib.sha256()
        for request in sorted(self._answers):
            digest.update(json.dumps([request, self._answers[request]], sort_keys=True).encode() + b"\n")
        return digest.hexdigest()
