"""Marks that models put around their reasoning in the text of a reply."""

from __future__ import annotations

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection_thinking|seed:think|antthinking"

# Qwen, DeepSeek and most others write tags; Kimi ◁think▷, Magistral [THINK], OpenThinker and SkyThought
# begin_of_thought.
REASONING_OPENS = rf"<(?:{_TAGS})(?: [^<>]*)?>|◁think▷|\[THINK\]|<\|(?:begin_of_thought|think_start)\|>"
"""A pattern, for a search that ignores case. What stands behind such a mark is reasoning, and no answer."""

REASONING_CLOSES = rf"</(?:{_TAGS})>|◁/think▷|\[/THINK\]|<\|(?:end_of_thought|think_end)\|>"
"""A pattern, for a search that ignores case. Some chat templates write the opening mark, and the model only this."""
