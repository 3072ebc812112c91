"""What others wrote into a run stays text: in HTML, Markdown, LaTeX and CSV, and on the terminal."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from broken import TEXTS, examples
from growth import grows_linearly
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reading import rows
from synthetic_runs import REFLEXION, chains, trial, write_run

from reflex_bench.cli.read import list_runs, show
from reflex_bench.core.control_characters import strip_control_chars
from reflex_bench.harness.reporting.compare import compare
from reflex_bench.harness.reporting.tables.comparison import comparison_tables
from reflex_bench.harness.reporting.tables.render import Cell, Grid, Table, render
from reflex_bench.harness.reporting.tables.styles import styled_table
from reflex_bench.harness.storage.run_data import read_run

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parent.parent.parent / "results" / "sample"
PAYLOADS = (
    "<script>alert(1)</script>", '"><img src=x onerror=y>', "</td></table><iframe>", "<!-- x", "<?x ?>", "<![CDATA[x",
    "&lt;b&gt;", "&#60;b&#62;", "[a](http://x)", "![a](http://x)", "<http://x>", "[a]: http://x", "| a | b |", "**b**",
    "`c`", "# h", "> q", "- [x] l", "\\input{x}", "\\\\[2pt]", "%", "$x$", "#1", "a_b^c~d", "}{", "[opt]", "*star",
    "=1+1", "+SUM(A1)", "@x", "-2+3", '"a,b"', "\x1b[2J", "\x1b]8;;http://x\x07a\x1b]8;;\x07", "\x1b[31mred", "\x9b31m",
    "\x07", "a\rb", "a\nb", "a\tb", "\x00", "\u202egnp", "\u2066x", "\ufeff", "\u200b", "\u061cx", "\U000e0041",
    "\ud800", "\x7f",
)  # fmt: skip
ANY = st.sampled_from(PAYLOADS) | st.lists(st.sampled_from(PAYLOADS), max_size=4).map("".join) | TEXTS
STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
TAGS = {"h2", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "small"}
FORMS = ("terminal", "markdown", "csv", "latex", "html")


def filled(path: Path, text: str) -> Path:
    """A run with a text in every place that others may fill."""
    arms = {
        f"a{text}": {"model": text, "evaluator": text, "prompt_hash": text},
        f"b{text}": REFLEXION | {"agent": text},
    }
    more = {"task_type": text or "put", "repair_kinds": {text: 1}, "result": {text: text}}
    made = chains(f"a{text}", [1, None], 2, **more) + chains(f"b{text}", [2, 1], 2, error=text, **more)
    for row in made:
        row["task"] += text
    made.append(trial(f"a{text}", f"t9{text}", 1, "error", error=text, task_type=text))
    split = {"name": text, "fingerprint": text, "tasks": 3, "notes": [text, text]}
    environment = {"name": text, "feedback": text, "settings": {text: {text: text}}}
    shown = [{"task": f"t9{text}", "arms": None}]
    shutil.rmtree(path, ignore_errors=True)
    return write_run(
        path,
        made,
        arms=arms,
        tasks=3,
        trials=2,
        run_id=text,
        status=text,
        split=split,
        environment=environment,
        contamination=shown,
    )


def tables(run: Path) -> Iterator[Table]:
    read = read_run(run)
    for style in ("pass-at-k", "outcomes", "reflexion-curve", "evaluator"):
        yield styled_table(read, style)
    yield from comparison_tables(compare(read, force=True))


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.texts: list[str] = []
        self.other: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@examples(20)
@given(ANY)
@example("<script>alert(1)</script>")
def test_html_has_no_element_and_no_attribute_but_those_of_the_template(tmp_path: Path, text: str) -> None:
    for table in tables(filled(tmp_path / "run", text)):
        page = Elements(render(table, "html"))
        assert {tag for tag, _ in page.found} <= TAGS
        assert not any(attrs for _, attrs in page.found)
        assert not page.other
        seen = "".join(page.texts)
        assert strip_control_chars(table.title) in seen
        assert all(
            strip_control_chars(cell.text) in seen
            for grid in table.grids
            for row in grid.rows
            for cell in row
        )


@pytest.mark.parametrize("text", PAYLOADS)
def test_html_is_read_by_a_strict_parser_as_well(tmp_path: Path, text: str) -> None:
    table = Table(text, read_run(filled(tmp_path / "run", text)).trials, (grid_of(text),), (text,), (text,))
    tree = ElementTree.fromstring(f"<div>{render(table, 'html')}</div>")
    assert {element.tag for element in tree.iter()} == {"div", *TAGS}
    assert not any(element.attrib for element in tree.iter())


def grid_of(text: str) -> Grid:
    return Grid(text, (text, text), ((Cell(text), Cell(text, text)), (Cell(text, strong=True), Cell(text))))


@examples(150)
@given(ANY)
@example("&lt;b&gt;<b>x</b>")
@example("[a]: http://x")
def test_markdown_shows_no_link_no_image_and_no_html(text: str) -> None:
    import pandas as pd

    table = Table(text, pd.DataFrame(), (grid_of(text),), (text,), (text,))
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(render(table, "markdown"))
    kinds = {each.type for token in tokens for each in (token, *(token.children or ()))}
    assert not kinds & {
        "html_inline",
        "html_block",
        "link_open",
        "image",
        "fence",
        "code_block",
        "code_inline",
    }
    rows_read = [token.type for token in tokens].count("tr_open")
    cells_read = sum(token.type in ("td_open", "th_open") for token in tokens)
    assert (rows_read, cells_read) == (3, 6)


COMMANDS = {
    *(
        "\\begin",
        "\\end",
        "\\centering",
        "\\small",
        "\\caption",
        "\\medskip",
        "\\textit",
        "\\toprule",
        "\\midrule",
    ),
    *(
        "\\bottomrule",
        "\\linewidth",
        "\\footnotesize",
        "\\par",
        "\\textbf",
        "\\scriptsize",
        "\\\\",
        "\\usepackage",
    ),
    *("\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\textless", "\\textgreater", "\\textbar"),
    *("\\raggedright", "\\allowbreak", "\\setlength", "\\tabcolsep", "\\noindent"),
    *("\\endfirsthead", "\\endhead", "\\endfoot"),
    *("\\geq", "\\leq", "\\times", "\\ldots", "\\cdot", *("\\" + mark for mark in "&%$#_{}")),
}


@examples(150)
@given(ANY)
@example("*")
@example("\\\\[2pt]")
def test_latex_has_no_command_but_those_of_the_template_and_its_braces_match(text: str) -> None:
    import pandas as pd

    table = Table(text, pd.DataFrame(), (grid_of(text),), (text,), (text,))
    written = render(table, "latex").partition("\n")[2]
    tokens = re.findall(r"\\[a-zA-Z]+|\\.|.|\n", written)
    assert {token for token in tokens if token.startswith("\\")} <= COMMANDS
    assert not set(tokens) & set("%#_^~")
    depths = [0]
    for token in tokens:
        depths.append(depths[-1] + (token == "{") - (token == "}"))
    assert min(depths) == depths[-1] == 0
    # Two columns; a long name of a column stands on several lines.
    captions = written.count("longtable") // 2
    assert tokens.count("&") == len(re.findall(r" \\\\$", written, re.MULTILINE)) - captions >= 3
    # What opens a row must not be taken for an argument of the line break before it.
    assert not re.search(r"\\\\\n\s*[*\[]", written.replace("\\\\[2pt]\n", ""))


@examples(25)
@given(ANY)
@example("=1+1")
def test_csv_holds_no_formula_and_no_control_character(tmp_path: Path, text: str) -> None:
    for table in tables(filled(tmp_path / "run", text)):
        lines = list(csv.reader(io.StringIO(render(table, "csv"))))
        assert {len(line) for line in lines} == {len(table.frame.columns)}
        for field in (field for line in lines for field in line):
            assert not STEERING.search(field)
            assert not field.startswith(("=", "+", "@", "-")) or is_number(field)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_csv_keeps_numbers_as_they_are() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {"a": [-1.5, 0.1], "b": pd.array([-2, None], "Int64"), "-c": ["-x", "y"], "d": [True, False]}
    )
    assert render(Table("", frame, ()), "csv") == "a,b,'-c,d\n-1.5,-2,'-x,True\n0.1,,y,False\n"


@examples(15)
@given(ANY)
@example("\x1b[2J")
@example("\ud800")
def test_no_table_steers_the_terminal_in_any_form(tmp_path: Path, text: str) -> None:
    for table in tables(filled(tmp_path / "run", text)):
        for form in FORMS:
            assert not STEERING.search(render(table, form, width=100))
        ours = re.sub(r"\x1b\[[0-9;]*m", "", render(table, "terminal", width=100, color=True))
        assert not STEERING.search(ours)


def played(run: Path, text: str) -> Path:
    """The sample run with a text in every place of its trajectories."""
    shutil.copytree(SAMPLE, run, dirs_exist_ok=True)
    kept = {"trial", "outcome", "arm", "attempt", "task"}
    for path in (SAMPLE / "trajectories").iterdir():
        lines = [json.dumps(everywhere(row, text, kept)) + "\n" for row in rows(path)]
        (run / "trajectories" / path.name).write_text("".join(lines))
    info = everywhere(json.loads((SAMPLE / "run.json").read_text()), text, {"task_ids"})
    (run / "run.json").write_text(json.dumps(info))
    return run


def everywhere(value: Any, text: str, kept: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: each if key in kept else everywhere(each, text, kept) for key, each in value.items()}
    if isinstance(value, list):
        return [everywhere(each, text, kept) for each in value]
    return text if isinstance(value, str) else value


@examples(40)
@given(ANY)
@example("\x1b[2J")
@example("\ud800")
@example("[red]x[/red]")
def test_show_and_list_print_nothing_that_steers_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    run = played(tmp_path / "run", text)
    show(str(run), None, None, None)
    list_runs(tmp_path)
    assert not STEERING.search(capsys.readouterr().out)


@pytest.mark.parametrize("text", ["\x1b[2J", "\ud800", "\x9b31m"])
def test_names_of_arms_and_tasks_do_not_steer_it_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    row = rows(SAMPLE / "trajectories" / "react.trial-1.jsonl")[0] | {"task": f"t{text}"}
    run = write_run(
        tmp_path / f"run{strip_control_chars(text)}",
        [trial("react", f"t{text}", 1)],
        arms={"react": {"model": text}},
        tasks=1,
    )
    (run / "trajectories").mkdir()
    (run / "trajectories" / "react.trial-1.jsonl").write_text(json.dumps(row) + "\n")
    show(str(run), None, None, None)
    list_runs(tmp_path)
    assert not STEERING.search(capsys.readouterr().out)


@examples(200)
@given(ANY, ANY)
def test_what_is_left_of_a_text_on_one_line_is_clean_and_stays_so(one: str, two: str) -> None:
    text = strip_control_chars(one + two)
    assert not STEERING.search(text)
    assert "\n" not in text
    assert strip_control_chars(text) == text


@pytest.mark.parametrize("piece", ["\x1b", "\x1b]", "\x1b[0", "\x1b[ ", "<", "](", "\\", "|", "\ud800"])
def test_writing_takes_time_in_proportion_to_the_length_of_a_text(piece: str) -> None:
    def write(form: str, length: int) -> None:
        text = piece * (length // len(piece))
        render(Table(text, frame_of(text), (Grid(text, (text,), ((Cell(text),),)),)), form, width=100)

    for form in ("markdown", "csv", "latex", "html"):
        assert grows_linearly(partial(write, form), 5_000)


def frame_of(text: str) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": pd.Series([text], dtype="object")})
