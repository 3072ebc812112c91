"""`reflex doctor --model`: what an endpoint can do, in lines; and what is wrong, in one."""

import socket

import pytest
from loopback import MODEL, chat, error, usage

COUNTED = "one, two, three, four, "


@pytest.fixture
def doctor(reflex, loopback, tmp_path):
    """Runs `reflex doctor` on a model of the loopback server, in an empty directory."""

    def run(model=f"openai/{MODEL}", *arguments, url=loopback.base_url, **variables):
        return reflex("doctor", "--model", model, "--base-url", url, *arguments, cwd=tmp_path, **variables)

    return run


def test_every_ability_has_its_line(doctor, loopback):
    loopback.answer = lambda call: chat(COUNTED, tokens=usage(40, 9))
    done = doctor()
    assert done.stderr == ""
    told = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert [mark for mark, _ in told[:10]] == ["ok", "ok", "ok", "ok", "ok", "?", "?", "warn", "warn", "?"]
    assert [" ".join(line.split()) for _, line in told[:10]] == [
        f"model openai/{MODEL} can answer; 2 at a time, unless --max-connections says otherwise",
        "system role yes",
        "stop yes",
        "seed yes: taken; whether it decides the reply, an endpoint does not tell",
        "usage yes: 40 + 9 tokens",
        "cached tokens not told",
        "reasoning not told",
        "tools no: the request was taken, and no call came",
        "structured output no: the schema was taken, and the reply does not keep to it",
        "context not told",
    ]
    assert "python" in told[10][1]


def test_a_mistake_is_one_line_and_exit_code_2(doctor, loopback):
    def one_line(done):
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert "GROQ_API_KEY is not set" in one_line(
        doctor("groq/llama", url="https://groq.invalid/v1", GROQ_API_KEY="")
    )
    assert "unknown model 'nobody/knows'" in one_line(doctor("nobody/knows"))
    assert f"did you mean '{MODEL}'" in one_line(doctor(f"openai/{MODEL}s"))
    assert "is no address" in one_line(doctor(url="localhost"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert f"no server answers at {url}" in one_line(doctor(url=url))
    assert not loopback.posts


def test_an_endpoint_that_lists_no_models_and_refuses_the_call_is_a_mistake_too(doctor, loopback):
    loopback.listing = error(404, "no such path")
    loopback.answer = lambda call: error(401, "Incorrect API key provided", code="invalid_api_key")
    done = doctor(OPENAI_API_KEY="key-of-nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"reflex: {loopback.base_url} refuses the key in OPENAI_API_KEY")
    assert "key-of-nobody" not in done.stderr + done.stdout


def test_without_a_model_no_call_is_made(reflex, loopback, tmp_path):
    done = reflex("doctor", OPENAI_BASE_URL=loopback.base_url, cwd=tmp_path)
    assert "simulated can answer" in done.stdout
    assert not loopback.calls
