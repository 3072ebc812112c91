"""Chat models behind any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp, OpenRouter.

The `openai` package's client does the sending and pooling; how an endpoint is reached and what it does not take is in
`reflex_bench.models.openai.endpoint`, what goes over the wire in `reflex_bench.models.openai.wire` and
`reflex_bench.models.openai.reading`, what errors mean in `reflex_bench.models.openai.errors.meanings`, when a call may
begin in `reflex_bench.models.pacing`, and when it is made again in `reflex_bench.models.retrying`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

from reflex_bench.core.errors import ModelError, RunStopped, UsageError, unknown
from reflex_bench.models.base import Reply, Request, Usage, tokens_of
from reflex_bench.models.context_length import context_length
from reflex_bench.models.local_server import connections, default_connections
from reflex_bench.models.openai import wire
from reflex_bench.models.openai.client import by_way_of, is_address
from reflex_bench.models.openai.endpoint import Endpoint
from reflex_bench.models.openai.errors.adaptation import Learned
from reflex_bench.models.openai.errors.faults import one_line, redact
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.pacing import RateLimiter
from reflex_bench.models.prices import price_list
from reflex_bench.models.providers import Provider
from reflex_bench.models.retrying import Retries

_OPENAI = "api.openai.com"
_CHECK_TIMEOUT = 30.0  # seconds
_TELL_EVERY = 60.0  # seconds between two lines about the same rate limit
_SLOWING = {"rate_limit": "answers 429, too many requests", "timeout": "does not answer in time"}
"""Kinds of faults after which fewer calls are made at a time, and how that is told."""

_log = logging.getLogger(__name__)


def base_of(url: str) -> str:
    """Return an address as the client wants it: people paste the whole one, up to `/chat/completions`."""
    bare, question, query = url.strip().partition("?")
    for path in ("/chat/completions", "/completions", "/models", "/responses"):
        bare = bare.rstrip("/").removesuffix(path)
    return f"{bare}{question}{query}"


def create(name: str, options: ModelOptions) -> OpenAIModel:
    """Return the model of `openai/<name>`; see `open_at`."""
    return open_at("openai", name, options)


def open_at(provider_name: str, name: str, options: ModelOptions) -> OpenAIModel:
    """Return a model at an endpoint that `configs/providers.yaml` or the run's own configuration names.

    Args:
        provider_name: the endpoint's name, which must exist.
        name: the model's name there.
        options: how to reach it; a base URL given here wins over the provider's.

    Raises:
        UsageError: no name, an address that is none, or a key with characters that no header may have.
    """
    provider = options.all_providers()[provider_name]
    if not name:
        raise UsageError(
            f"model '{provider_name}/' names no model; write {provider_name}/<name>, e.g. "
            f"{provider_name}/{provider.example or 'some-model'}"
        )
    if not options.base_url and provider.missing:
        raise UsageError(f"{provider_name}: {provider.missing[0]} is not set; {provider.note}".rstrip("; "))
    url = base_of(options.base_url or provider.address)
    if not is_address(url):
        raise UsageError(
            f"the base URL of {provider_name} (--base-url) is no address; one looks like http://127.0.0.1:8080/v1"
        )
    return OpenAIModel(name, url, provider.key_value, options, provider)


class OpenAIModel:
    """One model at one endpoint; threads share its client.

    Args:
        name: as the endpoint knows it.
        url: the endpoint.
        key: sent as the bearer token; "" where there is none.
        options: how to reach it.
        provider: whose endpoint it is; None: `openai`.
    """

    simulated = False

    def __init__(
        self, name: str, url: str, key: str, options: ModelOptions, provider: Provider | None = None
    ) -> None:
        self._provider = provider or options.all_providers()["openai"]
        self.name = f"{self._provider.name}/{name}"
        self._model = name
        self._options = options
        self._url = url
        self._limiter, self._told = RateLimiter(options, default_connections(url)), -_TELL_EVERY
        self._endpoint = Endpoint(self.name, name, url, key, options, self._limiter)
        self._lock = threading.Lock()
        self._price = options.prices.cost if options.prices else price_list(name, self._endpoint.url)

    def complete(self, request: Request) -> Reply:
        """Return one reply, after as many attempts as `reflex_bench.models.retrying` allows; see `Model.complete`."""
        started, retries, timeouts = time.perf_counter(), Retries(self._options), 0
        lost: list[Reply] = []
        while True:
            try:
                # A reply that is empty because a stop came first shows itself where the stops are applied here.
                reply = self._endpoint.ask(request, with_stops=not lost)
            except ModelError as error:
                failure = error
            else:
                self._limiter.on_success(tokens_of(reply.usage))
                reply = replace(reply, cost=self._cost_of(reply), retries=retries.count, timeouts=timeouts)
                if not reply.is_empty or reply.finish == "length" or reply.cut_here:
                    return replace(reply, seconds=time.perf_counter() - started, lost=tuple(lost))
                failure = self._empty(reply, request)
                lost.append(reply)
            timeouts += failure.kind == "timeout"
            if failure.kind in _SLOWING and self._limiter.on_429(failure.retry_after):
                self._tell_of_limit(_SLOWING[failure.kind])
            # Raised out here, an error drags no other along that holds the request and its key.
            if not retries.wait(failure):
                failure.lost = tuple(lost)
                raise failure

    def _empty(self, reply: Reply, request: Request) -> ModelError:
        """Return the fault for a reply that holds no answer.

        Stops that end replies inside reasoning are not sent again.
        """
        if reply.reasoning and request.stop:
            self._endpoint.apply_stops_here()
        what = "reasoning and no answer" if reply.reasoning else "an empty answer"
        return ModelError(f"{self._endpoint.url} keeps sending {what}", kind="empty")

    def _cost_of(self, reply: Reply) -> float | None:
        """Return US dollars: by the prices given, as the answer tells it, or by published prices."""
        if self._options.prices or reply.cost is None:
            return self.cost(reply.usage)
        return reply.cost

    def _tell_of_limit(self, what: str) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._told < _TELL_EVERY:
                return
            self._told = now
        _log.warning("%s %s: %d at a time for now", self.name, what, self._limiter.limit)

    def cost(self, usage: Usage) -> float | None:
        """Return US dollars for so many tokens, by the prices given or published; None where there are none."""
        return self._price(usage) if self._price else None

    def check(self) -> Sequence[str]:
        """Asks the endpoint for its models; see `reflex_bench.models.base.Model.check`."""
        provider, endpoint = self._provider, self._endpoint
        # `openai/…` also names servers that anybody runs, under any name; those say themselves whether they want a key.
        anybodys = provider.name == "openai" and urlsplit(endpoint.url).hostname != _OPENAI
        if provider.needs_key and not endpoint.has_key and not (anybodys or endpoint.is_local):
            raise UsageError(f"{provider.key} is not set; {endpoint.url} needs a key")
        return [*self._check_name(), *self._count_slots(), *self._remarks()]

    @property
    def connections(self) -> int:
        """Calls at a time; `check` asks a server on this machine for its slots."""
        return self._limiter.most

    @property
    def context_length(self) -> tuple[int | None, str]:
        """How many tokens a conversation may have, and who says so; asks the endpoint."""
        endpoint = self._endpoint
        return context_length(endpoint.client, self._url, self._model, endpoint.is_local)

    def _count_slots(self) -> Sequence[str]:
        self._limiter.most, told = connections(
            self._endpoint.client, self._url, self._options.max_connections
        )
        return told

    def _remarks(self) -> Iterator[str]:
        endpoint = self._endpoint
        if endpoint.has_key and not endpoint.is_local and endpoint.url.startswith("http:"):
            yield f"the key in {self._provider.key} travels unencrypted to {endpoint.url}"
        if self._price is None and not endpoint.is_local:
            yield f"no price is known for {self._model} at {endpoint.url}: its cost will be unknown"

    def _check_name(self) -> Sequence[str]:
        import httpx2
        import openai

        endpoint, timeout = self._endpoint, min(_CHECK_TIMEOUT, self._options.timeout)
        impatient = endpoint.client.with_options(
            max_retries=min(1, self._options.max_retries), timeout=timeout
        )
        try:
            content, _ = endpoint.follow(impatient.get, "/models")
        except openai.OpenAIError as error:
            caught = error
        except RunStopped as moved:
            raise UsageError(str(moved)) from None
        else:
            return self._check_listed(content)
        # Keys of limited rights may not list (403), and some servers cannot: calls may succeed all the same.
        if isinstance(caught, openai.APIStatusError) and caught.status_code in (403, 404, 405):
            return [self._unchecked()]
        if isinstance(caught.__cause__, httpx2.ConnectError):
            reason = one_line(redact(str(caught.__cause__), endpoint.secrets))
            way = by_way_of(endpoint.url)
            raise UsageError(f"no server answers at {endpoint.url}{way} ({reason}); is it running?")
        raise UsageError(str(endpoint.failure(caught, timeout)))

    def _unchecked(self) -> str:
        return f"{self._endpoint.url} lists no models: the name {self._model!r} could not be checked"

    def _check_listed(self, content: bytes) -> Sequence[str]:
        listed = wire.model_names(content)
        if not listed:
            return [self._unchecked()]
        # Ollama lists `name:latest`, Google's endpoint `models/name`.
        names = {self._model, f"{self._model}:latest", f"models/{self._model}"}
        if names & listed or not self._options.check_model:
            return []
        error = unknown("model", self._model, listed)
        raise UsageError(
            f"{self._endpoint.url}: {one_line(str(error))} (for a name that it does not list: "
            "-c endpoint.check_model=false)"
        )

    def settings(self) -> Mapping[str, Any]:
        """Endpoint, API and price; `changed_parameters` is complete only after the calls."""
        override = self._options.prices
        published = "unknown" if self._price is None else "genai-prices"
        return {
            "kind": "openai",
            "endpoint": self._endpoint.url,
            "api": self._options.api,
            "connections": self.connections,
            "prices": asdict(override) if override else published,
            "changed_parameters": self._endpoint.learned.described(),
        }

    def recall(self, settings: Mapping[str, Any]) -> None:
        """Takes over what an earlier process learned of the same endpoint.

        Args:
            settings: what `settings` told there.
        """
        told = settings.get("changed_parameters")
        if settings.get("endpoint") == self._endpoint.url and isinstance(told, Mapping):
            self._endpoint.learned = Learned.recalled(told)

    def close(self) -> None:
        self._endpoint.client.close()
