"""Endpoint as it is reached: its address, what it does not take, and what its answers mean."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from reflex_bench.core.errors import ModelError, ReflexError, RunStopped
from reflex_bench.models.base import Reply, Request, ToolCall
from reflex_bench.models.openai import wire
from reflex_bench.models.openai.client import is_local, open_client, secrets_of
from reflex_bench.models.openai.errors.adaptation import Learned
from reflex_bench.models.openai.errors.faults import public_url, redact, rejection, retry_after
from reflex_bench.models.openai.errors.meanings import meaning_of
from reflex_bench.models.openai.errors.messages import Complaint, error_message, one_line
from reflex_bench.models.openai.errors.rejections import learn
from reflex_bench.models.openai.reading import ErrorInside, OtherProtocol
from reflex_bench.models.openai.secrets import expanded
from reflex_bench.models.options import ModelOptions
from reflex_bench.models.pacing import RateLimiter

if TYPE_CHECKING:
    import httpx2
    import openai

NO_KEY = "none"
"""Sent where no key is set: local servers take any, and the client insists on one."""

MAX_MOVES = 5
"""Redirects that are followed for one address."""

MAX_LESSONS = 12
"""Refusals that are learned from for one call."""

_LEARNABLE = ("bad_request", "server", "no_model", "wrong_address")
"""Meanings that a refusal of a field may seem to have: templates fail with 500, routers find no server with 404."""

_log = logging.getLogger(__name__)


class Endpoint:
    """One model's endpoint; threads share it.

    Attributes:
        url: the address without secrets.
        learned: what the endpoint is sent otherwise.

    Args:
        name: the model's, as the person wrote it.
        model: the model's, as the endpoint knows it.
        url: the address.
        key: sent as the bearer token; "" where there is none.
        options: how to reach it.
        limiter: when a call may begin.
    """

    def __init__(
        self, name: str, model: str, url: str, key: str, options: ModelOptions, limiter: RateLimiter
    ) -> None:
        self.url = public_url(url)
        self.is_local = is_local(urlsplit(url).hostname or "")
        self.has_key = bool(key) or any(_is_credential(each) for each in (*options.headers, *options.query))
        self.secrets = secrets_of(key, url, options)
        self.client = open_client(url, key or NO_KEY, options, limiter)
        self.learned = wire.known_of(options.api)
        self._name, self._model, self._options, self._limiter = name, model, options, limiter
        self._moved: dict[str, str] = {}
        self._lock = threading.Lock()

    def ask(self, request: Request, with_stops: bool = True) -> Reply:
        """Return one attempt at a reply; what the endpoint refuses is sent as it wants it.

        Args:
            request: what is asked.
            with_stops: whether the stops are sent; they hold in any case.

        Raises:
            RunStopped, ModelError: see `reflex_bench.models.base.Model.complete`.
        """
        more = expanded(request.more) if self._options.variables else request.more
        sendable = replace(request, more=more) if more is not request.more else request
        for _ in range(MAX_LESSONS):
            known = self.learned if with_stops else self.learned.without("stop")
            body = wire.body(self._model, self._options.api, sendable, known)
            outcome = self._attempt(request, body)
            if isinstance(outcome, Reply):
                return outcome
            complaint, failure = outcome
            # Raised out here, an error drags no other along that holds the request and its key.
            if complaint is None or not self._adapt(complaint, sendable, body, known):
                raise failure
        raise failure

    def _attempt(
        self, request: Request, body: Mapping[str, Any]
    ) -> Reply | tuple[Complaint | None, ReflexError]:
        """Return the reply, or what the endpoint says instead (if it teaches anything) and its error."""
        import openai

        api = self._options.api
        try:
            content, headers = self.follow(self.client.post, wire.PATHS[api], body=wire.posted(api, body))
        except openai.APIStatusError as error:
            complaint = error_message(self.content(error.response))
            learnable = complaint if _is_learnable(error.status_code, complaint) else None
            return learnable, self._refused(error.status_code, complaint, error.response.headers)
        except openai.OpenAIError as error:
            return None, self.failure(error, self._options.timeout)
        finally:
            self._limiter.release()
        try:
            return self._clean(wire.read_reply(content, api, request.stop))
        except ErrorInside as error:
            complaint = error.complaint
            failure = self._refused(200, complaint, headers)
            return (complaint if _is_learnable(200, complaint) else None), failure
        except OtherProtocol as error:
            return None, RunStopped(redact(f"{self.url}: {error}", self.secrets))
        except ModelError as error:
            return None, ModelError(redact(f"{self.url}: {error}", self.secrets), error.kind)

    def follow(self, method: Callable[..., Any], path: str, **more: Any) -> tuple[bytes, Mapping[str, str]]:
        """Body (without secrets) and headers of a successful answer; redirects are followed where a key may go.

        Args:
            method: of the client: `get` or `post`.
            path: behind the address.
            more: further arguments of the method.

        Raises:
            openai.OpenAIError: there is no such answer.
            RunStopped: the answer sends elsewhere.
        """
        import httpx2
        import openai

        for _ in range(MAX_MOVES):
            try:
                response = method(self._moved.get(path, path), cast_to=httpx2.Response, **more)
                return self.content(response), response.headers
            except openai.APIStatusError as error:
                if error.status_code not in (301, 302, 303, 307, 308):
                    raise
                headers, asked = error.response.headers, str(error.response.request.url)
            self._moved[path] = self._new_address(asked, headers.get("location", ""), path)
        raise RunStopped(f"{self.url} sends from one address to the next, and none of them answers")

    def _new_address(self, asked: str, location: str, path: str) -> str:
        """Return where a redirect leads, on the same host.

        Raises:
            RunStopped: it leads elsewhere, or nowhere.
        """
        if not location:
            raise RunStopped(f"{self.url} answers with a redirect and does not say where to go")
        new = urljoin(asked, location)
        if _is_same_host(asked, new):
            return new
        address = redact(public_url(new).removesuffix(path), self.secrets)
        raise RunStopped(
            f"{self.url} sends elsewhere; if that address is right, give it: --base-url {address}"
        )

    def content(self, response: httpx2.Response) -> bytes:
        """Return an answer's body without secrets.

        They are taken out here, before anything is cut to length or kept: half a key would not be recognised, and a
        server that echoes headers would carry a whole one into the journal.
        """
        content = response.content
        for secret in self.secrets:
            content = content.replace(secret.encode(), b"[key]")
        return content

    def _clean(self, reply: Reply) -> Reply:
        """Return a reply without secrets that its body held in JSON's escapes, where `content` misses them."""
        if not self.secrets:
            return reply

        def clean(text: str) -> str:
            for secret in self.secrets:
                text = text.replace(secret, "[key]")
            return text

        return replace(
            reply,
            text=clean(reply.text),
            finish=clean(reply.finish),
            model=clean(reply.model),
            server=clean(reply.server),
            calls=tuple(ToolCall(clean(call.name), clean(call.arguments)) for call in reply.calls),
            reasoning=clean(reply.reasoning),
            reasoning_data=clean(reply.reasoning_data),
        )

    def _adapt(self, complaint: Complaint, request: Request, body: Mapping[str, Any], known: Learned) -> bool:
        """Learns what the endpoint does not take, if that is the fault; True: ask again."""

        def differs(learned: Learned) -> bool:
            return wire.body(self._model, self._options.api, request, learned) != body

        with self._lock:
            if self.learned is not known and differs(self.learned):
                return True  # what another thread learned meanwhile is tried first
            learned = learn(self.learned, complaint, body)
            if learned == self.learned or not differs(learned):
                return False
            self._keep(learned)
        return True

    def apply_stops_here(self) -> None:
        """From here on, stops are not sent but applied to what comes: they cut replies inside their reasoning."""
        with self._lock:
            if "stop" not in self.learned.dropped:
                self._keep(self.learned.without("stop"))

    def _keep(self, learned: Learned) -> None:
        for name, said in learned.news(self.learned).items():
            done = "sent as max_completion_tokens" if said == "max_completion_tokens" else said
            _log.warning(
                "%s does not take everything as it was sent; from here on: %s %s", self._name, name, done
            )
        self.learned = learned

    def _refused(self, status: int, complaint: Complaint, headers: Mapping[str, str]) -> ReflexError:
        failure = rejection(status, complaint, self.url, self._model, self.has_key)
        if isinstance(failure, ModelError):
            failure.retry_after = retry_after(headers, complaint)
        failure.args = tuple(redact(str(part), self.secrets) for part in failure.args)
        return failure

    def failure(self, error: openai.OpenAIError, timeout: float) -> ReflexError:
        """Return the error that an attempt without a reply is."""
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            complaint = error_message(self.content(error.response))
            return self._refused(error.status_code, complaint, error.response.headers)
        if isinstance(error, openai.APITimeoutError):
            return ModelError(f"{self.url} did not answer within {timeout:g} s", kind="timeout")
        cause = error.__cause__ or error
        kind = "malformed" if isinstance(cause, httpx2.DecodingError) else "connection"
        said = one_line(redact(str(cause), self.secrets)) or type(cause).__name__
        return ModelError(f"the connection to {self.url} failed: {said}", kind=kind)


def _is_learnable(status: int, complaint: Complaint) -> bool:
    return meaning_of(status, complaint) in _LEARNABLE


def _is_same_host(old: str, new: str) -> bool:
    """Return whether a key may go along: same host and port, or the same host by https where it was http."""
    before, after = urlsplit(old), urlsplit(new)
    if before.hostname != after.hostname:
        return False
    if before.scheme == "http" and after.scheme == "https":
        return True
    return (before.scheme, before.port) == (after.scheme, after.port)


def _is_credential(name: str) -> bool:
    return name.lower() in ("authorization", "api-key", "x-api-key", "key", "x-goog-api-key")
