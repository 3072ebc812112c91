"""Rewrites a game file into the form that another release of ALFWorld's data gives it.

The domain and the grammar travel inside each file and have changed three times; what the changes were is listed in the
official repository (scripts/patch_tw-pddl.py) and seen in the files of the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

RELEASES = ("2.1.1", "2.1.2", "0.4.2")

_HELP_RULE = re.compile(r"\(:action help\b.*?\n\)\n", re.DOTALL)
_HELP_WORDING = re.compile(r"\n*action help \{.*\Z", re.DOTALL)
_HELP_TEXT = re.compile(r'"help\.feedback":\s*\[\s*\{\s*"rhs":\s*("(?:[^"\\]|\\.)*")')
_SINKS = ";(receptacleType ?r SinkType)"  # a comment in the package's domain, a condition in every file of the data
_OLDER = (
    ("move {o} to {r}", "put {o} in/on {r}"),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
)


def rewrite(game: Mapping[str, str], release: str) -> dict[str, str]:
    """Return the same game as `release` would have written it.

    Args:
        game: the content of a game file with the domain and grammar of package 0.4.2.
        release: `2.1.1` (`put X in/on Y`, no `help`), `2.1.2` (`move X to Y`, and a `help` whose text stands where the
            package names a rule) or `0.4.2` (the package's own).

    Raises:
        ValueError: there is no such release, or the game is of another form.
    """
    domain, grammar = game["pddl_domain"], game["grammar"]
    told = _HELP_TEXT.search(grammar)
    if release != "0.4.2":
        domain = domain.replace(_SINKS, _SINKS.lstrip(";"))
    if release not in RELEASES or told is None or any(newer not in grammar for newer, _ in _OLDER):
        raise ValueError(
            f"only a game of the package's form can be rewritten, into one of {', '.join(RELEASES)}"
        )
    if release == "2.1.1":
        domain = _HELP_RULE.sub("", domain)
        grammar = _HELP_WORDING.sub("\n", grammar)
        for newer, older in _OLDER:
            grammar = grammar.replace(newer, older)
    elif release == "2.1.2":
        words = f'\naction help {{\n    template :: "help";\n    feedback :: "{json.loads(told[1])}";\n}}\n'
        grammar = _HELP_WORDING.sub("\n", grammar) + words
    return {**game, "pddl_domain": domain, "grammar": grammar}
