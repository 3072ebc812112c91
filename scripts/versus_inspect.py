"""As many model calls in inspect_ai, with its mock model: what `scripts/bench harness --versus inspect` runs beside."""

from __future__ import annotations

import tempfile
import time
from typing import Any


def processor_time(samples: int, calls: int) -> float:
    """Seconds of processor time for so many samples of so many calls each, logs written as it does by default.

    Raises:
        SystemExit: inspect_ai is not installed.
    """
    try:
        from inspect_ai import Task, eval
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
        from inspect_ai.solver import Generate, TaskState, solver
    except ImportError:
        raise SystemExit("--versus inspect: inspect-ai is not installed in this environment") from None

    def turns() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for _ in range(calls):
                state = await generate(state)
                state.messages.append(ChatMessageUser(content="You are in the middle of a room."))
            return state

        return solve

    def always() -> Any:
        while True:
            output = ModelOutput.from_content("mockllm/model", "look")
            # With no usage it would count the tokens itself, by a vocabulary that it fetches.
            output.usage = ModelUsage(input_tokens=100, output_tokens=5, total_tokens=105)
            yield output

    task = Task(dataset=[Sample(input=f"Household {n}") for n in range(samples)], solver=solver(turns)())
    model = get_model("mockllm/model", custom_outputs=always())
    with tempfile.TemporaryDirectory() as folder:
        processor = time.process_time()
        [log] = eval(task, model=model, log_dir=folder, display="none")
        took = time.process_time() - processor
    if log.status != "success":
        raise SystemExit(
            f"--versus inspect: its run ended as {log.status}: {log.error and log.error.message}"
        )
    return took
