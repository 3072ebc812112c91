"""Native engine: `game` plays, `goal` tells when a game is won, `planner` finds shortest plans."""
