"""Learning curves of a run as pictures, and the numbers of each picture beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.envs.metrics import Metric
from reflex_bench.harness.reporting.declared import metrics_of
from reflex_bench.harness.reporting.measures import pass_at_k
from reflex_bench.harness.reporting.metric_values import heading, measure
from reflex_bench.harness.storage.run_data import Run
from reflex_bench.harness.storage.whole_files import write_text

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["curve", "cost"]
Format = Literal["svg", "png", "pdf"]

KINDS: tuple[Kind, ...] = get_args(Kind)
FORMATS: tuple[Format, ...] = get_args(Format)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Told apart by colour-blind eyes: Okabe and Ito (2008), Color Universal Design."""
_MARKERS = "osD^vPX"
_LINES = ("-", "--", "-.", ":")
_SIZE = (6.4, 4.0)  # inches


def write_curves(run: Run, out: Path, kinds: Sequence[str], format: str) -> tuple[Path, ...]:
    """Write `<kind>.<format>` and `<kind>.csv` for each kind, and return their paths.

    Args:
        run: the run.
        out: a folder; made where there is none.
        kinds: of `KINDS`: `curve` is solved tasks over trials, `cost` over tokens; or keys of metrics of the
            environment, which are drawn over trials.
        format: one of `FORMATS`.

    Raises:
        UsageError: no such kind or format, a run without trials or without the tokens that `cost` needs, or
            matplotlib is not installed; nothing is written then.
    """
    metrics = {metric.key: metric for metric in metrics_of(run) if metric.value in run.trials}
    _check(run, kinds, [*KINDS, *metrics], format)
    try:
        import matplotlib
    except ImportError:
        raise UsageError("pictures need matplotlib; run: pip install 'reflex-bench[plots]'") from None
    matplotlib.use("agg")
    points = curve_points(run)
    if "cost" in kinds and points["tokens"].isna().any():
        raise UsageError(
            f"run {run.id}: its endpoint did not report all tokens, so there is no cost to draw; "
            "--kind curve draws the rest"
        )
    out.mkdir(parents=True, exist_ok=True)
    written = []
    draw: dict[str, Callable[[Run, pd.DataFrame, Path], None]] = {"curve": _curve, "cost": _cost}
    draw |= {key: partial(_metric, metric) for key, metric in metrics.items()}
    for kind in kinds:
        picture, table = out / f"{kind}.{format}", out / f"{kind}.csv"
        shown = metric_points(run, metrics[kind]) if kind in metrics else points
        # Text stays text in an SVG, and equal runs give equal bytes.
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "reflex", "font.size": 10}):
            draw[kind](run, shown, picture)
        write_text(table, shown.to_csv(index=False))
        written += [picture, table]
    return tuple(written)


def _check(run: Run, kinds: Sequence[str], known: Sequence[str], format: str) -> None:
    for kind in kinds:
        if kind not in known:
            raise unknown("kind of picture", kind, known)
    if format not in FORMATS:
        raise unknown("picture format", format, FORMATS)
    if run.trials.empty:
        raise UsageError(f"run {run.id} has no trials yet; there is nothing to draw")


def curve_points(run: Run) -> pd.DataFrame:
    """Return one line for each arm and k: the share solved within k trials, its interval, and tokens up to there.

    Columns: `arm`, `k`, `rate`, `low`, `high` (from 0 to 1, as in the table), `tokens` (prompt and completion tokens of
    the first k trials; NaN where an endpoint did not report them).
    """
    import pandas as pd

    lines = []
    for line in pass_at_k(run).to_dict("records"):
        rows = run.rows(line["arm"])
        tokens = (rows["prompt_tokens"] + rows["completion_tokens"]).astype("Float64")
        for k in range(1, line["trials"] + 1):
            within = tokens[rows["trial"] <= k]
            lines.append(
                {
                    "arm": line["arm"],
                    "k": k,
                    **{
                        to: line[f"{name}@{k}"]
                        for to, name in (("rate", "pass"), ("low", "low"), ("high", "high"))
                    },
                    "tokens": math.nan if within.isna().any() else float(within.sum()),
                }
            )
    return pd.DataFrame(lines)


