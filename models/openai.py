"""Chat models behind any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp, OpenRouter.

The `openai` package's client does the sending and pooling; what goes over the wire is in
`reflex_bench.models.openai_wire`, what errors mean in `reflex_bench.models.openai_faults`, when a call may begin in
`reflex_bench.models.pacing`, and when it is made again in `reflex_bench.models.retrying`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reflex_bench.harness.errors import ModelError, ReflexError, UsageError, unknown
from reflex_bench.harness.turns import Urgency, take_back
from reflex_bench.models import openai_wire as wire
from reflex_bench.models.base import Reply, Request, ToolCall, Usage, tokens_of
from reflex_bench.models.openai_client import is_address, is_local, open_client, secrets_of
from reflex_bench.models.openai_faults import (
    complaint_in,
    one_line,
    pause_asked,
    public_url,
    refusal,
    scrubbed,
    unsupported,
)
from reflex_bench.models.pacing import Pace
from reflex_bench.models.prices import price_list
from reflex_bench.models.providers import Provider
from reflex_bench.models.registry import ModelOptions
from reflex_bench.models.retrying import Retries

if TYPE_CHECKING:
    import httpx2
    import openai

NO_KEY = "none"
"""Sent where no key is set: local servers take any, and the client insists on one."""

_CHECK_TIMEOUT = 30.0  # seconds
_TELL_EVERY = 60.0  # seconds between two lines about the same rate limit

_log = logging.getLogger(__name__)


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
    url = options.base_url or provider.address
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
        self._endpoint = public_url(url)
        self._is_local = is_local(urlsplit(url).hostname or "")
        self._has_key = bool(key)
        self._secrets = secrets_of(key, url)
        self._pace, self._told = Pace(options), -_TELL_EVERY
        self._client = open_client(url, key or NO_KEY, options, self._pace)
        self._changed: dict[str, str | None] = {}
        self._lock = threading.Lock()
        self._price = options.prices.cost if options.prices else price_list(name, self._endpoint)

    def complete(self, request: Request) -> Reply:
        """One reply, after as many attempts as `reflex_bench.models.retrying` allows; see `Model.complete`."""
        started, retries = time.perf_counter(), Retries(self._options)
        while True:
            try:
                reply = self._attempt(request)
            except ModelError as error:
                failure = error
            else:
                self._pace.answered(tokens_of(reply.usage))
                seconds = time.perf_counter() - started
                return replace(reply, cost=self.cost(reply.usage), seconds=seconds, retries=retries.count)
            if failure.kind == "rate_limit" and self._pace.refused(failure.retry_after):
                self._tell_of_limit()
            # Raised out here, an error drags no other along that holds the request and its key.
            if not retries.wait(failure):
                raise failure

    def _attempt(self, request: Request) -> Reply:
        try:
            content, api = self._post(request), self._options.api
        finally:
            self._pace.end()
            take_back(Urgency.READ)
        try:
            return self._clean(wire.read(content, api, wire.stops(api, request)))
        except ModelError as error:
            message, kind = scrubbed(f"{self._endpoint}: {error}", self._secrets), error.kind
        raise ModelError(message, kind)

    def _clean(self, reply: Reply) -> Reply:
        """A reply without secrets that its body held in JSON's own escapes, where `_content` could not see them."""

        def clean(text: str) -> str:
            for secret in self._secrets:
                text = text.replace(secret, "[key]")
            return text

        return replace(
            reply,
            text=clean(reply.text),
            finish=clean(reply.finish),
            model=clean(reply.model),
            server=clean(reply.server),
            calls=tuple(ToolCall(clean(call.name), clean(call.arguments)) for call in reply.calls),
        )

    def _tell_of_limit(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._told < _TELL_EVERY:
                return
            self._told = now
        _log.warning("%s answers 429, too many requests: %d at a time for now", self.name, self._pace.limit)

    def cost(self, usage: Usage) -> float | None:
        """US dollars for so many tokens, by the prices given or published; None where there are none."""
        return self._price(usage) if self._price else None

    def _post(self, request: Request) -> bytes:
        """The body of a successful answer."""
        import httpx2
        import openai

        api = self._options.api
        while True:
            body = wire.body(self._model, api, request, self._changed)
            try:
                return self._content(self._client.post(wire.PATHS[api], body=body, cast_to=httpx2.Response))
            except openai.OpenAIError as error:
                caught = error
            # Raised out here, an error drags no exception along that holds the request and its key.
            if not self._adapt(caught, body):
                raise self._failure(caught, self._options.timeout)

    def _content(self, response: httpx2.Response) -> bytes:
        """An answer's body without secrets.

        They are taken out here, before anything is cut to length or kept: half a key would not be recognised, and a
        server that echoes headers would carry a whole one into the journal.
        """
        content = response.content
        for secret in self._secrets:
            content = content.replace(secret.encode(), b"[key]")
        return content

    def _adapt(self, error: openai.OpenAIError, body: Mapping[str, Any]) -> bool:
        """Learns which parameter the endpoint does not take, if that is the fault; True: ask again."""
        import openai

        if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
            return False
        change = unsupported(complaint_in(self._content(error.response)), body)
        if change is None:
            return False
        old, new = change
        with self._lock:
            if old not in self._changed:
                self._changed = {**self._changed, old: new}
                done = f"sent as {new}" if new else "left out"
                _log.warning("%s does not take %s: it is %s from here on", self.name, old, done)
        return True

    def _failure(self, error: openai.OpenAIError, timeout: float) -> ReflexError:
        import httpx2
        import openai

        failure: ReflexError
        if isinstance(error, openai.APIStatusError):
            complaint = complaint_in(self._content(error.response))
            failure = refusal(error.status_code, complaint, self._endpoint, self._model, self._has_key)
            if isinstance(failure, ModelError):
                failure.retry_after = pause_asked(error.response.headers)
        elif isinstance(error, openai.APITimeoutError):
            failure = ModelError(f"{self._endpoint} did not answer within {timeout:g} s", kind="timeout")
        else:
            cause = error.__cause__ or error
            kind = "malformed" if isinstance(cause, httpx2.DecodingError) else "connection"
            said = one_line(str(cause)) or type(cause).__name__
            failure = ModelError(f"the connection to {self._endpoint} failed: {said}", kind=kind)
        failure.args = tuple(scrubbed(str(part), self._secrets) for part in failure.args)
        return failure

    def check(self) -> Sequence[str]:
        """Asks the endpoint for its models; see `reflex_bench.models.base.Model.check`."""
        if self._provider.needs_key and not self._has_key and not self._is_local:
            raise UsageError(f"{self._provider.key} is not set; {self._endpoint} needs a key")
        return [*self._check_name(), *self._remarks()]

    def _remarks(self) -> Iterator[str]:
        if self._has_key and not self._is_local and self._endpoint.startswith("http:"):
            yield f"the key in {self._provider.key} travels unencrypted to {self._endpoint}"
        if self._price is None and not self._is_local:
            yield f"no price is known for {self._model} at {self._endpoint}: its cost will be unknown"

    def _check_name(self) -> Sequence[str]:
        import httpx2
        import openai

        timeout = min(_CHECK_TIMEOUT, self._options.timeout)
        impatient = self._client.with_options(max_retries=min(1, self._options.max_retries), timeout=timeout)
        try:
            content = self._content(impatient.get("/models", cast_to=httpx2.Response))
        except openai.OpenAIError as error:
            caught = error
        else:
            return self._check_listed(content)
        # Keys of limited rights may not list (403), and some servers cannot: calls may succeed all the same.
        if isinstance(caught, openai.APIStatusError) and caught.status_code in (403, 404, 405):
            return [self._unchecked()]
        if isinstance(caught.__cause__, httpx2.ConnectError):
            reason = one_line(scrubbed(str(caught.__cause__), self._secrets))
            raise UsageError(f"no server answers at {self._endpoint} ({reason}); is it running?")
        raise UsageError(str(self._failure(caught, timeout)))

    def _unchecked(self) -> str:
        return f"{self._endpoint} lists no models: the name {self._model!r} could not be checked"

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
            f"{self._endpoint}: {one_line(str(error))} (for a name that it does not list: check_model=false)"
        )

    def settings(self) -> Mapping[str, Any]:
        """Endpoint, API and price; `changed_parameters` is complete only after the calls."""
        override = self._options.prices
        published = "unknown" if self._price is None else "genai-prices"
        return {
            "kind": "openai",
            "endpoint": self._endpoint,
            "api": self._options.api,
            "prices": asdict(override) if override else published,
            "changed_parameters": {old: new or "left out" for old, new in self._changed.items()},
        }

    def close(self) -> None:
        self._client.close()
