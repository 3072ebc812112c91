"""Translation between the two wordings of game files and the one that the model sees.

Data 2.1.1 says `put X in/on Y`, "You put the X in/on the Y." and "You arrive at loc 12."; data 2.1.2, 2.1.3 and the
package's own grammar say `move X to Y`, "You move the X to the Y." and "You arrive at Y." (alfworld's
scripts/patch_tw-pddl.py lists the differences). The model always reads the second form and may write either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflex_bench.core.errors import UsageError

_NAME = r"[a-z]+ \d+"
# Whole commands only, names included: `put pin 1 in drawer 1` has an "in" in "pin".
_PUT = re.compile(rf"put ({_NAME}) (in/on|into|onto|in|on) ({_NAME})")
_MOVE = re.compile(rf"move ({_NAME}) to ({_NAME})")
_PUT_TEMPLATE = re.compile(r'action\s+PutObject\s*\{\s*template\s*::\s*"([^"]*)"')
_YOU_PUT = re.compile(rf"You put the ({_NAME}) in/on the ({_NAME})\.")
# What follows names the receptacle, since going somewhere also looks at it.
_ARRIVAL = re.compile(rf"You arrive at loc \d+\. (?=(?:On the|The) ({_NAME})(?:,| is ))")
_NOWHERE = re.compile(r"You arrive at loc \d+\. ?")


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one game file speaks.

    Attributes:
        puts: `put X in/on Y`; otherwise `move X to Y`.
    """

    puts: bool

    def to_game(self, command: str) -> tuple[str, bool]:
        """Return a command in the game's own words, and whether it had to be translated.

        Only whole, well-formed commands are translated; everything else is passed on as it is.
        """
        if match := _PUT.fullmatch(command):
            thing, words, place = match.groups()
            if not self.puts:
                return f"move {thing} to {place}", True
            return f"put {thing} in/on {place}", words != "in/on"
        if self.puts and (match := _MOVE.fullmatch(command)):
            return f"put {match[1]} in/on {match[2]}", True
        return command, False

    def to_model(self, observation: str) -> str:
        """Return an observation in the words of the newer data."""
        if not self.puts:
            return observation
        observation = _ARRIVAL.sub(r"You arrive at \1. ", observation)
        return _YOU_PUT.sub(r"You move the \1 to the \2.", _NOWHERE.sub("", observation))


def detect(grammar: str) -> Grammar:
    """Return the grammar of a game file, by its own template for putting things down.

    Args:
        grammar: the text under `grammar` in a `game.tw-pddl`.

    Raises:
        UsageError: neither of the two.
    """
    template = _PUT_TEMPLATE.search(grammar)
    words = template[1] if template else ""
    if words == "put {o} in/on {r}":
        return Grammar(puts=True)
    if words == "move {o} to {r}":
        return Grammar(puts=False)
    raise UsageError(f"a game file with an unknown grammar: putting things down is {words!r}")