def metric_points(run: Run, metric: Metric) -> pd.DataFrame:
    """Return one line for each arm and k: a metric within k trials, and its interval by task and by cluster.

    Columns: `arm`, `k`, `value`, `low`, `high`, `low_by_cluster`, `high_by_cluster`, `tasks` (with a number).
    """
    import pandas as pd

    lines = []
    for arm in run.arms:
        for k in range(1, run.limit(arm) + 1):
            found = measure(run, arm, metric, k)
            line = {"arm": arm, "k": k, "value": found.value, "low": found.interval.low}
            line |= {"high": found.interval.high, "low_by_cluster": found.clustered.low}
            lines.append(line | {"high_by_cluster": found.clustered.high, "tasks": found.tasks})
    return pd.DataFrame(lines)


def _metric(metric: Metric, run: Run, points: pd.DataFrame, file: Path) -> None:
    """A metric over trials, with 95 % bands."""
    figure, axes = _figure(run)
    scale = 100 if metric.format == "percent" else 1
    for style, (arm, lines) in zip(_styles(run), points.groupby("arm", sort=False), strict=True):
        axes.plot(lines["k"], scale * lines["value"], label=arm, **style)
        low, high = scale * lines["low"], scale * lines["high"]
        axes.fill_between(lines["k"], low, high, color=style["color"], alpha=0.13)
    axes.set_xlabel("trials")
    axes.set_xticks(range(1, int(points["k"].max()) + 1))
    axes.set_ylabel(heading(metric) + (", %" if scale == 100 else ""))
    axes.set_ylim(auto=True)
    _save(figure, axes, file)


def _curve(run: Run, points: pd.DataFrame, file: Path) -> None:
    """Solved tasks over trials, with 95 % bands."""
    figure, axes = _figure(run)
    for style, (arm, lines) in zip(_styles(run), points.groupby("arm", sort=False), strict=True):
        axes.plot(lines["k"], 100 * lines["rate"], label=arm, **style)
        axes.fill_between(
            lines["k"], 100 * lines["low"], 100 * lines["high"], color=style["color"], alpha=0.13
        )
    axes.set_xlabel("trials")
    axes.set_xticks(range(1, int(points["k"].max()) + 1))
    _save(figure, axes, file)


def _cost(run: Run, points: pd.DataFrame, file: Path) -> None:
    """Solved tasks over tokens: arms of unequal cost, compared at equal cost."""
    figure, axes = _figure(run)
    for style, (arm, lines) in zip(_styles(run), points.groupby("arm", sort=False), strict=True):
        tokens = lines["tokens"] / 1e6
        axes.plot(tokens, 100 * lines["rate"], label=arm, **style)
        for at, rate, k in zip(tokens, lines["rate"], lines["k"], strict=True):
            axes.annotate(
                str(k), (at, 100 * rate), xytext=(0, 6), textcoords="offset points", ha="center", size=8
            )
    least = points.groupby("arm")["tokens"].max().min() / 1e6
    axes.axvline(least, color="0.6", linewidth=0.8)
    axes.annotate(
        "all that the cheapest arm used",
        (least, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        size=8,
        color="0.35",
    )
    axes.set_xlabel("million tokens, after the trials that the points are marked with")
    axes.set_xlim(left=0)
    _save(figure, axes, file)


def _figure(run: Run) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    model = " · SIMULATED, not a language model" if run.simulated else ""
    what = f"{run.environment.get('name', '')} {run.split.get('name', '')}".strip()
    axes.set_title(f"{what}, {run.tasks} tasks{model}", fontsize=10)
    axes.set_ylabel("tasks solved, %")
    axes.set_ylim(0, 102)
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _styles(run: Run) -> list[dict[str, Any]]:
    """Colour, marker and line of each arm; two of the three differ between any two of 28 arms."""
    return [
        {
            "color": _COLOURS[number % len(_COLOURS)],
            "marker": _MARKERS[number % len(_MARKERS)],
            "linestyle": _LINES[number % len(_LINES)],
        }
        for number, _ in enumerate(run.arms)
    ]


def _save(figure: Any, axes: Any, file: Path) -> None:
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(file, dpi=160, metadata={"Date": None} if file.suffix == ".svg" else None)
