"""What an environment of somebody else's package measures, from its declaration to tables, CSV and comparison.

Twenty-four mazes in twelve gardens of two. `short` takes one step and `long` two. The expected numbers are worked out
from the rules in `PACKAGE`; the ends of the intervals are quantiles of the binomial distribution, which is what drawing
n of n zeros and ones with replacement gives.
"""

import csv
import io
import json

import pytest
from reading import rows

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.opening import open_environment
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.curves import write_curves
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.render import render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import read_run

PACKAGE = '''
from reflex_bench.envs.prompts import parse
from reflex_bench.envs.base import Action, Split, StepResult, Task
from reflex_bench.envs.metrics import Metric
from reflex_bench.models.base import Reply

TEXTS = """
instruction: Leave the maze.
examples: {"": []}
thought_form: "{}"
action_form: "{}"
thought_observation: ""
invalid_observation: Say short or long.
verbs: [go]
reflection_instruction: What went wrong?
reflection_examples: []
"""


class Rewarded:
    """Declares nothing."""

    name, max_steps, feedback = "rewarded", 5, "environment"
    prompts = parse(TEXTS)

    def load(self, count=None, seed=0):
        tasks = (Task(f"n{n:02d}", "maze", f"maze {n}", str(n), n, f"garden {n // 2}") for n in range(24))
        return Split("all", tuple(tasks)[:count])

    def start(self, task):
        return Walk(task.data)

    def read_action(self, completion, policy):
        return Action(command=completion.strip())

    def settings(self):
        return {"version": 1}

    def without_feedback(self):
        return self

    def tools(self):
        return ()

    def close(self):
        pass


class Mazes(Rewarded):
    name, cluster_name, title, task_name = "mazes", "garden", "Mazes", "maze"

    def metrics(self):
        return (
            Metric(
                key="detours",
                label="Detours",
                definition="how often the way was left",
                value="result.detours",
                better="lower",
                format="ratio",
            ),
            Metric(
                key="coins",
                label="Coins a step",
                definition="coins that were found for each step",
                value="result.coins",
                per="steps",
                aggregate="ratio",
                trials="wins",
                format="ratio",
            ),
        )


class Walk:
    def __init__(self, n):
        self.n, self.steps, self.way = n, 0, ""

    def reset(self):
        return f"maze {self.n}"

    def step(self, command):
        self.way, self.steps = command, self.steps + 1
        done = self.steps == {"short": 1, "long": 2}[command]
        won = done and (self.n % 4 != 3 if command == "short" else self.n % 2 == 0)
        return StepResult("on", won=won, done=done)

    def result(self):
        if self.way == "short":
            return {"detours": int(self.n < 12), "coins": int(self.n % 4 == 0), "reward": 0.25}
        return {"detours": 2, "coins": 1, "reward": self.n / 23}

    def close(self):
        pass


class Walker:
    simulated = True

    def __init__(self, name):
        self.name = self.way = name

    def check(self):
        return ()

    def complete(self, request):
        return Reply(self.way)

    def cost(self, usage):
        return None

    def settings(self):
        return {}

    def close(self):
        pass


def open_model(name, options):
    return Walker(name)


def mazes(options):
    return Mazes()


def rewarded(options):
    return Rewarded()
'''


@pytest.fixture(scope="module")
def plugged(tmp_path_factory):
    """A folder that holds an installed package."""
    folder = tmp_path_factory.mktemp("plugged")
    (folder / "gardens.py").write_text(PACKAGE)
    info = folder / "gardens-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gardens\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[reflex_bench.environments]\nmazes = gardens:mazes\nrewarded = gardens:rewarded\n"
        "[reflex_bench.models]\nwalker = gardens:open_model\n"
    )
    return folder


def played_in(environment, reflex, folder):
    done = reflex(
        *("bench", environment, "--model", "walker/short", "--trials", 1, "-q", "--run-id", environment),
        *("-c", "arms={short: {agent: react}, long: {agent: react, actor: {model: walker/long}}}"),
        *("--results", folder / "results"),
        PYTHONPATH=str(folder),
    )
    assert done.returncode == 0, done.stderr
    return folder / "results" / environment


@pytest.fixture(scope="module")
def mazes(reflex, plugged):
    return read_run(played_in("mazes", reflex, plugged))


def frame_of(table):
    return list(csv.DictReader(io.StringIO(render(table, "csv"))))


def test_the_run_is_read_although_the_package_of_its_environment_is_not_there(mazes):
    with pytest.raises(UsageError, match="unknown environment 'mazes'"):
        open_environment({"name": "mazes"})
    assert len(rows(mazes.path / "trials.jsonl")) == 48
    assert [each["key"] for each in mazes.environment["metrics"]] == ["detours", "coins"]


def test_the_main_table_has_every_metric_in_every_form(mazes):
    table = styled_table(mazes)
    short, long = frame_of(table)
    # 12 of 24 mazes have one detour on the short way, all have two on the long way.
    assert (float(short["detours"]), float(long["detours"])) == (0.5, 2.0)
    # Wins: 18 of one step, with 6 coins; 12 of two steps, with 12 coins.
    assert (float(short["coins"]), float(long["coins"])) == (pytest.approx(6 / 18, abs=1e-6), 0.5)
    lines = [line.split("|")[1:4] for line in render(table, "markdown").splitlines() if line.startswith("| ")]
    told = {name.strip(): (a.strip(), b.strip()) for name, a, b in lines}
    assert told["Mean Detours, last trial (lower is better)"] == ("0.50", "2.00")
    assert told["Coins a step, wins"] == ("0.33", "0.50")
    assert r"Coins a step, wins & 0.33 & 0.50 \\" in render(table, "latex")
    assert "Detours is of the last trial each task had." in table.notes


