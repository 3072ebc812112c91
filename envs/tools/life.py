"""The world of a task over its trials: one for each trial, or one that is carried from trial to trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflex_bench.envs.tools.business.world import World
from reflex_bench.envs.tools.calls.channel import Channel, Transport
from reflex_bench.envs.tools.calls.clock import Clock
from reflex_bench.envs.tools.calls.faults import Forecast
from reflex_bench.envs.tools.registry import Registry
from reflex_bench.envs.tools.tasks import ToolTask

Connect = Callable[[ToolTask, World, Forecast, Clock], Transport]
"""Makes what takes calls to the tools of a world."""


@dataclass
class Life:
    """A world under way.

    Attributes:
        task: what it is about.
        registry: the tools.
        world, clock, transport: where calls go.
        trials: that were played in it to their end.
        calls: that an agent made in it.
    """

    task: ToolTask
    registry: Registry
    forecast: Forecast
    world: World
    clock: Clock
    transport: Transport
    trials: int = 0
    calls: int = 0

    @classmethod
    def begin(cls, task: ToolTask, forecast: Forecast, connect: Connect | None = None) -> Life:
        """Return the world at its beginning."""
        world, clock = World.open(task.image), Clock()
        transport = (connect or in_process)(task, world, forecast, clock)
        return cls(task, forecast.registry, forecast, world, clock, transport)


def in_process(task: ToolTask, world: World, forecast: Forecast, clock: Clock) -> Transport:
    """Return the transport that calls the tools directly."""
    return Channel(task.id, world, forecast, clock, lambda: World.open(task.image))
