"""ALFWorld: household text games.

`from reflex_bench.envs.alfworld import Game` is the native engine by itself, for search and training; see `engine`.
"""

from reflex_bench.envs.alfworld.engine.game import Game, Games, Outcome

__all__ = ["Game", "Games", "Outcome"]
