"""Options of a model's endpoint, from the settings of a run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from reflex_bench.core.errors import UsageError, unknown
from reflex_bench.models.prices import Prices
from reflex_bench.models.providers import Provider, shipped_providers

Api = Literal["chat", "completions", "responses"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to reach a model. A model takes no notice of what does not concern it.

    Attributes:
        base_url: the endpoint; None: `OPENAI_BASE_URL`, or OpenAI's own.
        api: `chat` sends messages; `responses` sends them to the Responses API, for endpoints that keep reasoning
            across turns only there; `completions` sends one text to be continued, as base models and the papers
            need it.
        timeout: seconds that an attempt may wait for its answer to begin, and then for it to end.
        max_retries: further attempts after an answer that may be better next time (5xx, a time-out, a lost
            connection, an unreadable body), with growing pauses or the pause that the server asks for.
        patience: seconds that a call waits while the endpoint refuses it for its rate limit (429).
        max_connections: calls in flight at a time; further ones wait. None: see `local_server.default_connections`.
        requests_per_minute, tokens_per_minute: None for no limit but the endpoint's own.
        prices: instead of the published ones.
        providers: further endpoints by name, and those of `configs/providers.yaml` that are to be other ones.
        check_model: whether the endpoint must list the model's name before the first call.
        headers, query: sent with every request; texts may have `${NAME}` for values from the environment.
        variables: environment variables that further fields of requests refer to; their values are secrets.
        faults: how many attempts at calls failed so far, by kind (`ModelError.kind`).
        stopping: set by whoever runs the calls, to end all waiting for an endpoint.
    """

    base_url: str | None = None
    api: Api = "chat"
    timeout: float = 300.0
    max_retries: int = 6
    patience: float = 600.0
    max_connections: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    prices: Prices | None = None
    providers: Mapping[str, Provider] = field(default_factory=dict)
    check_model: bool = True
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    query: Mapping[str, str] = field(default_factory=dict, hash=False)
    variables: tuple[str, ...] = ()
    faults: Counter[str] = field(default_factory=Counter, compare=False)
    stopping: threading.Event = field(default_factory=threading.Event, compare=False)

    def __post_init__(self) -> None:
        if self.api not in get_args(Api):
            raise unknown("api", self.api, get_args(Api))
        if not self.timeout > 0:
            raise UsageError(f"timeout is {self.timeout}; it must be more than 0 seconds")
        if self.max_retries < 0:
            raise UsageError(f"max_retries is {self.max_retries}; it must be 0 or more")
        if self.max_connections is not None and self.max_connections < 1:
            raise UsageError(f"max_connections is {self.max_connections}; it must be 1 or more")

    def all_providers(self) -> Mapping[str, Provider]:
        """Return every endpoint that has a name."""
        own = {name: provider.model_copy(update={"name": name}) for name, provider in self.providers.items()}
        return {**shipped_providers(), **own}
