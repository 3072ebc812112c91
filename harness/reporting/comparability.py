"""Why the numbers of a comparison may not mean what they seem to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from reflex_bench.harness.planning.prompt_hash import is_comparable
from reflex_bench.harness.reporting.footnotes import reality, repeats, shared_trials
from reflex_bench.harness.reporting.meaning_notes import flat
from reflex_bench.harness.reporting.row_settings import effective_settings
from reflex_bench.harness.reporting.unanswered import never_acted
from reflex_bench.harness.reporting.unread import unread
from reflex_bench.harness.storage.run_data import Run

if TYPE_CHECKING:
    from reflex_bench.harness.reporting.statistics.levels import Level

MODEL_DRIFT_DAYS = 30
"""Two runs of one undated model name further apart than this may have met different models."""

_DATED = re.compile(r"[-@:](\d{4}-\d{2}-\d{2}|\d{8}|\d{4})$")


def differences(run_a: Run, run_b: Run, arm_a: str, arm_b: str) -> Iterator[tuple[str, str, str]]:
    """Name and both values of every setting in which two arms or their runs differ."""
    one, two = _all_settings(run_a, arm_a), _all_settings(run_b, arm_b)
    for name in dict.fromkeys([*one, *two]):
        if one.get(name) != two.get(name):
            yield name, _shown(one.get(name)), _shown(two.get(name))


def _all_settings(run: Run, arm: str) -> dict[str, Any]:
    sent = effective_settings(run, arm)
    settings = {
        name: value for name, value in flat(sent).items() if name not in ("settings_hash", "success_rule")
    }
    settings |= flat(run.environment.get("settings") or {}, "environment.")
    settings |= {"split": run.split.get("name"), "split.fingerprint": run.split.get("fingerprint")}
    return settings | {name: run.info.get(name) for name in ("simulated", "seed", "reflex_version")}


def _shown(value: object) -> str:
    text = "–" if value is None else str(value)
    return text[:8] if re.fullmatch(r"(?:v\d+:)?[0-9a-f]{16,}", text) else text


def warnings(run_a: Run, run_b: Run, arm_a: str, arm_b: str, last: Level, tasks: int) -> Iterator[str]:
    """One line each, most important first.

    Args:
        run_a, run_b: the runs, possibly the same.
        arm_a, arm_b: their arms.
        last: the comparison at the largest k.
        tasks: how many tasks both runs have.
    """
    one, two = run_a.settings(arm_a), run_b.settings(arm_b)
    yield from _doubts(run_a, run_b, arm_a, arm_b)
    if one.get("feedback") != two.get("feedback"):
        yield (
            f"Feedback differs: {one.get('feedback')} against {two.get('feedback')}; a better source of feedback "
            "is an advantage of its own."
        )
    if not is_comparable(one.get("prompt_hash"), two.get("prompt_hash")):
        yield "The prompt hashes come from different versions of reflex; whether the prompts differ is not known."
    if one.get("max_steps") != two.get("max_steps"):
        yield f"Step caps differ: {one.get('max_steps')} against {two.get('max_steps')}."
    if run_a.independent(arm_a) != run_b.independent(arm_b):
        yield (
            "One arm's trials are independent samples, the other's are not: only one attempt (k = 1) means the same "
            "in both."
        )
    yield from _model_warnings(run_a, run_b, one, two)
    if run_a.split.get("fingerprint") != run_b.split.get("fingerprint"):
        yield f"Different splits: only the {tasks} tasks whose ids are in both are compared, unchecked."
    for (trial, arms), count in shared_trials(run_a).items() if run_a is run_b else ():
        if arm_a in arms and arm_b in arms:
            yield f"Trial {trial} is one experiment for both arms on {count} of {tasks} tasks: equal by construction."
    if last.excluded:
        low, high = (f"{100 * end:+.1f}" for end in last.bounds)
        yield (
            f"{last.excluded} of {tasks} pairs lack a result (error or not recorded) and are left out; with them "
            f"the difference at k = {last.k} lies anywhere from {low} to {high} points."
        )


def _doubts(run_a: Run, run_b: Run, arm_a: str, arm_b: str) -> Iterator[str]:
    """Yield what makes either run doubtful by itself: unread replies, stand-ins, no action, repeated trials."""
    yield from (*unread(run_a, [arm_a]), *unread(run_b, [arm_b]))
    if run_a.simulated != run_b.simulated:
        yield "One of the runs was played by a simulated stand-in, the other by a language model."
    else:
        yield from dict.fromkeys((*reality(run_a), *reality(run_b)))
    for run in dict.fromkeys((run_a, run_b)):
        yield from never_acted(run)
    for run, arm in dict.fromkeys(((run_a, arm_a), (run_b, arm_b))):
        yield from repeats(run, [arm])


def _model_warnings(run_a: Run, run_b: Run, one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[str]:
    model_a, model_b = str(one.get("model")), str(two.get("model"))
    if model_a != model_b and _DATED.sub("", model_a) == _DATED.sub("", model_b):
        yield f"Different snapshots of one model: {model_a} and {model_b}."
    elif model_a == model_b and run_a is not run_b and not run_a.simulated and not _DATED.search(model_a):
        days = [_day(run.info.get("created")) for run in (run_a, run_b)]
        if days[0] and days[1] and abs((days[1] - days[0]).days) > MODEL_DRIFT_DAYS:
            yield f"{model_a} was asked on {days[0]} and {days[1]}; the name may have come to mean another model."


def _day(created: object) -> date | None:
    try:
        return datetime.fromisoformat(str(created)).date()
    except ValueError:
        return None
