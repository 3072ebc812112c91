"""What a reader must know before believing a table: one line each, printed beneath it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from reflex_bench.harness.checks.contamination import overlapping_tasks
from reflex_bench.harness.reporting.effort import repeated_retries
from reflex_bench.harness.reporting.meaning_notes import clusters, definitions, engines, origin
from reflex_bench.harness.reporting.measures import without_overlap
from reflex_bench.harness.reporting.row_settings import (
    change_in_words,
    changed_parameters,
    effective_settings,
)
from reflex_bench.harness.reporting.statistics.intervals import error_bounds
from reflex_bench.harness.reporting.statistics.samples import estimates, is_sampled
from reflex_bench.harness.reporting.tables.number_format import count, join_names
from reflex_bench.harness.reporting.unanswered import never_acted, why_idle
from reflex_bench.harness.reporting.unread import uncalled, unread
from reflex_bench.harness.storage.refused import MAX_ATTEMPTS
from reflex_bench.harness.storage.run_data import Run, accounting

SIMULATED = (
    "SIMULATED: a deterministic stand-in played this, not a language model; the numbers say nothing about "
    "any model."
)
_ROLES = ("evaluator", "step_evaluator", "reflector")
_RETRY = ("retry", "retries", "trial")


def notes(run: Run) -> tuple[str, ...]:
    """The notes of a run, most important first."""
    return (
        *never_acted(run),
        *uncalled(run),
        *unread(run, [arm for arm in run.arms if not why_idle(run, arm)]),
        *references(run),
        *reality(run),
        *_status(run),
        *_errors(run),
        *_changed(run),
        *_timeouts(run),
        *_shared(run),
        *repeats(run, run.arms),
        *_feedback(run),
        *_contamination(run),
        *_untidy(run),
        *definitions(run),
        *engines(run),
        *clusters(run),
        *origin(run),
    )


def decisive_notes(run: Run) -> tuple[str, ...]:
    """The notes of a run without which its numbers beside those of other runs are misread, most important first."""
    return (
        *never_acted(run),
        *uncalled(run),
        *unread(run, [arm for arm in run.arms if not why_idle(run, arm)]),
        *reality(run),
        *_status(run),
        *_errors(run),
        *_changed(run),
        *_feedback(run),
        *_contamination(run),
        *definitions(run),
    )


def references(run: Run) -> Iterable[str]:
    """Yield a note for every arm that is no agent under test."""
    for arm in run.arms:
        if run.settings(arm).get("reference"):
            yield (
                f"{arm} is no agent under test: it is told the solution of every task, and shows what can be reached."
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


def reality(run: Run) -> Iterable[str]:
    """Yield that a stand-in took part, and in which place, where one did."""
    if not run.simulated:
        return
    models = run.info.get("models")
    described = models if isinstance(models, Mapping) else {}
    stand_ins = {
        name
        for name, each in described.items()
        if isinstance(each, Mapping) and each.get("simulated") is True
    }
    roles = {
        role for arm in run.arms for role in _ROLES if run.settings(arm).get(f"{role}_model") in stand_ins
    }
    actors = {run.settings(arm).get("model") for arm in run.arms}
    if roles and not any(actor in stand_ins or str(actor).startswith("replay:") for actor in actors):
        yield (
            f"SIMULATED: a deterministic stand-in, not a language model, was {join_names(sorted(roles))}; the "
            f"numbers say nothing about {join_names(sorted(map(str, actors)))} with a model in that place."
        )
    else:
        yield SIMULATED


def _changed(run: Run) -> Iterable[str]:
    """What an endpoint did not take: the row's values are then not the ones that were asked for."""
    roles = ("model", *(f"{role}_model" for role in _ROLES))
    for model in sorted({str(run.settings(arm).get(role)) for arm in run.arms for role in roles}):
        changed = changed_parameters(run, model)
        if changed:
            told = ", ".join(change_in_words(name, became) for name, became in changed.items())
            own = " Its own default holds for what is left out." if "left out" in changed.values() else ""
            yield f"The endpoint of {model} does not take all parameters: {told}.{own}"


def _status(run: Run) -> Iterable[str]:
    missing = int(accounting(run)["not recorded"].sum())
    if run.status != "complete":
        yield f"The run is {run.status}: up to {missing} trials are owed; `reflex resume {run.id}` goes on."
    elif missing:
        yield f"{count(missing, 'trial')} of a complete run not recorded: unknown, not failed."


