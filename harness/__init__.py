"""Harness between a command and its result: planner, runner, store, metrics, tables.

A room imports only from those above it in this list, and `reporting` nothing of `running` or the other way round:

- `parts`: what agents, environments, models and other parts hand over and declare, checked before it is used.
- `planning`: from configuration files and flags to a plan: tasks, arms, models, and what identifies an experiment.
- `storage`: the run directory: what is written before it is used, and how it is read back and checked.
- `checks`: of the machine, of recorded runs, and of the examples in prompts.
- `running`: plays a plan: chains in threads, model calls through the journal, budgets, progress.
- `reporting`: what a run measured, what differs between arms, and what a reader must know before believing it.
- `importing`: results that others made, as runs of this harness.
"""
