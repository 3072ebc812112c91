"""A model, which is a stand-in, and an agent with an option."""

import re
from dataclasses import replace

from pydantic import BaseModel, Field

from reflex_bench.agents.react import react
from reflex_bench.models.base import Reply


class Halving:
    """Takes the middle of what it was told. See `reflex_bench.models.base.Model`."""

    simulated = True

    def __init__(self, name, options):
        self.name = "halving"

    def check(self):
        return ()

    def complete(self, request):
        said = " ".join(turn.content for turn in request.messages)
        told = re.findall(r"from (\d+) to (\d+)", said)
        low, high = max(int(low) for low, _ in told), min(int(high) for _, high in told)
        return Reply(str((low + high) // 2))

    def cost(self, usage):
        return None

    def settings(self):
        return {}

    def close(self):
        pass


class Hasty:
    """ReAct with fewer steps than it may take. See `reflex_bench.agents.base.Agent`."""

    class Options(BaseModel, extra="forbid"):
        steps: int = Field(default=1, ge=1)

    def __init__(self, options):
        self.steps = options.steps

    def __call__(self, task, trial, memory, environment, ask, limits, watch=None):
        return react(task, trial, memory, environment, ask, replace(limits, max_steps=self.steps), watch)
