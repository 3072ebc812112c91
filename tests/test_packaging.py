"""What is installed is what is in the folders."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("agents", "cli", "configs", "core", "envs", "harness", "models")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What `scripts/build` makes of the tree, twice; the second time with younger files."""
    made = []
    for name in ("first", "second"):
        out = tmp_path_factory.mktemp(name)
        command = [sys.executable, str(ROOT / "scripts" / "build.py"), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        made.append(out)
    return made


@pytest.fixture(scope="module")
def wheel(built):
    return next(built[0].glob("*.whl"))


def test_wheel_and_source_distribution_are_the_same_bytes_twice(built):
    first, second = ({path.name: path.read_bytes() for path in out.iterdir()} for out in built)
    assert sorted(Path(name).suffix for name in first) == [".gz", ".whl"]
    assert first == second


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
