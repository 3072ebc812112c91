"""Procedural twin of HotPotQA: an invented encyclopedia and questions about it, in the official schema.

The same seed and count give the same bytes on any machine and Python. The questions of a smaller count are *not* the
first ones of a larger count: the world grows with the count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reflex_bench.core.errors import UsageError
from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.generator.composer import Composer
from reflex_bench.envs.hotpotqa.generator.context import Misleading
from reflex_bench.envs.hotpotqa.generator.forms import Draft
from reflex_bench.envs.hotpotqa.generator.support import Gold, redirects
from reflex_bench.envs.hotpotqa.world.events import build_world
from reflex_bench.envs.hotpotqa.world.pages import Page, write_pages
from reflex_bench.envs.hotpotqa.world.world import World


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the twin.

    Attributes:
        draft: its logical form.
        gold: its two pages and their sentences.
        record: the question in the official schema.
    """

    draft: Draft
    gold: Gold
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Twin:
    """A world, its encyclopedia and the questions about it."""

    world: World
    pages: dict[str, Page]
    redirects: dict[str, tuple[str, ...]]
    asked: tuple[Asked, ...]


def questions(seed: int, count: int) -> list[dict[str, Any]]:
    """Return `count` questions in the official distractor schema: `_id`, `question`, `answer`, `type`, `level`,
    `supporting_facts` as [title, sentence number] and `context` as ten [title, sentences], of which two are gold.

    Args:
        seed: any whole number; another seed is another world.
        count: at least 1.

    Raises:
        UsageError: the count is less than 1.
    """
    return [json.loads(json.dumps(asked.record)) for asked in compose(seed, count).asked]


def encyclopedia(seed: int, count: int) -> list[dict[str, Any]]:
    """Return all pages of the world of `questions(seed, count)`, by title: `title`, `sentences`, `redirects`.

    Raises:
        UsageError: the count is less than 1.
    """
    twin = compose(seed, count)
    documents = [
        {"title": page.entity.title, "sentences": page.texts, "redirects": list(twin.redirects[identity])}
        for identity, page in twin.pages.items()
    ]
    return sorted(documents, key=lambda document: str(document["title"]))


def write(seed: int, count: int, out_dir: Path) -> tuple[Path, Path]:
    """Writes `questions.json` (the official schema) and `encyclopedia.jsonl` (one page a line); returns their paths.

    Each file appears whole or not at all.

    Raises:
        UsageError: the count is less than 1, or the folder cannot be written to.
    """
    lines = ",\n".join(json.dumps(question, ensure_ascii=False) for question in questions(seed, count))
    pages = "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in encyclopedia(seed, count))
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        return (
            _replace(out_dir / "questions.json", f"[\n{lines}\n]\n"),
            _replace(out_dir / "encyclopedia.jsonl", pages),
        )
    except OSError as error:
        raise UsageError(
            f"cannot write to {out_dir}: {error.strerror}; give a folder that can be written to"
        ) from error


@lru_cache(maxsize=2)
def compose(seed: int, count: int) -> Twin:
    """Return the twin with everything that is known about it; treat it as frozen, it is shared between callers.

    Raises:
        UsageError: the count is less than 1.
    """
    if count < 1:
        raise UsageError(f"cannot generate {count} questions; ask for at least 1")
    world = build_world(seed, count)
    pages = write_pages(world, SeededRandom("hotpotqa pages", seed, count))
    composer = Composer(
        world, pages, redirects(world), SeededRandom("hotpotqa questions", seed, count), count
    )
    drafts = composer.rng.shuffled(composer.bridges() + composer.comparisons())
    misleading = Misleading(world)
    asked = []
    for number, (draft, gold) in enumerate(drafts):
        rng = SeededRandom("hotpotqa context", seed, count, number)
        others = misleading.pages(gold.pages, rng)
        record = _record(pages, draft, gold, rng.shuffled([*gold.pages, *others]))
        asked.append(
            Asked(draft, gold, {"_id": f"twin-{seed}-{count}-{number:0{len(str(count))}d}", **record})
        )
    return Twin(world, pages, composer.redirects, tuple(asked))


def _record(pages: dict[str, Page], draft: Draft, gold: Gold, order: Sequence[str]) -> dict[str, Any]:
    return {
        "question": draft.question,
        "answer": draft.answer,
        "type": draft.type,
        "level": draft.level,
        "supporting_facts": [[pages[page].entity.title, at] for page, at in gold.sentences],
        "context": [[pages[page].entity.title, pages[page].texts] for page in order],
    }


def _replace(path: Path, text: str) -> Path:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path
