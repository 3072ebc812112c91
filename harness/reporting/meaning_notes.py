"""What the numbers of a table mean and what they were measured on: the notes that stand last beneath it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.harness.reporting.declared import metrics_of, rule_in_words, success_rule
from reflex_bench.harness.reporting.statistics.samples import METHOD, is_sampled
from reflex_bench.harness.reporting.tables.number_format import count, join_names
from reflex_bench.harness.reporting.task_facts import MIN_CLUSTERS, cluster_name, clusters_of
from reflex_bench.harness.storage.run_data import Run


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings under dotted names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def definitions(run: Run) -> Iterable[str]:
    """Yield what pass@k and the scores mean in this run, and by which rule a task is solved."""
    if is_sampled(run):
        yield (
            "pass@k: that at least one of k samples solves the task; pass^k: that all of k do. Unbiased, over all "
            f"samples of a task (Chen et al., 2021), then averaged over the tasks; in brackets {METHOD}."
        )
    else:
        yield (
            "pass@k: tasks solved within the first k trials, of all tasks; in brackets the 95% Wilson interval"
            + (
                ", widened by what is unknown."
                if any(run.unknown_within(arm).any() for arm in run.arms)
                else "."
            )
        )
    if success_rule(run):
        yield f"A task is solved when {rule_in_words(run)}."
    scores = [
        metric.label
        for metric in metrics_of(run)
        if metric.summary and metric.trials == "last" and metric.value in run.trials
    ]
    if scores:
        of = "are over all samples" if is_sampled(run) else "are of the last trial each task had"
        yield f"{join_names(scores)} {of if len(scores) > 1 else of.replace('are', 'is', 1)}."
    rescored = run.info.get("rescored_from")
    if rescored:
        yield (
            f"Scored again from run {rescored}, without playing: what its agents were told, and when they stopped, "
            "followed that run's rule."
        )


def clusters(run: Run) -> Iterable[str]:
    """Yield how many clusters the tasks are in, where the environment says what they share."""
    labels = clusters_of(run, run.task_ids)
    if labels is None:
        return
    number, name = len(set(labels)), cluster_name(run)
    if number == run.tasks:
        yield f"The {run.tasks} tasks are in as many clusters (by {name}): none shares it with another."
        return
    few = f"; {count(number, 'cluster')} {'are' if number > 1 else 'is'} too few to allow for that"
    yield (
        f"The {run.tasks} tasks are in {count(number, 'cluster')} (by {name}). Tasks that share a {name} are not "
        "independent, and intervals by task may be too narrow" + (few if number < MIN_CLUSTERS else "") + "."
    )


def engines(run: Run) -> Iterable[str]:
    """Yield which engine played the trials, where the environment has several; older runs do not say."""
    if "result.engine" not in run.trials:
        return
    engines = run.trials["result.engine"].dropna()
    native = int((engines == "native").sum())
    if not len(engines):
        return
    line = f"Played by the native engine: {native} of {count(len(engines), 'trial')}"
    if native < len(engines):
        line += f"; by the official one: {len(engines) - native}"
    if "result.refused" in run.trials:
        reasons = Counter(map(str, run.trials["result.refused"].dropna()))
        kinds = [f"{reason} ({count(number, 'trial')})" for reason, number in sorted(reasons.items())]
        more = f", and {len(kinds) - 2} more reasons" if len(kinds) > 2 else ""
        line += f", as the native one does not know {'; '.join(kinds[:2])}{more}" if kinds else ""
    yield f"{line}."


def origin(run: Run) -> Iterable[str]:
    """Yield where the tasks come from, and the versions and settings that decide what they are."""
    made_as = run.info["run_id"]
    if made_as != run.id:
        yield f"This directory is a copy of run {made_as}, or was renamed."
    yield from (str(note) for note in run.split.get("notes") or ())
    settings = flat(run.environment.get("settings") or {})
    described = ", ".join(f"{name} {_short(value)}" for name, value in settings.items() if value is not None)
    print_of_split = str(run.split.get("fingerprint", ""))[:8]
    version = run.info.get("reflex_version")
    yield (
        f"Split fingerprint {print_of_split}; seed {run.info.get('seed')}; reflex {version}."
        + (f" Environment: {described}." if described else "")
    )
    for each in run.info.get("resumed") or ():
        if isinstance(versions := each.get("versions"), dict) and versions:
            told = ", ".join(f"{name} {new}" for name, new in versions.items())
            yield f"Later trials were played with other versions, from {each.get('time')} on: {told}."


def _short(value: object) -> str:
    text = str(value)
    return text[:8] if len(text) >= 32 and all(mark in "0123456789abcdef" for mark in text) else text
