"""Experiments, profiles and reference rows that ship with the package, as YAML."""
