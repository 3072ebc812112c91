"""From a game file to a household: PDDL, the rules it brings along, its grammar, and what play can reach."""
