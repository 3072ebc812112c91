"""From a spec to a model, also one of another package's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.models.openai.model import OpenAIModel
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.registry import open_model


@pytest.mark.parametrize(
    ("spec", "suggestion"),
    [
        ("gpt-4o-mini", "openai/gpt-4o-mini"),
        ("opnai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("Qwen/Qwen3-8B", "openai/Qwen/Qwen3-8B"),
        ("simulatd", "simulated"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest(spec: str, suggestion: str) -> None:
    with pytest.raises(UsageError, match=f"unknown model '{spec}'; did you mean '{suggestion}'"):
        open_model(spec)


def test_a_name_may_hold_slashes_and_colons() -> None:
    model = open_model("openai/meta-llama/llama-3:free", ModelOptions(base_url="http://127.0.0.1:1/v1"))
    assert isinstance(model, OpenAIModel)
    assert model.name == "openai/meta-llama/llama-3:free"
    assert not model.simulated
    model.close()


def test_the_package_of_the_same_name_is_not_shadowed() -> None:
    program = (
        "import reflex_bench.models.openai.model as ours, openai\n"
        "print(ours is not openai, hasattr(openai, 'OpenAI'), hasattr(ours, 'OpenAIModel'))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"] * 3


def test_opening_a_model_by_name_is_all_that_loads_the_client() -> None:
    modules = "reflex_bench.models.registry, reflex_bench.models.openai.model"
    program = f"import sys, {modules}; print('openai' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_openai_without_a_name_is_refused() -> None:
    for spec in ("openai/", "openai"):
        with pytest.raises(UsageError, match="write openai/<name>"):
            open_model(spec)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"api": "chta"}, "did you mean 'chat'"),
        ({"timeout": 0}, "more than 0 seconds"),
        ({"timeout": float("nan")}, "more than 0 seconds"),
        ({"max_retries": -1}, "0 or more"),
        ({"max_connections": 0}, "1 or more"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ModelOptions(**options)


OTHER_PACKAGE = """
class Parrot:
    simulated = True

    def __init__(self, name, timeout):
        self.name = f"parrot/{name} {timeout}"

def create(name, options):
    return Parrot(name, options.timeout)
"""


def test_another_package_adds_models_without_touching_this_one(tmp_path: Path) -> None:
    (tmp_path / "parrot_models.py").write_text(OTHER_PACKAGE)
    metadata = tmp_path / "parrot_models-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot-models\nVersion: 1.0\n")
    points = "[reflex_bench.models]\nparrot = parrot_models:create\nbroken = parrot_nonesuch:create\n"
    (metadata / "entry_points.txt").write_text(points)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from reflex_bench.models.registry import ModelOptions, open_model\n"
        "print(open_model('parrot/grey/small', ModelOptions(timeout=3.0)).name)\n"
        "try:\n"
        "    open_model('broken/x')\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    first, second = run.stdout.splitlines()
    assert first == "parrot/grey/small 3.0"
    assert second.startswith(
        "UsageError model 'broken' of package parrot-models 1.0 comes from parrot_nonesuch:create, which does not load"
    )
