"""Drafts of questions: a logical form, its wording, and its answer according to the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reflex_bench.core.seeded_random import SeededRandom
from reflex_bench.envs.hotpotqa.generator.query import Atom, Query, facts_of, named, solve, steps
from reflex_bench.envs.hotpotqa.world.pages import WORKS, capital, mention, value_text
from reflex_bench.envs.hotpotqa.world.world import Entity, Fact, Value, World, table

Operation = Literal["only", "least", "greatest", "same"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that still has to prove itself.

    Attributes:
        form: the name of its logical form, e.g. `film.creator.birthplace`.
        type: `bridge` or `comparison`.
        level: `easy`, `medium` or `hard`.
        question: as it is asked.
        answer: as it is scored.
        operation: what makes the answer of the queries' values: the only value of the one query; the name of the entity
            whose value is the least or the greatest; whether the values are the same.
        queries: one for a bridge, one for each of the two entities compared.
        value: what is asked for, as the world has it; answers are counted by it.
        first: id of the page that the question leads to.
        seconds: ids of pages that may complete it, best first.
        facts: everything that a reader has to find.
    """

    form: str
    type: str
    level: str
    question: str
    answer: str
    operation: Operation
    queries: tuple[Query, ...]
    value: Value
    first: str
    seconds: tuple[str, ...]
    facts: tuple[Fact, ...]


def bridge(world: World, rng: SeededRandom, path: str, start: str) -> Draft | None:
    """Asks for what lies at the end of a path, such as `creator.university.founded`, from one entity."""
    segments = tuple(path.split("."))
    entity = world.entities[start]
    query = Query((*named("?x", entity), *steps("?x", segments)), f"?{len(segments)}")
    bindings = solve(world, query)
    if len(bindings) != 1:
        return None
    stations = [str(bindings[0][f"?{number}"]) for number in range(1, len(segments) + 1)]
    between = stations[:-1]
    value = bindings[0][query.answer]
    seconds = [*reversed(between), *([stations[-1]] if value in world.entities else [])]
    answer = value_text(world, segments[-1], value)
    return Draft(
        form=f"{entity.kind}.{path}",
        type="bridge",
        level="medium" if len(segments) == 2 else "hard",
        question=_bridge_wording(world, rng, entity, segments, between),
        answer=answer,
        operation="only",
        queries=(query,),
        value=value,
        first=start,
        seconds=tuple(seconds),
        facts=tuple(facts_of(query, bindings[0])),
    )


def shared(
    world: World, rng: SeededRandom, row: Sequence[str], wordings: Sequence[str], start: str
) -> Draft | None:
    """Asks which of several things that one entity leads to is also related to another entity."""
    kind, segment, relation = row
    options = [str(value) for _, value in world.walk(start, segment)]
    answer = rng.pick_where(options, lambda option: bool(world.about(option, relation)))
    if len(options) < 2 or not answer:
        return None
    other = str(rng.pick(world.about(answer, relation)).value)
    entities = world.entities
    atoms = (*named("?x", entities[start]), *named("?z", entities[other]), *steps("?x", (segment,)))
    query = Query((*atoms, Atom("?1", relation, "?z")), "?1")
    bindings = solve(world, query)
    if len(bindings) != 1:
        return None
    wording, quoted = rng.pick(wordings), rng.chance(0.5)
    return Draft(
        form=f"{kind}.{segment}&{relation}",
        type="bridge",
        level="hard",
        question=_spoken(wording, x=_asked(entities[start], quoted), z=_asked(entities[other], quoted)),
        answer=entities[answer].name,
        operation="only",
        queries=(query,),
        value=answer,
        first=start,
        seconds=(answer,),
        facts=tuple(facts_of(query, bindings[0])),
    )


def compared(
    world: World,
    rng: SeededRandom,
    relation: str,
    pair: tuple[str, str],
    operation: Operation,
    wordings: Sequence[str],
) -> Draft | None:
    """Asks which of two entities has the `least` or `greatest` value, or whether both have the `same`.

    Args:
        world: which holds the facts.
        rng: decides on the wording.
        relation: what is compared.
        pair: ids of the two, in the order in which the question names them.
        operation: one of the three.
        wordings: to choose from; with {a} and {b}.
    """
    one, two = (world.entities[identity] for identity in pair)
    if one.name == two.name:
        return None
    queries = tuple(Query((*named("?x", entity), *steps("?x", (relation,))), "?1") for entity in (one, two))
    bindings = [found[0] for query in queries if len(found := solve(world, query)) == 1]
    if len(bindings) < 2:
        return None
    left, right = (binding["?1"] for binding in bindings)
    if operation != "same" and left == right:
        return None
    answer = _verdict(operation, left, right, one.name, two.name)
    wording, quoted = rng.pick(wordings), rng.chance(0.5)
    a, b = (_asked(entity, quoted, said=entity.kind in wording) for entity in (one, two))
    return Draft(
        form=f"{operation} {'/'.join(dict.fromkeys((one.kind, two.kind)))}.{relation}",
        type="comparison",
        level="easy" if operation == "same" else "medium",
        question=_spoken(wording, a=a, b=b),
        answer=answer,
        operation=operation,
        queries=queries,
        value=answer,
        first=pair[0],
        seconds=(pair[1],),
        facts=tuple(fact for at in (0, 1) for fact in facts_of(queries[at], bindings[at])),
    )


def _verdict(operation: Operation, left: Any, right: Any, one: str, two: str) -> str:
    if operation == "same":
        return "yes" if left == right else "no"
    return one if (left < right) == (operation == "least") else two


def _bridge_wording(
    world: World, rng: SeededRandom, start: Entity, segments: Sequence[str], between: Sequence[str]
) -> str:
    tables = table("questions")
    quoted = rng.chance(0.5)
    head, tail = _asked(start, quoted), ""
    bare = _asked(start, quoted, said=start.title == start.name)
    kind = start.kind
    for segment, station in zip(segments[:-1], between, strict=True):
        whole = f"{head} {tail}".strip()
        head, _, tail = rng.pick(tables["nouns"][kind][segment]).partition(" | ")
        head, tail = (part.format(x=whole, y=whole, bare=bare) for part in (head, tail))
        kind = world.entities[station].kind
    asks = tables["asks"]
    ask = rng.pick(asks.get(kind, {}).get(segments[-1]) or asks["any"][segments[-1]])
    return _spoken(ask, y=f"{head} {tail}", h=head, t=tail)


def _asked(entity: Entity, quoted: bool, said: bool = False) -> str:
    """Return an entity as a question names it: a work with its kind, unless the wording has said it."""
    if entity.kind not in WORKS:
        return mention(entity)
    name = f'"{entity.name}"' if quoted else entity.name
    return name if said else f"the {entity.kind} {name}"


def _spoken(wording: str, **parts: str) -> str:
    text = " ".join(wording.format(**parts).split())
    return capital(text.replace(" ?", "?"))
