"""Reasons why a game did not accept a command, in three classes.

A command of no form that the game has was not understood; one that names what this game does not have was invented; one
that names only what there is, such as `go to shelf 1` from where one stands or `open drawer 1` from afar, is known and
merely has no effect now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from reflex_bench.envs.alfworld.engine.household import Household
from reflex_bench.envs.base import ABSENT, NO_EFFECT, UNPARSED

_SLOT = re.compile(r"\\\{[01]\\\}")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one game.

    Attributes:
        household: whose commands and names they are.
    """

    household: Household

    def why_refused(self, command: str) -> str:
        """Return the reason for a command that the game did not accept (a key of `INVALID_REASONS`).

        Args:
            command: in the game's own grammar.
        """
        matches = [found for form in self._forms if (found := form.fullmatch(command.strip()))]
        if not matches:
            return UNPARSED
        known = any(self._names.issuperset(found.groups()) for found in matches)
        return NO_EFFECT if known else ABSENT

    @cached_property
    def _forms(self) -> tuple[re.Pattern[str], ...]:
        """The game's command templates, each with a group for every name in it."""
        wording = self.household.wording
        templates = [*wording.commands.values(), *(["help"] if wording.help is not None else [])]
        return tuple(
            re.compile(_SLOT.sub("(.+)", re.escape(template))) for template in dict.fromkeys(templates)
        )

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset((*self.household.objects, *self.household.receptacles))
