"""Simulated player, judge and reflector: deterministic stand-ins that see messages only. No language models."""
