"""What is installed is what is in the folders."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("agents", "cli", "configs", "envs", "harness", "models")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that the tree builds, from a copy, so that no build leftovers come into the tree."""
    import shutil

    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in (*FOLDERS, "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(tree)],
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def test_every_module_and_every_text_is_in_the_wheel_and_nothing_else(wheel):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        f"reflex_bench/{path.relative_to(ROOT)}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml") or path.name == "py.typed"
    }
    assert inside == wanted


def test_nothing_is_installed_under_a_name_that_belongs_to_others(wheel):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"reflex_bench"}


def test_no_module_is_longer_than_300_lines():
    long = {
        str(path.relative_to(ROOT)): count
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert not long


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom reflex_bench.cli.main import app\n"
        "heavy = {'pandas', 'numpy', 'textworld', 'alfworld', 'datasets', 'openai', 'scipy', 'bm25s', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_committed_files_name_no_index_and_pin_by_name_and_version():
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(
            r"[a-z0-9.-]+==[\w.]+(; python_version [<>=]+ \"3\.11\")?", line
        )
