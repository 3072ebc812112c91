"""Sample of every kind of answer that an episode gives, for the prompt hash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reflex_bench.envs.base import Task
from reflex_bench.envs.hotpotqa.corpus.corpus import Found, Missing
from reflex_bench.envs.hotpotqa.corpus.documents import Document
from reflex_bench.envs.hotpotqa.episode import HotpotEpisode
from reflex_bench.envs.hotpotqa.profiles import SHOWN, Profile
from reflex_bench.envs.hotpotqa.questions import Question
from reflex_bench.envs.hotpotqa.scoring import SuccessRule

SHORT = Document("Orm", ("The Orm is a river.", " It ends in a lake."))
LONG = Document("Lake Orm", tuple(f" Sentence {n} is about a lake." for n in range(SHOWN + 2)))
EMPTY = Document("Nothing", ())

COMMANDS = (
    "Lookup[lake]",
    *("Search[Orm]", "Lookup[lake]", "Lookup[lake]", "Lookup[mountain]"),
    *(
        "Search[the lake]",
        "Lookup[lake]",
        "Search[Nothing]",
        "Search[no such page]",
        "Search[ambiguous]",
        "Lookup[lake]",
    ),
    *("Swim[in the lake]", "Search[]"),
)


@dataclass(frozen=True, slots=True)
class TwoPages:
    """A corpus whose answers need no index. Implements `reflex_bench.envs.hotpotqa.corpus.corpus.Corpus`."""

    kind: str = "sample"
    size: int | None = 3
    sha256: str | None = None

    def find(self, query: str, similar: int) -> Found | Missing:
        """Return a page by its title, or by the one name that differs from it."""
        pages = {"Orm": SHORT, "the lake": LONG, "Nothing": EMPTY}
        if query in pages:
            return Found(pages[query])
        listed = ("Orm", "Lake Orm")[:similar]
        return Missing(listed if query == "ambiguous" else (), ambiguous=query == "ambiguous")


def sample_observations(profile: Profile, rule: SuccessRule, tells_verdict: bool) -> Iterator[str]:
    """Yield the answers to fixed commands, the right and the wrong answer to the question among them.

    Args:
        profile: its words.
        rule: what counts as success.
        tells_verdict: whether the answer to Finish says if it was right.
    """
    task = Task("sample", "bridge", "Where does the Orm end?", "0" * 64, Question("a lake", (), ()))
    for answer in ("a lake", "the sea"):
        episode = HotpotEpisode(task, TwoPages(), profile, rule, tells_verdict)
        yield episode.reset()
        for command in (*COMMANDS, f"Finish[{answer}]"):
            yield episode.step(command).observation
