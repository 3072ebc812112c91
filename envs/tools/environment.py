"""The business as an environment of the harness."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.core.errors import UsageError
from reflex_bench.core.parts import checked_options
from reflex_bench.envs import prompts
from reflex_bench.envs.base import HANDED_OVER, Action, Episode, ParsePolicy, Prompts, Split, Task
from reflex_bench.envs.declarations import Settlement
from reflex_bench.envs.metrics import Metric
from reflex_bench.envs.sampling import Sampling
from reflex_bench.envs.tools import catalogue, parsing, splits
from reflex_bench.envs.tools.calls.error_types import table
from reflex_bench.envs.tools.calls.faults import Forecast, Weather
from reflex_bench.envs.tools.controls import options as controls
from reflex_bench.envs.tools.controls.options import Barrier, Numbers
from reflex_bench.envs.tools.episode import ToolEpisode
from reflex_bench.envs.tools.gold import GoldPlayer, NoPlayer
from reflex_bench.envs.tools.life import Life
from reflex_bench.envs.tools.metrics import METRICS
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks import ToolTask, generate, write_tasks

MAX_STEPS = 20
KEPT = 64
"""Trials whose end is kept until they are settled; of others it is made again."""

Commands = tuple[str, ...]


class Options(BaseModel):
    """What can be set for the business."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    split: str = splits.PROCEDURAL
    """`procedural` or `procedural:seed=7`."""
    data: Path | None = None
    """A folder or file of tasks as `reflex data generate tools` writes them."""
    seed: int | None = Field(default=None, ge=0)
    """Of the tasks; 0 unless given."""
    task_ids: tuple[str, ...] = ()
    """Only these tasks."""
    task_type: str | None = None
    """Only tasks of this family."""
    sampling: Sampling = "stratified"
    """Which tasks stand for the split where not all are taken: `stratified` by family, or the `first` by id."""
    faults: str = "none"
    """`none`, `light`, `storm`, a YAML file of rates, or `ghost=0.3,timeout_done=0.1`."""
    world: Literal["fresh", "carried"] = "fresh"
    """Whether a trial begins at the task's first state, or where the trial before left it."""
    registry: Path | None = None
    """A YAML file of what is to be changed about the tools."""
    transport: Literal["process"] = "process"
    """How calls reach the tools."""


