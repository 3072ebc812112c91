"""Loads a household from a game file: PDDL, rules, grammar, and what play can reach."""
