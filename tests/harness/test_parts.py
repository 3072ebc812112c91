"""Parts of other packages: found by their entry points, checked, and named in one line where they are of no use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.agents.base import Limits, Reflection, Trajectory, Verdict
from reflex_bench.agents.memory.base import Shown
from reflex_bench.agents.reflection import reflectors
from reflex_bench.core import parts
from reflex_bench.core.built_in import BUILT_IN
from reflex_bench.core.errors import ModelError, ReflexError, RunStopped, TrialError, UsageError
from reflex_bench.envs.base import Task
from reflex_bench.envs.prompts import load
from reflex_bench.harness.checks.doctor import examine
from reflex_bench.harness.parts.learning_doors import CheckedMemory, CheckedReflector
from reflex_bench.harness.planning.config import MemoryConfig
from reflex_bench.harness.planning.opening import (
    memory_settings,
    open_agent,
    open_environment,
    open_evaluator,
    open_memory,
    open_reflector,
    open_similarity,
)
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Reply
from reflex_bench.models.registry import open_model

GOOD = {
    "agents": "def made(task, trial, memory, environment, ask, limits, watch=None): ...",
    "environments": "def made(options): ...",
    "models": "def made(name, options): ...",
    "reflectors": "def made(failed, earlier, prompts, ask, history=(), *, auditing=None): ...",
    "evaluators": "def made(trajectory, prompts, ask): ...",
    "memories": "def made(options): ...",
    "similarities": "def made(name, options): ...",
    "tables": "def made(run): ...",
}

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package of one module with one entry point."""
    installed: list[str] = []

    def install(kind: str, source: str, name: str = "mine", package: str = "somebody") -> None:
        folder = tmp_path / package
        info = folder / f"{package}-1.5.dist-info"
        info.mkdir(parents=True)
        (folder / f"{package}_parts.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(f"[reflex_bench.{kind}]\n{name} = {package}_parts:made\n")
        monkeypatch.syspath_prepend(folder)
        installed.append(f"{package}_parts")

    yield install  # type: ignore[misc]
    for module in installed:
        sys.modules.pop(module, None)


def one_line(error: pytest.ExceptionInfo[UsageError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def test_there_are_eight_kinds_and_each_has_parts_of_ours() -> None:
    assert set(GOOD) == set(BUILT_IN) == set(parts.WORDS)
    for kind in BUILT_IN:
        assert [part.name for part in parts.ours(kind)] == list(BUILT_IN[kind])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", GOOD)
def test_a_part_of_every_kind_is_found_under_its_name_and_named_with_its_package(
    kind: Any, install: Install
) -> None:
    assert "mine" not in parts.names(kind)
    install(kind, GOOD[kind])
    part = parts.find(kind, "mine")
    assert part.made.__module__ == "somebody_parts"
    assert part.title == f"{parts.WORDS[kind]} 'mine' of package somebody 1.5"
    with pytest.raises(UsageError, match="did you mean 'mine'"):
        parts.find(kind, "mina")


BROKEN = {
    "raises at import": ("1 / 0", "which does not load: ZeroDivisionError: division by zero"),
    "exits at import": ("import sys; sys.exit('two\\nlines')", "which does not load: SystemExit: two lines"),
    "needs a module": (
        "import nonesuch",
        "which does not load: ModuleNotFoundError: No module named 'nonesuch'",
    ),
    "is no Python": ("def made(:", "which does not load: SyntaxError: "),
    "has no such attribute": ("other = 1", "which does not load: AttributeError: "),
    "is no function": ("made = 1", "must take ("),
    "takes less": ("def made(): ...", "must take ("),
    "takes more": ("def made(a, b, c, d, e, f, g, h, i): ...", "must take ("),
}


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("how", BROKEN)
def test_one_that_is_of_no_use_is_named_with_its_package_in_one_line(
    kind: Any, how: str, install: Install
) -> None:
    source, said = BROKEN[how]
    install(kind, source)
    with pytest.raises(UsageError) as refused:
        parts.find(kind, "mine")
    line = one_line(refused)
    assert line.startswith(f"{parts.WORDS[kind]} 'mine' of package somebody 1.5")
    assert said in line


def test_a_reflector_without_the_argument_that_it_is_called_with_is_told_which(install: Install) -> None:
    install("reflectors", "def made(failed, earlier, prompts, ask, history=()): ...")
    with pytest.raises(UsageError, match=r"must take \(failed, .*, auditing=\): .*'auditing'"):
        parts.find("reflectors", "mine")


@pytest.mark.parametrize("kind", GOOD)
def test_one_with_the_name_of_ours_is_refused_where_that_is_asked_for(kind: Any, install: Install) -> None:
    name = next(iter(BUILT_IN[kind]))
    install(kind, GOOD[kind], name=name)
    with pytest.raises(UsageError, match=r"is in reflex itself and package somebody 1.5; uninstall"):
        parts.find(kind, name)
    assert [part.package for part in parts.ours(kind)] == [""] * len(BUILT_IN[kind])


def test_one_name_in_two_packages_is_refused(install: Install) -> None:
    install("agents", GOOD["agents"])
    install("agents", GOOD["agents"], package="another")
    with pytest.raises(UsageError, match=r"agent 'mine' is in package another 1.5 and package somebody 1.5"):
        parts.find("agents", "mine")


OPENED: dict[str, Callable[[], Any]] = {
    "agents": lambda: open_agent({"mine": {"size": 0}}, open_environment({"name": "alfworld"})),
    "environments": lambda: open_environment({"name": "mine", "size": 0}),
    "reflectors": lambda: open_reflector({"mine": {"size": 0}}, resolve((), {}), Limits(3)),
    "evaluators": lambda: open_evaluator({"all": ["environment", {"mine": {"size": 0}}]}, resolve((), {})),
    "memories": lambda: open_memory(MemoryConfig.model_construct(kind="mine", options={"size": 0})),
}

WITH_OPTIONS = """
from pydantic import BaseModel, Field

class made:
    class Options(BaseModel, extra="forbid"):
        {name}: int = Field(default=1, ge=1)

    def __init__(self, options):
        raise KeyError(options)
"""


@pytest.mark.parametrize("kind", OPENED)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sise", "'size'; did you mean 'sise'?"),
        ("size", "option 'size' is 0: Input should be greater than or equal to 1"),
    ],
)
def test_options_are_checked_alike_for_every_kind(kind: str, name: str, said: str, install: Install) -> None:
    install(kind, WITH_OPTIONS.format(name=name))
    with pytest.raises(UsageError) as refused:
        OPENED[kind]()
    assert said in one_line(refused)
    assert "'mine' of package somebody 1.5" in str(refused.value)


@pytest.mark.parametrize("kind", OPENED)
def test_what_fails_while_it_is_made_is_told_in_one_line(kind: str, install: Install) -> None:
    install(kind, WITH_OPTIONS.format(name="size").replace("ge=1", "ge=0"))
    with pytest.raises(UsageError, match=r"'mine' of package somebody 1.5 fails: KeyError: ") as refused:
        OPENED[kind]()
    one_line(refused)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("environments", lambda: open_environment({"name": "mine"})),
        ("models", lambda: open_model("mine/small")),
        ("similarities", lambda: open_similarity("mine")),
        ("memories", lambda: open_memory(MemoryConfig.model_construct(kind="mine"))),
    ],
)
def test_a_factory_that_makes_something_else_is_told_what_it_lacks(
    kind: str, make: Callable[[], Any], install: Install
) -> None:
    install(kind, GOOD[kind])
    with pytest.raises(UsageError, match=r"'mine' of package somebody 1.5 makes None, which has no "):
        make()


