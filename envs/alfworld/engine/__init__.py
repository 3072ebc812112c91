"""The native engine: `game` plays, `goal` knows when it is won, `planner` finds shortest plans."""
