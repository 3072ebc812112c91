"""`reflex tools`: what has to do with the tools of the business beside running it."""

from reflex_bench.cli.tools.registry import app

__all__ = ["app"]