def _errors(run: Run) -> Iterable[str]:
    for arm in run.arms:
        failed = run.rows(arm)[run.rows(arm)["outcome"] == "error"]
        errors = len(failed)
        yield from _refused(arm, int((failed["refused"] >= MAX_ATTEMPTS).sum()))
        if is_sampled(run):
            yield from _missing_samples(run, arm, errors)
            continue
        unknown = int(run.unknown_within(arm)[:, -1].sum())
        if unknown or errors:
            low, high = error_bounds(int(run.solved_within(arm)[:, -1].sum()), unknown, run.tasks)
            yield (
                f"{arm}: {count(errors, 'trial')} ended in an error; {count(unknown, 'task')} of "
                f"{run.tasks} without a result. pass@{run.limit(arm)} is {100 * low:.1f}% if all of "
                f"them fail and {100 * high:.1f}% if all succeed."
            )


def _refused(arm: str, trials: int) -> Iterable[str]:
    if trials:
        yield (
            f"{arm}: {count(trials, 'trial')} refused for good by the model's endpoint, each {MAX_ATTEMPTS} times: "
            "counted as ended in an error, and not asked for again."
        )


def _missing_samples(run: Run, arm: str, errors: int) -> Iterable[str]:
    every = [(each.k, each.any_of.unknown) for each in estimates(run, arm)]
    if every[-1][1] or errors:
        whole = max((k for k, unknown in every if not unknown), default=0)
        yield (
            f"{arm}: {count(errors, 'sample')} ended in an error; {count(every[-1][1], 'task')} of {run.tasks} "
            f"without all {run.limit(arm)} samples. Every task allows "
            + (f"k up to {whole}" if whole else "no k")
            + "; beyond it a task with too few samples is unknown."
        )


def _timeouts(run: Run) -> Iterable[str]:
    lost = run.info.get("timeouts")
    attempts, tokens = (lost.get("attempts"), lost.get("prompt_tokens")) if isinstance(lost, dict) else (0, 0)
    if type(attempts) is int and type(tokens) is int and attempts > 0:
        yield (
            f"{count(attempts, 'attempt')} at a call timed out and went out again, with about {tokens:,} prompt "
            "tokens that count in no cell: too many calls at a time (--max-connections), or endpoint.timeout is too "
            "short."
        )


def _shared(run: Run) -> Iterable[str]:
    for (trial, arms), tasks in shared_trials(run).items():
        yield (
            f"Trial {trial} was run once for {join_names(arms)} on {tasks} of {run.tasks} tasks, as "
            "nothing told them apart yet: equal there by construction, paid for once, counted in every row."
        )


def repeats(run: Run, arms: Iterable[str]) -> Iterable[str]:
    """Yield how many retries of each arm only repeated an earlier trial, where some did."""
    retry, others, first = ("further sample", "further samples", "sample") if is_sampled(run) else _RETRY
    useless = "they are one sample" if is_sampled(run) else "retrying could not help it"
    for arm in arms:
        # Trials without a single action are all alike, whatever the temperature.
        same, retries = (0, 0) if why_idle(run, arm) else repeated_retries(run, arm)
        if same and same == retries:
            yield (
                f"Every {retry} of {arm} repeated its first {first} exactly (temperature "
                f"{effective_settings(run, arm).get('temperature')}): {useless}."
            )
        elif same:
            yield f"{same} of {retries} {others} of {arm} repeated an earlier {first} of their task exactly."


def _feedback(run: Run) -> Iterable[str]:
    kinds = {arm: str(run.settings(arm).get("feedback")) for arm in run.arms}
    if len(set(kinds.values())) > 1:
        yield (
            "The arms differ in feedback: " + ", ".join(f"{arm} {kind}" for arm, kind in kinds.items()) + "."
        )
    oracles = [arm for arm, kind in kinds.items() if kind == "oracle"]
    if oracles:
        yield (
            f"Feedback of {join_names(oracles)} is the gold answer (oracle)"
            + (
                "."
                if is_sampled(run) or max(map(run.limit, oracles)) == 1
                else ": it decides when to stop, so pass@k beyond the first trial is accuracy with a perfect verifier."
            )
        )
    wrongly = accounting(run).groupby("arm")["wrongly passed"].max()
    for arm, tasks in wrongly[wrongly > 0].items():
        yield f"{arm}: its evaluator took {count(int(tasks), 'failed task')} for solved and stopped there."


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
    whose = "the prompts" if len(arms) == len(run.arms) else f"the prompts of {join_names(arms)}"
    more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
    within = "by one sample" if is_sampled(run) else "within the last trial"
    yield (
        f"Worked examples in {whose} show {count(len(tasks), 'task')} of the split ({', '.join(tasks[:3])}{more}); "
        f"solved {within} with and without them: {', '.join(scores)}."
    )


def _untidy(run: Run) -> Iterable[str]:
    for arm in run.arms:
        rows = run.rows(arm)
        replies, name = int(rows["steps"].sum()), "repair.cut_invented_observation"
        cut = int(rows[name].sum()) if name in rows else 0
        if cut and replies:
            share = f"{100 * cut / replies:.1f}%"
            yield f"{arm}: invented observations were cut out of {cut} of {replies} replies ({share})."
