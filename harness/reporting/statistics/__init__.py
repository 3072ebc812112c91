"""Intervals, tests and estimators. Every formula names its source."""
