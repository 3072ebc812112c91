"""Corpora: pages, the index over them, and Wikipedia with a snapshot of its answers."""