def test_the_table_of_metrics_has_intervals_by_task_and_by_cluster(mazes):
    table = styled_table(mazes, "metrics")
    short, long = frame_of(table)
    assert (short["arm"], float(short["detours"])) == ("short", 0.5)
    # Bin(24, 1/2): P(X <= 6) = 1.1 % and P(X <= 7) = 3.2 %. Of gardens, both mazes have a detour or neither has:
    # Bin(12, 1/2): P(X <= 2) = 1.9 % and P(X <= 3) = 7.3 %.
    ends = [float(short[f"detours_{end}"]) for end in ("low", "high", "low_by_cluster", "high_by_cluster")]
    assert ends == pytest.approx([7 / 24, 17 / 24, 3 / 12, 9 / 12], abs=1e-6)
    # No two mazes differ on the long way: there is nothing to estimate.
    assert long["detours_low"] == long["detours_low_by_cluster"] == ""
    text = render(table, "terminal", width=160)
    assert "Mazes · all · 24 mazes · run mazes" in text
    assert "0.50 [0.29 to 0.71]" in text
    assert "95% intervals with tasks drawn by cluster (garden)" in text
    assert "Detours: how often the way was left; mean over the last trial of each task" in text
    assert "lower is better." in text


def test_a_comparison_says_which_arm_is_better_and_how_sure_that_is(mazes):
    comparison = compare(mazes)
    detours, coins = comparison.pairs[0].metrics
    assert (detours.pairs, detours.value_a, detours.value_b, detours.difference) == (24, 0.5, 2.0, 1.5)
    # Two less one on 12 mazes, two on the others: 1 + X/24, and by garden 1 + X/12.
    assert tuple(detours.interval) == pytest.approx((1 + 7 / 24, 1 + 17 / 24))
    assert tuple(detours.clustered) == pytest.approx((1.25, 1.75))
    # All 24 signs alike: none of 10,000 draws is as far from 0, so that the observed one alone counts.
    assert detours.p == pytest.approx(1 / 10_001)
    assert detours.better == 0
    # Won by both: the even ones. Short: a coin a step on 6, none on 6; long: half a coin a step on all 12.
    assert (coins.pairs, coins.value_a, coins.value_b, coins.better) == (12, 0.5, 0.5, None)
    assert tuple(coins.interval) == tuple(coins.clustered) == pytest.approx((-0.25, 0.25))
    (table,) = comparison_tables(comparison)
    text = render(table, "terminal", width=160)
    line = next(line for line in text.splitlines() if line.startswith("Detours (lower is better)"))
    assert line.split()[-7:] == ["2.00", "+1.50", "[+1.29,", "+1.71]", "short", "1.0e-4", "24"]
    assert "Drawn by cluster (garden) the intervals are: Detours +1.25 to +1.75" in text
    (row,) = frame_of(table)
    assert (float(row["detours_difference"]), float(row["detours_low_by_cluster"])) == (1.5, 1.25)
    assert (row["coins_pairs"], float(row["coins_a"])) == ("12", 0.5)


def test_a_metric_is_drawn_over_trials(mazes, tmp_path):
    write_curves(mazes, tmp_path, ("detours",), "svg")
    assert "Detours (lower is better)" in (tmp_path / "detours.svg").read_text()
    short, long = csv.DictReader(io.StringIO((tmp_path / "detours.csv").read_text()))
    assert (short["arm"], float(short["value"]), float(short["low"])) == (
        "short",
        0.5,
        pytest.approx(7 / 24),
    )
    assert (float(long["value"]), long["low"], long["tasks"]) == (2.0, "", "24")


def test_an_environment_that_declares_nothing_shows_its_mean_reward(reflex, plugged):
    run = read_run(played_in("rewarded", reflex, plugged))
    short, long = frame_of(styled_table(run))
    # 0, 1/23, … 1 on the long way.
    assert (float(short["reward"]), float(long["reward"])) == (0.25, pytest.approx(0.5))
    assert "Mean reward, last trial" in render(styled_table(run), "markdown")


@pytest.mark.parametrize(
    ("metrics", "complaint"),
    [
        ("many", "should be a valid list"),
        ([{"key": "detours"}], "field required"),
        ([{"key": "cost", "label": "x", "definition": "x", "value": "steps"}], "is a column of every table"),
        (
            [{"key": "a b", "label": "x", "definition": "x", "value": "steps"}],
            "letters, digits and underscores",
        ),
        (
            [{"key": "a", "label": "x", "definition": "x", "value": "steps", "aggregate": "ratio"}],
            "say what it is divided by",
        ),
        ([{"key": "a", "label": "x", "definition": "x", "value": "steps"}] * 2, "is there twice"),
    ],
)
def test_a_damaged_declaration_is_named_in_one_line(mazes, tmp_path, metrics, complaint):
    info = json.loads((mazes.path / "run.json").read_text())
    info["environment"]["metrics"] = metrics
    (tmp_path / "run.json").write_text(json.dumps(info))
    (tmp_path / "trials.jsonl").write_bytes((mazes.path / "trials.jsonl").read_bytes())
    with pytest.raises(UsageError, match=complaint) as raised:
        styled_table(read_run(tmp_path))
    assert "\n" not in str(raised.value)
    assert "environment.metrics" in str(raised.value)
