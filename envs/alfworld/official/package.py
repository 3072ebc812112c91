"""Finds the files of the `alfworld` package, and whether its engine can play here.

The generator needs the package's tables and room plans (1.3 MB of data). The official engine needs all that the package
depends on, of which two parts come as source only and take a compiler. So the package is an optional dependency, and
where it is not installed its files are fetched alone, once, from the package index.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from filelock import FileLock

from reflex_bench.core.errors import UsageError
from reflex_bench.envs.cache import cache_folder

FETCHED = "0.4.2"
"""The version of `alfworld` whose files are fetched where the package is not installed."""
INSTALL = "pip install 'reflex-bench[official]'"
_TIMEOUT = 300  # seconds for the whole download


def package_version() -> str:
    """Return the version of the `alfworld` package whose files are used."""
    try:
        return version("alfworld")
    except PackageNotFoundError:
        return next(found.version for found in distributions(name="alfworld", path=[str(_fetched())]))


@cache
def package_folder() -> Path:
    """Return where the files of the `alfworld` package lie; they are fetched first where there are none.

    Raises:
        UsageError: it is not installed and cannot be fetched.
    """
    # The package is not imported: its import makes a folder in the user's home.
    spec = importlib.util.find_spec("alfworld")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    return _fetched() / "alfworld"


def missing_engine() -> str | None:
    """Return what the official engine lacks here and how to get it, as one clause; None where it can play."""
    lacking = [
        name for name in ("alfworld", "textworld", "fast_downward") if importlib.util.find_spec(name) is None
    ]
    if not lacking:
        return None
    return (
        f"the official ALFWorld engine is not installed (no {lacking[0]}); "
        f"with a C and C++ compiler and make: {INSTALL}"
    )


def _fetched() -> Path:
    """Return the folder that holds the fetched package."""
    folder = cache_folder() / f"alfworld-package-{FETCHED}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not folder.is_dir():
                _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    print(f"reflex: fetching the room plans of alfworld {FETCHED} (0.4 MB) ...", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        target = Path(made) / "package"
        words = [*_installer(), "--quiet", "--no-deps", "--target", str(target), f"alfworld=={FETCHED}"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT)
            said, failed = done.stderr.strip().splitlines(), done.returncode != 0
        except (OSError, subprocess.TimeoutExpired) as error:
            said, failed = [str(error)], True
        if failed or not (target / "alfworld" / "gen" / "layouts").is_dir():
            reason = next(
                (line for line in reversed(said) if "error" in line.lower()), said[-1] if said else "no files"
            )
            raise UsageError(
                f"the room plans of the alfworld package are not here and cannot be fetched ({reason}); "
                f"run: pip install --no-deps alfworld=={FETCHED}"
            )
        target.rename(folder)


def _installer() -> list[str]:
    """Return the words that install a package: pip's, or uv's in an environment without pip."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    uv = shutil.which("uv")
    if uv is None:
        raise UsageError(
            f"the room plans of the alfworld package are not here, and there is neither pip nor uv to fetch them; "
            f"install alfworld=={FETCHED} without its dependencies"
        )
    return [uv, "pip", "install", "--python", sys.executable]
