"""Environments behind one protocol (`reflex_bench.envs.base`)."""
