"""Imports results of others as runs of this harness."""
