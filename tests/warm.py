"""Runs `reflex` many times without importing its libraries anew each time: a process that forks itself for every call.

Each call is a process of its own, with its own arguments, folder, variables and output; only the imports, which take
longer than most commands, are shared. What is tested of the start of the interpreter itself (encodings, what `--help`
imports, signals) starts the installed script instead.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

REFLEX = str(Path(sys.executable).with_name("reflex"))
PRELOADED = ("openai", "pandas", "rich.table", "rich.live", "typer.rich_utils", "reflex_bench.cli.main")
"""Beside every module of the package but those of the official engine, which not every machine has."""


class Warm:
    """The forking process, as tests use it."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, arguments: list[str], env: Mapping[str, str], cwd: Path | None = None, timeout: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run `reflex` to its end, as `subprocess.run` would.

        Raises:
            subprocess.TimeoutExpired: it took more than `timeout` seconds, and was killed.
        """
        command = [REFLEX, *arguments]
        with tempfile.TemporaryDirectory() as folder:
            printed, told = Path(folder) / "stdout", Path(folder) / "stderr"
            where = str(cwd or Path.cwd())
            call = {"command": command, "env": dict(env), "cwd": where, "timeout": timeout}
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            self._server.stdin.write(json.dumps(call | {"stdout": str(printed), "stderr": str(told)}) + "\n")
            self._server.stdin.flush()
            code = json.loads(self._server.stdout.readline())
            if code is None:
                raise subprocess.TimeoutExpired(command, timeout)
            texts = (file.read_text(encoding="utf-8", errors="replace") for file in (printed, told))
            return subprocess.CompletedProcess(command, code, *texts)

    def close(self) -> None:
        self._server.communicate()


def _serve() -> None:
    import gc
    import pkgutil

    for module in PRELOADED:
        importlib.import_module(module)
    for folder in ("agents", "core", "envs", "harness", "models"):
        package = importlib.import_module(f"reflex_bench.{folder}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".official" not in module.name:
                importlib.import_module(module.name)
    _keep_command()
    # The world that nearly every run of questions is about.
    importlib.import_module("reflex_bench.envs.hotpotqa.generator.twin").compose(0, 100)
    # What is there now will not be looked through again in every child.
    gc.freeze()
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if not child:
            _become(call)
        ended = os.pidfd_open(child)
        in_time = select.select([ended], [], [], call["timeout"])[0]
        if not in_time:
            os.kill(child, 9)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(ended)
        print(json.dumps(code if in_time else None), flush=True)


def _keep_command() -> None:
    """Have the command made of its annotations once, and not in every child: it is the same, and takes long."""
    import typer.main

    from reflex_bench.cli.main import app

    command = typer.main.get_command(app)
    typer.main.get_command = lambda _: command


def _become(call: dict[str, object]) -> None:
    """Be the command in this process: never returns."""
    from reflex_bench.cli.main import run

    code = 1
    try:
        os.chdir(str(call["cwd"]))
        os.environ.clear()
        os.environ.update(call["env"])  # type: ignore[call-overload]
        # The interpreter reads this variable when it starts.
        sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        files = [os.open(os.devnull, os.O_RDONLY)]
        files += [os.open(str(call[name]), os.O_WRONLY | os.O_CREAT) for name in ("stdout", "stderr")]
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115 - open until the end
            for number, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace"))
        )
        sys.argv = list(call["command"])  # type: ignore[call-overload]
        run()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
