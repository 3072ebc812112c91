"""Endpoints by name."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import urlsplit

import pytest
from loopback import Loopback

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.resolving import resolve
from reflex_bench.models.base import Message, Request
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.providers import Provider, shipped_providers
from reflex_bench.models.registry import open_model

NAMED = (
    *("openai", "ollama", "vllm", "llamacpp", "lmstudio", "openrouter", "anthropic", "gemini", "mistral"),
    *("deepseek", "groq", "together", "azure", "bedrock"),
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in shipped_providers().values():
        if provider.key:
            monkeypatch.delenv(provider.key, raising=False)
    for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_every_provider_has_an_address_and_says_which_key_it_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://my-resource.openai.azure.com/")
    assert set(NAMED) <= set(shipped_providers())
    for name, provider in shipped_providers().items():
        parts = urlsplit(provider.address)
        assert parts.hostname, name
        assert "//" not in parts.path, name
        on_this_machine = parts.hostname == "127.0.0.1"
        assert (parts.scheme == "http") == on_this_machine == provider.keyless, name
        assert provider.example, name
    keys = [provider.key for provider in shipped_providers().values()]
    assert len(set(keys)) == len(keys)


def test_an_address_takes_variables_and_their_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    bedrock = shipped_providers()["bedrock"]
    assert bedrock.address == "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1"
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert bedrock.address == "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1"
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/")
    assert shipped_providers()["azure"].address == "https://r.openai.azure.com/openai/v1"


def test_an_address_that_lacks_a_variable_says_which() -> None:
    with pytest.raises(UsageError, match=r"azure: AZURE_OPENAI_ENDPOINT is not set; .*the resource"):
        open_model("azure/my-deployment")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "openrouter", "bedrock"])
def test_a_hosted_provider_without_its_key_is_refused_by_the_name_of_the_key(provider: str) -> None:
    with closing(open_model(f"{provider}/x")) as model, pytest.raises(UsageError) as error:
        model.check()
    assert str(error.value).startswith(f"{shipped_providers()[provider].key} is not set; ")


def test_a_provider_is_sent_its_own_key_and_no_other(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    request = Request((Message("user", "Hello"),))
    options = ModelOptions(base_url=loopback.base_url)
    for set_key, sent in ((None, "none"), ("sk-of-groq", "sk-of-groq")):
        if set_key:
            monkeypatch.setenv("GROQ_API_KEY", set_key)
        with closing(open_model("groq/some/model:free", options)) as model:
            assert model.name == "groq/some/model:free"
            model.complete(request)
        assert loopback.posts[-1].headers["authorization"] == f"Bearer {sent}"
        assert loopback.posts[-1].body["model"] == "some/model:free"


def test_the_configuration_adds_providers_and_changes_those_that_ship(loopback: Loopback) -> None:
    own = [f"providers.{name}.base_url={loopback.base_url}" for name in ("lab", "ollama")]
    options = ModelOptions(providers=resolve(own, {}).providers)
    for spec in ("lab/small", "ollama/qwen3:8b"):
        with closing(open_model(spec, options)) as model:
            assert model.name == spec
            assert model.complete(Request((Message("user", "Hello"),))).text
    with pytest.raises(UsageError, match="providers"):
        resolve(["providers.lab.key=X"], {})
    assert Provider(base_url="http://h/v1").needs_key is False


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("olama/qwen3:8b", "ollama/qwen3:8b"),
        ("antropic/claude", "anthropic/claude"),
        ("gpt-4o-mini", "openai/gpt-4o-mini"),
        ("Qwen/Qwen3-8B", "openai/Qwen/Qwen3-8B"),
        ("simulatd", "simulated"),
        ("replai/x", "replay:<run directory>"),
    ],
)
def test_a_misspelt_provider_is_answered_with_the_nearest(spec: str, meant: str) -> None:
    with pytest.raises(UsageError, match="`reflex models` lists") as error:
        open_model(spec)
    assert f"unknown model {spec!r}; did you mean {meant!r}?" in str(error.value)


@pytest.mark.parametrize(
    ("spec", "priced"),
    [("openai/gpt-4o-mini", True), ("groq/llama-3.1-8b-instant", True), ("deepseek/deepseek-chat", True),
     ("mistral/mistral-small-latest", True), ("openai/no-such-model", False)],
)  # fmt: skip
def test_a_model_that_has_a_published_price_is_priced_by_its_provider(spec: str, priced: bool) -> None:
    from reflex_bench.models.base import Usage

    with closing(open_model(spec)) as model:
        assert (model.cost(Usage(1_000_000, 1_000_000, 0)) is not None) == priced
