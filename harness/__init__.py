"""Everything between a command and its result: planner, runner, store, metrics, tables."""
