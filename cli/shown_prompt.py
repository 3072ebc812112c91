"""`reflex show --prompt`: what was put before a model."""

from __future__ import annotations

from pathlib import Path


def print_prompt(run: Path, task: str | None, arm: str | None, trial: int | None, wanted: str) -> None:
    """Print the messages of a request that was made at a step, or in a role."""
    from reflex_bench.core.control_characters import strip_control_chars
    from reflex_bench.harness.reporting.show import trials_of
    from reflex_bench.harness.running.rebuilding import rebuild

    row = trials_of(run, task, arm, trial)[0]
    step = int(wanted) if wanted.isascii() and wanted.isdigit() else None
    role = "actor" if step is not None else wanted
    request = rebuild(run, str(row["arm"]), str(row["task"]), int(row["trial"]), role, step)
    sent = f"temperature {request.temperature}, at most {request.max_tokens} tokens, seed {request.seed}"
    print(f"{row['arm']} · trial {row['trial']} · {row['task']} · {role}, {sent}\n")
    for message in request.messages:
        print(f"[{message.role}]")
        for line in message.content.split("\n"):
            print(strip_control_chars(line))
        print()