FAILED = Trajectory(Task("a", "put", "put a mug", "0" * 64), 1, (), "You are here.", (), "failure")


def nobody(*arguments: Any, **named: Any) -> Reply:
    raise ModelError("down")


MADE = {
    "None": None,
    "'text'": "text",
    "Reflection(1, 'mine')": Reflection(1, "mine"),  # type: ignore[arg-type]
    "Reflection('a', 'mine', kept=1)": Reflection("a", "mine", kept=1),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("made", MADE)
def test_what_a_reflector_hands_over_is_a_reflection_or_nothing(made: str, install: Install) -> None:
    head = "from reflex_bench.agents.base import Reflection\n"
    install("reflectors", head + GOOD["reflectors"].replace("...", f"return {made}"))
    _, reflect, _ = open_reflector("mine", resolve((), {}), Limits(3))
    if made == "None":
        assert reflect(FAILED, (), load("alfworld"), nobody) is None
        return
    with pytest.raises(TrialError, match=r"^reflector 'mine' of package somebody 1.5: "):
        reflect(FAILED, (), load("alfworld"), nobody)


def test_a_reflector_that_catches_a_fault_of_its_model_does_not_undo_it() -> None:
    def deaf(
        failed: Any, earlier: Any, prompts: Any, ask: Any, history: Any = (), *, auditing: Any = None
    ) -> Any:
        try:
            ask((), 1)
        except ReflexError:
            return Reflection("nothing happened", "deaf")

    with pytest.raises(ModelError, match="down"):
        CheckedReflector("reflector 'deaf'", deaf)(FAILED, (), load("alfworld"), nobody)


@pytest.mark.parametrize(
    "made", ["True", "Verdict(1, 'mine')", "Verdict(False, 'mine', score=7)", "Verdict(False, None)"]
)
@pytest.mark.parametrize("setting", ["mine", {"all": ["mine"]}], ids=str)
def test_what_an_evaluator_hands_over_is_a_verdict(made: str, setting: Any, install: Install) -> None:
    head = "from reflex_bench.agents.base import Verdict\n"
    install("evaluators", head + GOOD["evaluators"].replace("...", f"return {made}"))
    judge = open_evaluator(setting, resolve((), {}))
    with pytest.raises(TrialError, match=r"^evaluator 'mine' of package somebody 1.5: "):
        judge(FAILED, load("alfworld"), nobody)


def test_an_evaluator_says_whether_it_asks_a_model(install: Install) -> None:
    install("evaluators", GOOD["evaluators"].replace("...", "return None"))
    assert open_evaluator("mine", resolve((), {})).sources == ("mine",)
    install("evaluators", GOOD["evaluators"] + "\nmade.asks_model = True", name="asking", package="asking")
    asking = open_evaluator({"any": ["asking", "environment"]}, resolve((), {}))
    assert (asking.name, asking.sources) == ("any(asking, environment)", ("model", "environment"))


@pytest.mark.parametrize("found", ["None", "[1]", "[1, 'a']", "[1, float('nan')]", "(1, 2)"])
def test_what_a_similarity_hands_over_is_a_number_for_each_text(found: str, install: Install) -> None:
    install(
        "similarities",
        f"""
class made:
    def __init__(self, name, options): ...
    def scores(self, query, texts): return {found}
""",
    )
    alike = open_similarity("mine")
    with pytest.raises(RunStopped, match=r"^similarity 'mine': 2 numbers are wanted, not "):
        alike.scores("a", ["b", "c"])


MEMORY = """
from reflex_bench.agents.memory.base import Shown

class View:
    def shown(self, opening=""): return {shown}
    def all(self): return {all}

class made:
    cross_task = {cross_task}
    def __init__(self, options): ...
    def view(self, task): return View()
    def commit(self): ...
    def dump(self): return {dump}
    def load(self, rows): ...
    def settings(self): return {settings}
"""

SOUND = {
    "shown": "(Shown('1', 'a'),)",
    "all": "('a',)",
    "cross_task": "True",
    "dump": "[]",
    "settings": "{'memory_size': 1}",
}


def memory_of(install: Install, **other: str) -> Any:
    install("memories", MEMORY.format(**SOUND | other))
    return open_memory(MemoryConfig(kind="mine"))


def test_a_memory_that_goes_across_tasks_says_so_on_its_row(install: Install) -> None:
    made = memory_of(install)
    assert isinstance(made, CheckedMemory)
    assert made.view(FAILED.task).shown() == (Shown("1", "a"),)
    told = memory_settings(MemoryConfig(kind="mine"), None)
    assert told == {"memory": "mine", "memory_size": 1, "memory_scope": "arm"}


def use(made: Any) -> None:
    view = made.view(FAILED.task)
    _ = view.shown(), view.all(), made.dump(), made.settings()


@pytest.mark.parametrize(
    ("which", "value", "said"),
    [
        ("shown", "['a']", "shown must return a tuple, not"),
        ("shown", "('a',)", "a Shown is wanted, not 'a'"),
        ("shown", "(Shown(1, 'a'),)", "Shown.id must be of type str, not 1"),
        ("all", "(1,)", "all must return texts, not 1"),
        ("dump", "{}", "dump must return a list of rows"),
        ("settings", "{'agent': 'react'}", "settings must be named memory"),
        ("cross_task", "None", "cross_task must be true or false, not None"),
    ],
)
def test_what_a_memory_hands_over_is_checked(which: str, value: str, said: str, install: Install) -> None:
    with pytest.raises((TrialError, UsageError)) as refused:
        use(memory_of(install, **{which: value}))
    assert str(refused.value).startswith("memory 'mine' of package somebody 1.5: ")
    assert said in str(refused.value)


def test_the_doctor_tells_which_parts_load(install: Install) -> None:
    install("agents", GOOD["agents"])
    install("tables", "import nonesuch", name="broken", package="another")
    found = {each.said: each.mark for each in examine(resolve((), {})) if each.what == "part"}
    assert found.pop("agent 'mine' of package somebody 1.5 loads") == "ok"
    [(said, mark)] = found.items()
    assert (mark, said.partition(",")[0]) == (
        "fail",
        "table style 'broken' of package another 1.5 comes from another_parts:made",
    )


def test_ours_state_what_others_must_know() -> None:
    needs = {part.name: part.states("needs") for part in parts.ours("agents")}
    assert needs == {
        "react": None,
        "act": "act_instruction",
        "cot": "cot_instruction",
        "cot-gold": "cot_instruction",
        "gold": None,
    }
    with pytest.raises(
        UsageError, match="agent 'cot-gold' makes no sense for alfworld: it has no prompt for it"
    ):
        open_agent("cot-gold", open_environment({"name": "alfworld"}))
    assert Verdict(True, "x").success
    assert reflectors.build("none", Limits(1)) is not None
