"""Fixed rules in place of reflections: what an environment advises after each kind of error that a trial met."""

from __future__ import annotations

from collections.abc import Sequence

from reflex_bench.agents.base import Ask, Reflection, Trajectory
from reflex_bench.agents.reflection.revising import AUDITING, Auditing
from reflex_bench.core.parts import stating
from reflex_bench.envs.base import Prompts


@stating(asks_model=False, newest_only=True)
def fallback(
    failed: Trajectory,
    earlier: Sequence[str],
    prompts: Prompts,
    ask: Ask,
    history: Sequence[str] = (),
    *,
    auditing: Auditing = AUDITING,
) -> Reflection | None:
    """Remembers the advice of `Prompts.advice` for every error of the trial, each once; nothing where there is none.

    Implements `reflex_bench.agents.reflection.reflectors.Reflector`. It asks no model.
    """
    met: dict[str, str] = {}
    for step in failed.steps:
        advice = prompts.advice.get(step.reason)
        if advice:
            called = (step.action or "").partition(" ")[0]
            met.setdefault(step.reason, f"After {step.reason} (here of {called}): {advice}.")
    if not met:
        return None
    return Reflection(" ".join(met.values()), "fallback", attempts=0)
