"""What an endpoint refuses and is therefore left out: on the row, in exports, and as a difference between runs."""

import pytest
from loopback import MODEL, chat, error

from reflex_bench.models.base import Message, Request
from reflex_bench.models.simulated.model import answer


def play(call):
    """The simulated player behind a real server."""
    messages = tuple(Message(turn["role"], turn["content"]) for turn in call.body["messages"])
    return chat(answer(Request(messages, 0.7, 256, (), call.body.get("seed"))))


def refuse_temperature(call):
    if "temperature" in call.body:
        return error(
            400,
            "Unsupported value: 'temperature' does not support 0.7 with this model.",
            param="temperature",
            code="unsupported_value",
        )
    return play(call)


@pytest.fixture
def bench(reflex, loopback, tmp_path):
    """Runs two tasks on the loopback server under a name of the run."""

    def run(name, serve):
        loopback.answer = serve
        done = reflex(
            *("bench", "alfworld", "--model", f"openai/{MODEL}", "--base-url", loopback.base_url),
            *("--tasks", 2, "--trials", 1, "--arms", "react", "-q", "--run-id", name, "--results", tmp_path),
            OPENAI_API_KEY="sk-canary-0123456789abcdef",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_temperature_that_was_left_out_is_told_wherever_the_row_goes(bench, reflex, tmp_path):
    assert "left out (not 0.7)" not in bench("honoured", play)
    shown = bench("refused", refuse_temperature)
    assert "left out (not 0.7)" in shown
    assert "temperature left out" in shown
    for ending in ("md", "csv", "tex"):
        text = (tmp_path / "refused" / "tables" / f"pass_at_k.{ending}").read_text(encoding="utf-8")
        assert "left out (not 0.7)" in text, ending
    for format in ("terminal", "markdown", "csv", "latex"):
        compared = reflex("compare", tmp_path / "honoured", tmp_path / "refused", "--format", format)
        assert compared.returncode == 0, compared.stderr
        assert "left out (not 0.7)" in compared.stdout, format
    again = reflex("compare", tmp_path / "refused", tmp_path / "refused")
    assert again.returncode == 2
    assert "same settings" in again.stderr


def test_a_resume_that_owes_nothing_does_not_forget_what_was_left_out(bench, reflex, tmp_path):
    bench("refused", refuse_temperature)
    done = reflex("resume", tmp_path / "refused", "-q", OPENAI_API_KEY="sk-canary-0123456789abcdef")
    assert done.returncode == 0, done.stderr
    assert "left out (not 0.7)" in done.stdout
