"""The tasks of the business: eight families of requests, made from a seed, each with a plan that was played."""

from reflex_bench.envs.tools.tasks.generator import generate
from reflex_bench.envs.tools.tasks.lines import read_tasks, task_line, write_tasks
from reflex_bench.envs.tools.tool_task import Expected, PlanStep, Required, ToolTask

__all__ = [
    "Expected",
    "PlanStep",
    "Required",
    "ToolTask",
    "generate",
    "read_tasks",
    "task_line",
    "write_tasks",
]
