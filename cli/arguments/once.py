"""Commands that refuse an option that is given twice: of the two values one would be lost without a word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperOption

from reflex_bench.core.errors import UsageError

if TYPE_CHECKING:
    from typer._click.core import Context


class OnceCommand(TyperCommand):
    """A command whose options hold one value each, but those that may be repeated."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the command line; raise `UsageError` where an option that takes one value has two."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for parameter, times in Counter(given).items():
            if (
                times > 1
                and isinstance(parameter, TyperOption)
                and not (parameter.multiple or parameter.is_flag)
            ):
                name = max(parameter.opts, key=len)
                raise UsageError(f"{name} is given {times} times, and takes one value; give it once")
        return super().parse_args(ctx, args)


def take_each_option_once(app: typer.Typer) -> None:
    """Make every command of an application, and of its groups, a `OnceCommand`."""
    for command in app.registered_commands:
        command.cls = OnceCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            take_each_option_once(group.typer_instance)
