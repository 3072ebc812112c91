"""Proxies, certificates and folders of the machine: one line that names the variable, never a traceback."""

from __future__ import annotations

import socket

import pytest
from loopback import MODEL, models

DEAD = "http://127.0.0.1:9"
BENCH = ("bench", "alfworld", "--tasks", 1, "--trials", 1, "-c", "endpoint.max_retries=0")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (
            {"ALL_PROXY": "socks5://127.0.0.1:9"},
            "ALL_PROXY: such a proxy cannot be used: a SOCKS proxy needs",
        ),
        ({"HTTPS_PROXY": "nonsense://x"}, "HTTPS_PROXY: such a proxy cannot be used"),
        (
            {"SSL_CERT_FILE": "/nonexistent.pem"},
            "SSL_CERT_FILE=/nonexistent.pem: no certificates can be read",
        ),
        ({"SSL_CERT_FILE": __file__}, "no certificates can be read"),
        (
            {"HTTPS_PROXY": "http://user:secret@127.0.0.1:9"},
            "through the proxy HTTPS_PROXY=http://…@127.0.0.1:9",
        ),
    ],
)
def test_what_the_environment_says_of_the_network_is_named_where_it_fails(reflex, tmp_path, variables, told):
    done = reflex(
        *(
            *BENCH,
            "--model",
            "openai/x",
            "--base-url",
            "https://models.example.org/v1",
            "--results",
            tmp_path,
        ),
        OPENAI_API_KEY="sk-0123456789",
        **variables,
    )
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr


def test_a_server_on_this_machine_is_reached_past_every_proxy(reflex, loopback, tmp_path):
    names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY")
    done = reflex(
        *("doctor", "--model", f"openai/{MODEL}", "--base-url", loopback.base_url),
        **dict.fromkeys(names, DEAD),
    )
    assert done.returncode == 0, done.stderr
    assert any(call.path.endswith("/models") for call in loopback.calls)


def test_a_server_under_a_dotted_name_is_asked_before_a_key_is_wanted(reflex, tmp_path):
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        done = reflex(
            *(*BENCH, "--model", "openai/x", "--results", tmp_path),
            *("--base-url", f"http://models.example.invalid:{unheard.getsockname()[1]}/v1"),
        )
    assert done.returncode == 2
    assert "no server answers at http://models.example.invalid" in done.stderr
    done = reflex(*BENCH, "--model", "openai/x", "--results", tmp_path)
    assert "OPENAI_API_KEY is not set" in done.stderr


def test_doctor_calls_no_wrong_address_fine(reflex, loopback):
    loopback.answer = lambda call: models(MODEL) if call.path.endswith("v1/models") else None
    address = loopback.base_url.replace("/v1", "/v2")
    done = reflex("doctor", "--model", f"openai/{MODEL}", "--base-url", address)
    assert done.returncode != 0
    assert "can answer" not in done.stdout


def test_doctor_tells_where_the_cache_is_and_whether_it_can_be_written_to(reflex, tmp_path):
    (tmp_path / "file").write_text("")
    told = reflex("doctor", REFLEX_BENCH_CACHE=str(tmp_path / "file" / "cache"))
    assert told.returncode == 1
    assert "cannot be written to; set REFLEX_BENCH_CACHE" in told.stdout
    assert (
        f"{tmp_path / 'here'}; REFLEX_BENCH_CACHE moves it"
        in reflex("doctor", REFLEX_BENCH_CACHE=str(tmp_path / "here")).stdout
    )
    done = reflex(
        "bench", "alfworld", "--tasks", 1, "-q", REFLEX_BENCH_CACHE=str(tmp_path / "file" / "cache")
    )
    assert done.returncode == 2
    assert "REFLEX_BENCH_CACHE moves the cache" in done.stderr


def test_the_help_names_exit_codes_and_variables(reflex):
    told = reflex("--help").stdout
    for name in ("REFLEX_BENCH_RESULTS", "REFLEX_BENCH_CACHE", "ALFWORLD_DATA", "130 interrupted"):
        assert name in told
