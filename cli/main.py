"""Command `reflex`: its groups, and how mistakes and interruptions end."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from reflex_bench.cli import bench, checks, config, data, doctor, imports, models, plot, read, tools
from reflex_bench.cli.arguments.once import take_each_option_once
from reflex_bench.cli.arguments.places import as_called, called_as
from reflex_bench.cli.encoding import print_in_any_encoding
from reflex_bench.core.control_characters import strip_control_chars
from reflex_bench.core.errors import Interrupted, ReflexError, UsageError
from reflex_bench.harness.planning.env_file import read_env_file

INTERRUPTED = 130

EPILOG = """Exit codes:

  0 done · 1 stopped, or with errors · 2 a mistake in what was asked for · 130 interrupted

Environment variables:

  REFLEX_BENCH_RESULTS  where runs lie; ./results unless set

  REFLEX_BENCH_CACHE    where generated games and answers of Wikipedia are kept

  ALFWORLD_DATA         where official ALFWorld data lies

  OPENAI_API_KEY, …     keys of providers; `reflex models` lists them

  HTTPS_PROXY, SSL_CERT_FILE, NO_COLOR, FORCE_COLOR, COLUMNS  as everywhere
"""

app = typer.Typer(
    name="reflex",
    help="Measure whether language agents learn from their own failures: ReAct beside Reflexion.",
    invoke_without_command=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (bench, read, plot, checks, imports, models, doctor, config):
    module.register(app)
app.add_typer(data.app, name="data")
app.add_typer(tools.app, name="tools")
take_each_option_once(app)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"reflex-bench {version('reflex-bench')}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit. \\[default: off]", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options that stand before a command."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run() -> None:
    """Run the console script. Exit codes: 0 done, 1 stopped or with errors, 2 the person's mistake, 130 interrupted."""
    try:
        # A cluster ends a job with SIGTERM: it is to end as cleanly as with Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # A terminal that is closed, or a lost connection, ends it as cleanly; `nohup` has it go on.
        hangup = getattr(signal, "SIGHUP", None)
        if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
            signal.signal(hangup, signal.default_int_handler)
        print_in_any_encoding()
        logging.basicConfig(format="reflex: %(message)s")
        for handler in logging.getLogger().handlers:
            # Some libraries set their own loggers to tell everything; the level of the root does not hold them back.
            handler.setLevel(logging.WARNING)
        read_env_file(Path.cwd())
        completing = "_REFLEX_COMPLETE" in os.environ or any("-completion" in word for word in sys.argv[1:])
        # A shell completes a command by its name, wherever it lies.
        code = app(standalone_mode=False, prog_name="reflex" if completing else called_as())
        if code == INTERRUPTED:  # how Typer tells of a Ctrl-C that no command took for its own
            fail("interrupted", code)
    except UsageError as error:
        fail(str(error), 2)
    except Interrupted as error:
        fail(str(error), INTERRUPTED)
    except ReflexError as error:
        fail(str(error), 1)
    except typer.TyperException as error:
        fail(_told(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output (`head`, a closed pager) has gone; there is nobody to tell.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        # The terminal is gone, and with it whoever could be told.
        sys.exit(INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: typer.TyperException) -> str:
    """Return what the parser of the command line objects to, and where to look."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    return message.rstrip(".") + (f"; see `{context.command_path} --help`" if context else "")


def fail(message: str, code: int) -> None:
    """Says in one line what is wrong, and ends the process."""
    with suppress(OSError):  # the terminal may be gone
        print(f"reflex: {strip_control_chars(as_called(' '.join(message.split())))}", file=sys.stderr)
    sys.exit(code)
