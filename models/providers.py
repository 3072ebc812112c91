"""Named endpoints: `ollama/qwen3:8b` knows its address, and which variable holds its key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from reflex_bench.core.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Provider(BaseModel):
    """One endpoint that speaks the OpenAI protocol."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(default="", exclude=True)
    """What stands before the slash in `<provider>/<model>`."""
    base_url: str
    """Its address. `${NAME}` stands for an environment variable, `${NAME:-x}` for `x` where it is not set."""
    key: str | None = Field(default=None, pattern="^[A-Za-z_][A-Za-z0-9_]*$")
    """The environment variable that holds the key; None: no key is ever sent."""
    keyless: bool = False
    """Whether the endpoint may run without a key."""
    example: str = ""
    """The name of a model there."""
    note: str = ""
    """What a person must know."""

    @property
    def needs_key(self) -> bool:
        """Whether a call without a key is refused."""
        return self.key is not None and not self.keyless

    @property
    def key_value(self) -> str:
        """The key from the environment; "" where none is set.

        Raises:
            UsageError: it has a character that no HTTP header may have.
        """
        value = os.environ.get(self.key, "").strip() if self.key else ""
        if not all("!" <= sign <= "~" for sign in value):
            raise UsageError(
                f"{self.key} holds a character that no key has (a space, a line break, a quotation mark?)"
            )
        return value

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the address refers to."""
        return tuple(match[1] for match in _VARIABLE.finditer(self.base_url))

    @property
    def missing(self) -> tuple[str, ...]:
        """The environment variables that the address needs and that are not set."""
        found = _VARIABLE.finditer(self.base_url)
        return tuple(match[1] for match in found if match[2] is None and not os.environ.get(match[1]))

    @property
    def address(self) -> str:
        """The address, with environment variables filled in; one that is not set leaves its name standing."""

        def value(match: re.Match[str]) -> str:
            return os.environ.get(match[1]) or (match[0] if match[2] is None else match[2])

        # A resource address as its owner copies it may end in a slash.
        return re.sub(r"(?<!:)//+", "/", _VARIABLE.sub(value, self.base_url))


@cache
def shipped_providers() -> Mapping[str, Provider]:
    """Return the providers of `configs/providers.yaml`, by name."""
    text = files("reflex_bench.configs").joinpath("providers.yaml").read_text(encoding="utf-8")
    listed: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)
    return {name: Provider(name=name, **entry) for name, entry in listed.items()}
