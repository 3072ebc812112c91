"""Builds the wheel and the source distribution so that equal files give equal bytes."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    *("agents", "cli", "configs", "core", "envs", "harness", "models", "docs", "scripts", "tests"),
    *(
        "pyproject.toml",
        "setup.py",
        "constraints.txt",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
    ),
)
WHEN = 1_767_225_600
"""2026-01-01, the time that all files in the archives bear: when they were built says nothing of what is in them."""


def main() -> None:
    """Build both in a copy of the tree, where earlier builds have left nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="a folder [default: dist]")
    out: Path = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tree, made = Path(folder) / "tree", Path(folder) / "made"
        tree.mkdir()
        for name in PARTS:
            source = ROOT / name
            if source.is_dir():
                left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(source, tree / name, ignore=left_out)
            else:
                shutil.copy(source, tree / name)
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(made), str(tree)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(WHEN)}
        )
        if done.returncode:
            sys.exit(f"{done.stdout}\n{done.stderr}\nbuild failed")
        for path in sorted(made.iterdir()):
            content = path.read_bytes() if path.suffix == ".whl" else settled(path)
            (out / path.name).write_bytes(content)
            print(out / path.name)


def settled(path: Path) -> bytes:
    """Return a .tar.gz with its entries in order of name, and without times and owners."""
    packed = io.BytesIO()
    with (
        tarfile.open(path) as given,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as taken,
    ):
        for entry in sorted(given.getmembers(), key=lambda entry: entry.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.pax_headers = (
                WHEN,
                0,
                0,
                "",
                "",
                {},
            )
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            taken.addfile(entry, given.extractfile(entry) if entry.isfile() else None)
    return gzip.compress(packed.getvalue(), mtime=0)


if __name__ == "__main__":
    main()
