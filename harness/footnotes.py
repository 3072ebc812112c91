"""What a reader must know before believing a table: one line each, printed beneath it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from reflex_bench.harness.contamination import overlapping_tasks
from reflex_bench.harness.frame import Run, accounting
from reflex_bench.harness.measures import without_overlap
from reflex_bench.harness.statistics import error_bounds
from reflex_bench.harness.unread import unread

SIMULATED = (
    "SIMULATED: a deterministic stand-in played this, not a language model; the numbers say nothing about "
    "any model."
)


def notes(run: Run) -> tuple[str, ...]:
    """The notes of a run, most important first."""
    return (
        *unread(run),
        *_reality(run),
        *_status(run),
        *_errors(run),
        *_shared(run),
        *_repeats(run),
        *_feedback(run),
        *_contamination(run),
        *_untidy(run),
        *_definitions(run),
        *_origin(run),
    )


def shared_trials(run: Run) -> dict[tuple[int, tuple[str, ...]], int]:
    """(trial, arms that shared it) -> on how many tasks they have the same attempt in common."""
    rows = run.trials
    attempts: dict[tuple[str, int, str], list[str]] = {}
    for arm, task, trial, attempt in zip(
        rows["arm"], rows["task"], rows["trial"], rows["attempt"], strict=True
    ):
        if attempt is not None:
            attempts.setdefault((task, trial, attempt), []).append(arm)
    order = list(run.arms)
    shared = Counter(
        (trial, tuple(sorted(arms, key=order.index))) for (_, trial, _), arms in attempts.items()
    )
    return {key: count for key, count in sorted(shared.items()) if len(key[1]) > 1}


def repeated_retries(run: Run, arm: str) -> tuple[int, int]:
    """How many retries of an arm went exactly as an earlier trial of their task, and how many it made."""
    rows = run.rows(arm)
    played = rows[(rows["outcome"] != "error") & rows["digest"].notna()]
    retries = played["trial"] > played.groupby("task")["trial"].transform("min")
    return int((retries & played.duplicated(["task", "digest"])).sum()), int(retries.sum())


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings under dotted names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _reality(run: Run) -> Iterable[str]:
    if run.simulated:
        yield SIMULATED


def _status(run: Run) -> Iterable[str]:
    missing = int(accounting(run)["not recorded"].sum())
    if run.status != "complete":
        yield f"The run is {run.status}: up to {missing} trials are owed; `reflex resume {run.id}` goes on."
    elif missing:
        yield f"{_count(missing, 'trial')} of a complete run not recorded: unknown, not failed."


def _errors(run: Run) -> Iterable[str]:
    for arm in run.arms:
        unknown = int(run.unknown_within(arm)[:, -1].sum())
        errors = int((run.rows(arm)["outcome"] == "error").sum())
        if unknown or errors:
            low, high = error_bounds(int(run.solved_within(arm)[:, -1].sum()), unknown, run.tasks)
            yield (
                f"{arm}: {_count(errors, 'trial')} ended in an error; {_count(unknown, 'task')} of "
                f"{run.tasks} without a result. pass@{run.limit(arm)} is {100 * low:.1f}% if all of "
                f"them fail and {100 * high:.1f}% if all succeed."
            )


def _shared(run: Run) -> Iterable[str]:
    for (trial, arms), tasks in shared_trials(run).items():
        yield (
            f"Trial {trial} was run once for {_and(arms)} on {tasks} of {run.tasks} tasks, as "
            "nothing told them apart yet: equal there by construction, paid for once, counted in every row."
        )


def _repeats(run: Run) -> Iterable[str]:
    for arm in run.arms:
        same, retries = repeated_retries(run, arm)
        if same and same == retries:
            yield (
                f"Every retry of {arm} repeated its first trial exactly (temperature "
                f"{run.settings(arm).get('temperature')}): retrying could not help it."
            )
        elif same:
            yield f"{same} of {retries} retries of {arm} repeated an earlier trial of their task exactly."


def _feedback(run: Run) -> Iterable[str]:
    kinds = {arm: str(run.settings(arm).get("feedback")) for arm in run.arms}
    if len(set(kinds.values())) > 1:
        yield (
            "The arms differ in feedback: " + ", ".join(f"{arm} {kind}" for arm, kind in kinds.items()) + "."
        )
    oracles = [arm for arm, kind in kinds.items() if kind == "oracle"]
    if oracles:
        yield (
            f"Feedback of {_and(oracles)} is the gold answer (oracle): it decides when to stop, so pass@k "
            "beyond the first trial is accuracy with a perfect verifier."
        )
    wrongly = accounting(run).groupby("arm")["wrongly passed"].max()
    for arm, tasks in wrongly[wrongly > 0].items():
        yield f"{arm}: its evaluator took {_count(int(tasks), 'failed task')} for solved and stopped there."


def _contamination(run: Run) -> Iterable[str]:
    """Which tasks stand in the examples of the prompts, and the scores with and without them."""
    shown = {arm: overlapping_tasks(run.info, arm) for arm in run.arms}
    tasks = sorted({task for found in shown.values() for task in found})
    if not tasks:
        return
    scores = [
        f"{arm} {100 * whole:.1f}% and {100 * rest:.1f}%"
        for arm in run.arms
        for whole, rest in [without_overlap(run, arm, tasks)]
    ]
    arms = [arm for arm, found in shown.items() if found]
    whose = "the prompts" if len(arms) == len(run.arms) else f"the prompts of {_and(arms)}"
    more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
    yield (
        f"Worked examples in {whose} show {_count(len(tasks), 'task')} of the split ({', '.join(tasks[:3])}{more}); "
        f"solved within the last trial with and without them: {', '.join(scores)}."
    )


def _untidy(run: Run) -> Iterable[str]:
    for arm in run.arms:
        rows = run.rows(arm)
        replies, name = int(rows["steps"].sum()), "repair.cut_invented_observation"
        cut = int(rows[name].sum()) if name in rows else 0
        if cut and replies:
            share = f"{100 * cut / replies:.1f}%"
            yield f"{arm}: invented observations were cut out of {cut} of {replies} replies ({share})."


def _definitions(run: Run) -> Iterable[str]:
    yield (
        "pass@k: tasks solved within the first k trials, of all tasks; in brackets the 95% Wilson interval"
        + (", widened by what is unknown." if any(run.unknown_within(arm).any() for arm in run.arms) else ".")
    )
    if "result.f1" in run.trials:
        yield "A task is solved when its answer matches exactly (EM); F1 is of the last trial each task had."


def _origin(run: Run) -> Iterable[str]:
    yield from (str(note) for note in run.split.get("notes") or ())
    settings = flat(run.environment.get("settings") or {})
    described = ", ".join(f"{name} {_short(value)}" for name, value in settings.items() if value is not None)
    print_of_split = str(run.split.get("fingerprint", ""))[:8]
    version = run.info.get("reflex_version")
    yield (
        f"Split fingerprint {print_of_split}; seed {run.info.get('seed')}; reflex {version}."
        + (f" Environment: {described}." if described else "")
    )


def _short(value: object) -> str:
    text = str(value)
    return text[:8] if len(text) >= 32 and all(mark in "0123456789abcdef" for mark in text) else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _and(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
