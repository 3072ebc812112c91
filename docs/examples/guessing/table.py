"""A table of a finished run."""

from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table


def steps(run):
    """The steps that the trials of every arm took on average."""
    mean = run.trials.groupby("arm")["steps"].mean()
    rows = tuple((Cell(arm), Cell(f"{mean[arm]:.1f}")) for arm in run.arms)
    title = f"Steps of a trial · run {run.id}"
    return Table(title, mean.reset_index(), (Grid("", ("Arm", "Steps"), rows),), ())
