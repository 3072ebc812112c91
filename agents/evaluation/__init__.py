"""Evaluators, which decide for the agent whether a trial passed."""
