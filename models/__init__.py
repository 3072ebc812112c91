"""Chat models behind one protocol (`reflex_bench.models.base`)."""
