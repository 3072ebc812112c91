"""Every command of the README and of docs runs, in order, as it stands there."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"(<!-- not run: [^\n]* -->\n)?```console\n(.*?)```", re.DOTALL)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = ("extending.md",)  # `tests/test_examples.py` installs its package and runs its commands


def commands():
    for page in (each for each in PAGES if each.name not in ELSEWHERE):
        for skipped, body in BLOCK.findall(page.read_text(encoding="utf-8")):
            if not skipped:
                yield from (line[2:] for line in body.splitlines() if line.startswith("$ "))


def test_every_command_of_the_readme_and_the_docs_runs(tmp_path, reflex):
    listed = [command for command in commands() if not command.startswith("scripts/")]
    assert len(listed) > 15
    for command in listed:
        expected = 1 if "# exit code 1" in command else 0
        words = shlex.split(command.replace("./scripts/reflex", "reflex"), comments=True)
        assert words[0] == "reflex", command
        words, target = (words[: words.index(">")], words[-1]) if ">" in words else (words, None)
        done = reflex(*words[1:], cwd=tmp_path)
        if target is not None:
            (tmp_path / target).write_text(done.stdout, encoding="utf-8")
        if "verify" in words and "not installed" in done.stderr:
            continue  # without a compiler there is no official engine
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"


def test_every_file_that_the_pages_link_to_is_there():
    links = {
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8"))
    }
    assert len(links) > 10
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_the_sample_run_that_is_committed_can_be_read_by_this_version(reflex):
    for command in ("table", "compare", "show"):
        done = reflex(command, ROOT / "results" / "sample")
        assert done.returncode == 0, done.stderr
        assert "react" in done.stdout


def test_every_model_of_the_readme_s_table_is_one_that_can_be_named(monkeypatch):
    from reflex_bench.models.registry import open_model

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    specs = re.findall(r"^\| .* `reflex bench alfworld .*--model (\S+?)[ `]", text, re.MULTILINE)
    assert len(specs) == 10
    for spec in specs:
        model = open_model(spec)
        assert model.name == spec
        model.close()
