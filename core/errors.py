"""Exceptions of the project.

::

    ReflexError
    ├── UnknownGame           a game that the native ALFWorld engine does not know (`envs.alfworld.pddl`)
    ├── CallLimit             a trial may not call a model again (`agents.base`)
    ├── UsageError            the person's mistake: one line, exit code 2, before anything is paid for
    ├── RunStopped            the run cannot go on (wrong key, full disk, limit reached, …); it can be resumed
    ├── Interrupted           somebody ended the process (Ctrl-C, SIGTERM); exit code 130
    └── TrialError            infrastructure failed: the trial's outcome is `error`, never a failure of the agent
        ├── EnvironmentFailure
        └── ModelError        after all retries
            └── ContextOverflow   the prompt no longer fits: the trial ends with the outcome `context_limit`
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class ReflexError(Exception):
    """Base of all errors raised on purpose."""


class UsageError(ReflexError):
    """Says in one line what is wrong, where, and what would be right."""


class RunStopped(ReflexError):
    """No further trial can succeed; what is done is kept and `reflex resume` goes on from there."""


class Interrupted(ReflexError):
    """Somebody ended the process; says how to go on."""


class TrialError(ReflexError):
    """Infrastructure failed during a trial."""


class EnvironmentFailure(TrialError):
    """An environment crashed, hung, or could not be reached."""


class ModelError(TrialError):
    """A model call failed for good.

    Args:
        message: one line without secrets.
        kind: a short stable name: `rate_limit`, `server`, `timeout`, `connection`, `malformed`, `empty`,
            `content_filter`, …
        retry_after: seconds after which the endpoint says that it may be asked again; None where it says nothing.

    Attributes:
        lost: answers (`reflex_bench.models.base.Reply`) to the call that were of no use and are paid for all the same.
    """

    def __init__(self, message: str, kind: str = "server", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retry_after = kind, retry_after
        self.lost: tuple[Any, ...] = ()


class ContextOverflow(ModelError):
    """The prompt is longer than the model's context window."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="context_overflow")


MAX_NAMES = 8
"""Names that an error lists."""


def _nearest(given: str, names: list[str]) -> str:
    """Return the names, or the few that are most like what was given and how many there are beside them."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    near = difflib.get_close_matches(given, names, n=MAX_NAMES, cutoff=0.0)
    return f"{', '.join(sorted(near))} and {len(names) - MAX_NAMES:,} more"


def unknown(what: str, given: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist, suggesting the nearest that does, or naming the nearest few.

    Args:
        what: the kind of thing, e.g. `"arm"`.
        given: what was written.
        known: every name that would have been right.
    """
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {_nearest(given, names) or 'none'}"
    return UsageError(f"unknown {what} {given!r}; {hint}")
