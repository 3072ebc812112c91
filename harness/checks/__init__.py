"""Checks of the machine, of runs, and of the examples in prompts."""
