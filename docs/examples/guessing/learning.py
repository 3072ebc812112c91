"""Who says that a trial failed, what is made of it, and how that is remembered and found again."""

from reflex_bench.agents.base import Reflection, Verdict
from reflex_bench.agents.memory.base import SlidingMemory
from reflex_bench.core.parts import stating


def quick(trajectory, prompts, ask):
    """An evaluator: a trial passes if it was won in two steps."""
    return Verdict(trajectory.success and len(trajectory.steps) <= 2, "quick")


@stating(asks_model=False)
def bounds(failed, earlier, prompts, ask, history=(), *, auditing=None):
    """A reflector that asks no model: it writes down the last answer."""
    last = failed.steps[-1].observation if failed.steps else failed.opening
    return Reflection(f"After the last attempt I know: {last}", "bounds", attempts=0)


class Newest(SlidingMemory):
    """A memory that shows the newest reflection alone. See `reflex_bench.agents.memory.base.Memory`."""

    def __init__(self, options):
        super().__init__(size=1)


class Letters:
    """A similarity: the share of letters that two texts have in common."""

    name = "letters"

    def __init__(self, name, options):
        pass

    def scores(self, query, texts):
        return [len(set(query) & set(text)) / max(1, len(set(query) | set(text))) for text in texts]
