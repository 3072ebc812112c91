"""Published results, as `configs/reference/*.yaml` holds them: each with its source and what it was measured on.

Only ALFWorld and HotPotQA. Rates are percentages with the digits of their authors; no total is made from other cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from reflex_bench.core.errors import UsageError

Metric = Literal["success", "em", "curve"]
# Whole numbers stay whole: 45 and 45.0 are printed as their authors printed them.
Percent = Annotated[int | float, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=1)]

ALFWORLD_TYPES: Mapping[str, int] = {
    "put": 24,
    "clean": 31,
    "heat": 23,
    "cool": 21,
    "examine": 18,
    "puttwo": 17,
}
"""Tasks of every type in ALFWorld's `valid_unseen` (Shridhar et al., 2021): 134 together."""

_VALUES = frozenset({*ALFWORLD_TYPES, "all", "progress"})


class ReferenceRow(BaseModel):
    """One published result."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    source: str
    """The paper or report."""
    published: Annotated[str, Field(pattern=r"^20\d\d(-\d\d)?$")]
    """Year, and month where it is known."""
    table: str
    """Where it stands there."""
    label: str
    """The method."""
    environment: Literal["alfworld", "hotpotqa"]
    metric: Metric
    """`success` (share of tasks), `em` (exact match) or `curve` (solved within 1, 2, … trials)."""
    values: dict[str, Percent] = {}
    """By task type, and `all`: the published total, which need not follow from the others."""
    spread: Percent | None = None
    """What the source prints behind ±."""
    curve: tuple[Annotated[float, Field(ge=0)], ...] = ()
    unit: Literal["tasks", "percent"] = "percent"
    """Of the curve."""
    model: str
    """As the source calls it."""
    availability: str | None = None
    """What became of the model, where that is known."""
    split: str
    n: Count | None
    """How many tasks; null where not stated, here and below."""
    trials: Count | None
    max_steps: Count | None
    feedback: Literal["environment", "oracle", "heuristic", "model", "none"]
    """What tells the agent between trials that it failed; `none` where there is one trial."""
    read: Annotated[str, Field(min_length=4)]
    """What was read: the page, file or image, with its commit or version where it has one."""
    selection: str | None = None
    """On the evaluated tasks, e.g. `best of 6 prompts`."""
    pages: str | None = None
    """Of HotPotQA: what the agent reads."""
    certainty: Literal[
        "recomputed from logs",
        "read in the repository",
        "transcribed, several agree",
        "transcribed, one source",
        "read from an image",
        "reported in an issue",
        "unsure",
    ]
    note: str = ""

    @model_validator(mode="after")
    def _possible(self) -> ReferenceRow:
        if self.metric == "curve":
            most = 100 if self.unit == "percent" else self.n
            if (
                not self.curve
                or list(self.curve) != sorted(self.curve)
                or most is None
                or self.curve[-1] > most
            ):
                raise ValueError("a curve must rise, and end at no more than all tasks")
            if self.trials != len(self.curve):
                raise ValueError(f"{len(self.curve)} points of a curve, but {self.trials} trials")
        elif "all" not in self.values or self.curve:
            raise ValueError("values must have 'all', and no curve")
        if not self.values.keys() <= _VALUES:
            raise ValueError(f"unknown values: {', '.join(sorted(self.values.keys() - _VALUES))}")
        return self

    @property
    def percentages(self) -> tuple[float, ...]:
        """The curve in percent of the tasks."""
        return (
            self.curve
            if self.unit == "percent"
            else tuple(100 * solved / (self.n or 1) for solved in self.curve)
        )

    def implied_total(self) -> float | None:
        """The percentage that the type cells come to over the 134 games of `valid_unseen`; None without all cells."""
        games = sum(ALFWORLD_TYPES.values())
        if self.n != games or not self.values.keys() >= ALFWORLD_TYPES.keys():
            return None
        return (
            100
            * sum(round(self.values[kind] * count / 100) for kind, count in ALFWORLD_TYPES.items())
            / games
        )

    @property
    def reconciles(self) -> bool:
        """Whether the total follows from the cells, to the point."""
        implied = self.implied_total()
        return implied is None or abs(implied - self.values["all"]) < 1


def reference_rows(environment: str, metric: Metric) -> tuple[ReferenceRow, ...]:
    """The published results of one environment by one metric, oldest source first.

    Args:
        environment: `alfworld` or `hotpotqa`; others have none.
        metric: `success`, `em` or `curve`.
    """
    folder = files("reflex_bench.configs").joinpath("reference")
    found = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name
    )
    rows = [row for file in found for row in read_reference(file.read_text(encoding="utf-8"), file.name)]
    rows.sort(key=lambda row: row.published)
    return tuple(row for row in rows if (row.environment, row.metric) == (environment, metric))


def read_reference(text: str, name: str) -> tuple[ReferenceRow, ...]:
    """The rows of one file: `source`, `published`, `availability` by model, and `tables`; what a table or the file says
    for all of its rows need not be repeated.

    Args:
        text: YAML.
        name: of the file, for messages.

    Raises:
        UsageError: a key is unknown or missing, or a value is not possible.
    """
    try:
        document = yaml.safe_load(text)
        shared = {key: value for key, value in document.items() if key not in ("tables", "availability")}
        withdrawn = document.get("availability", {})
        merged: list[dict[str, Any]] = [
            {**shared, **{key: value for key, value in table.items() if key != "rows"}, **row}
            for table in document["tables"]
            for row in table["rows"]
        ]
        return tuple(
            ReferenceRow.model_validate({"availability": withdrawn.get(row.get("model")), **row})
            for row in merged
        )
    except ValidationError as error:
        first = error.errors()[0]
        label = first["input"].get("label") if isinstance(first["input"], dict) else None
        place = ".".join(map(str, first["loc"])) or label
        raise UsageError(f"{name}: {place}: {first['msg']}") from None
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{name}: not a file of reference rows: {' '.join(str(error).split())}") from None