class ToolsEnvironment:
    """Requests in a business, with tools whose effects are real in its world.

    Raises:
        UsageError: options that cannot be.
    """

    name = "tools"
    title = "Tools"
    task_name = "request"
    max_steps = MAX_STEPS
    feedback = "oracle"
    further_outcomes = (HANDED_OVER,)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.weather = Weather.read(options.faults)
        self._seed = splits.parse_name(options.split, options.seed)
        self._controls: Mapping[str, Numbers] = {}
        self._earlier: tuple[Commands, ...] = ()
        self._ended: OrderedDict[tuple[object, ...], ToolEpisode] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def registry(self) -> Registry:
        """The tools."""
        return Registry.load(self.options.registry)

    @cached_property
    def forecast(self) -> Forecast:
        """The weather over them."""
        return Forecast(self.weather, self.registry, self._seed)

    @cached_property
    def prompts(self) -> Prompts:
        """From `envs/prompts/tools.yaml`, with the tools of the registry."""
        texts, listed = prompts.load(self.name), catalogue.lines(self.registry)
        return replace(
            texts,
            instruction=texts.instruction.replace("{tools}", listed),
            act_instruction=texts.act_instruction.replace("{tools}", listed),
            advice={rule.type: rule.advice for rule in table()},
        )

    @property
    def carries(self) -> bool:
        """Whether a trial begins where the trial before it ended."""
        return self.options.world == "carried"

    def load(self, count: int | None = None, seed: int = 0) -> Split:
        """The split, by id, or the `count` tasks that stand for it.

        Raises:
            UsageError: there is no such task, or the data is not usable.
        """
        return splits.load(self.options, self._seed, count, seed)

    def controlled(self, given: Mapping[str, Any]) -> ToolsEnvironment:
        """Return the same environment, with these controls between an agent and the tools.

        Raises:
            UsageError: a control does not exist, or a number it cannot have.
        """
        made = self._copy()
        made._controls = controls.read(given)
        barrier = made._controls.get("barrier")
        if isinstance(barrier, Barrier) and barrier.release == "ask":
            raise UsageError(
                "controls.barrier.release: ask needs a person at the terminal, which runs do not have yet; "
                "use evaluator, approver, two_approvers or never"
            )
        return made

    def _copy(self) -> ToolsEnvironment:
        """A copy that shares what is made once for a run."""
        assert self.prompts
        assert self.forecast
        return copy.copy(self)

    def controls_told(self) -> str:
        """Return the controls with their numbers, as they stand on a row."""
        return controls.told(self._controls)

    def after(self, earlier: Sequence[Sequence[str]]) -> ToolsEnvironment:
        """Return the same environment, whose episodes begin where earlier trials of their task ended.

        Args:
            earlier: the commands of each, in order. None of them had passed.
        """
        made = self._copy()
        made._earlier = tuple(map(tuple, earlier))
        return made

    def start(self, task: Task) -> Episode:
        """A fresh episode; in a carried world, after the earlier trials, which are played again."""
        return self._kept(task, self._opened(task))

    def _opened(self, task: Task) -> ToolEpisode:
        data: ToolTask = task.data
        life = Life.begin(data, self.forecast)
        for commands in self._earlier:
            self._replayed(life, commands).settle(passed=False)
        return ToolEpisode(life, self._controls)

    def _replayed(self, life: Life, commands: Sequence[str]) -> ToolEpisode:
        episode = ToolEpisode(life, self._controls)
        for command in commands:
            episode.step(command)
        return episode

    def _kept(self, task: Task, episode: ToolEpisode) -> ToolEpisode:
        """The episode, whose end is found again by what was done in it."""

        def keep() -> None:
            with self._lock:
                self._ended[self._key(task, episode.commands)] = episode
                while len(self._ended) > KEPT:
                    self._ended.popitem(last=False)

        episode.on_close = keep
        return episode

    def _key(self, task: Task, commands: Sequence[str]) -> tuple[object, ...]:
        return task.id, controls.told(self._controls), self._earlier, tuple(commands)

    def settle(self, task: Task, commands: Sequence[str], passed: bool) -> Settlement:
        """End a trial for good: release what is held or drop it, and measure what is really there.

        Args:
            task: of the trial.
            commands: that the agent gave.
            passed: whether the evaluator passed the trial.
        """
        with self._lock:
            episode = self._ended.pop(self._key(task, commands), None)
        if episode is None:
            episode = self._opened(task)
            for command in commands:
                episode.step(command)
        episode.settle(passed)
        calls = tuple(record.line() for record in episode.records)
        return Settlement(won=episode.solved, result=episode.result(), lines={"tool_calls": calls})

    def gold_player(self, episode: object) -> GoldPlayer | NoPlayer:
        """Return what plays the plan of an episode's task; for one of another kind, what does nothing."""
        if not isinstance(episode, ToolEpisode):
            return NoPlayer()
        return GoldPlayer(episode, episode.life.task.plan)

    def read_action(self, completion: str, policy: ParsePolicy) -> Action:
        """Finds a call in a completion. Never raises."""
        return parsing.read_action(completion, policy)

    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """The tools of the registry, and the ways to end a request, as native tools."""
        return catalogue.native(self.registry)

    def read_call(self, name: str, arguments: str, thought: str, extra: int) -> Action:
        """The action of a native tool call. Never raises."""
        return parsing.read_call(name, arguments, thought, extra)

    def as_call(self, command: str) -> tuple[str, str] | None:
        """A command as a native tool call."""
        call = parsing.split_command(command)
        return (call[0], command[len(call[0]) + 1 :] or "{}") if call else None

    def without_feedback(self) -> ToolsEnvironment:
        """The same environment. No agent is ever told whether it succeeded."""
        silent = self._copy()
        silent.feedback = "none"
        return silent

    def sample_observations(self) -> Sequence[str]:
        """Return the answers that do not come from a tool, for the prompt hash."""
        from reflex_bench.envs.tools import episode

        return [
            episode.CLOSED,
            episode.PASSED_ON,
            episode.NO_ANSWER,
            episode.REFUSED,
            episode.UNREADABLE,
        ]

    def metrics(self) -> tuple[Metric, ...]:
        """Harm, what is left behind, hand-overs, calls and virtual time."""
        return METRICS

    def generate(self, seed: int, tasks: int, out: Path) -> None:
        """Write tasks with their images to `tasks.jsonl`, which the option `data` reads."""
        write_tasks(generate(seed, tasks), out)

    def settings(self) -> Mapping[str, Any]:
        """What decides whether two rows can be compared."""
        return {
            "faults": self.weather.name,
            "fault_rates": self.weather.told(),
            "world": self.options.world,
            "transport": self.options.transport,
            "registry": self.registry.hash,
        }

    def close(self) -> None:
        """Nothing is held open."""


def create(options: Mapping[str, Any]) -> ToolsEnvironment:
    """The environment for these options; nothing is loaded yet.

    Args:
        options: the fields of `Options`.

    Raises:
        UsageError: an option that does not exist or does not fit, in one line.
    """
    return ToolsEnvironment(checked_options("environment 'tools'", Options, options))
