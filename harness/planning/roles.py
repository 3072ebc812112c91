"""Settings of a model in one role, what of them is sent, and what stands on a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from reflex_bench.models.openai.secrets import check_json, check_open

Temperature = Annotated[float, Field(ge=0, le=2)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]

MAX_TOKENS_CEILING = 16_384
"""Room for some ten thousand words of reasoning, more than one turn of such tasks should take."""


def _as_body(value: Any) -> Any:
    fields = _as_open(value)
    taken = sorted(name for name in RESERVED if name in fields)
    if taken:
        raise PydanticCustomError(
            "reserved", "{name}: {said}", {"name": taken[0], "said": RESERVED[taken[0]]}
        )
    return fields


def _as_open(value: Any) -> Any:
    """Return a mapping that can be sent as JSON and holds no secret; the error shows nothing of it."""
    if not isinstance(value, Mapping):
        raise PydanticCustomError("mapping", "a mapping of names to values is wanted")
    try:
        fields: dict[str, Any] = check_json(value)
        check_open(fields)
    except ValueError as error:
        raise PydanticCustomError("not_sent", "{said}", {"said": str(error)}) from None
    return fields


def _as_texts(value: Any) -> Any:
    fields = _as_open(value)
    return {name: each if isinstance(each, str) else json.dumps(each) for name, each in fields.items()}


RESERVED: Mapping[str, str] = {
    **dict.fromkeys(
        ("max_tokens", "max_completion_tokens", "max_output_tokens"), "set model.max_tokens instead"
    ),
    "temperature": "set model.temperature instead",
    "model": "set model.model instead",
    "seed": "set seed, or model.seed=false, instead",
    "tools": "set limits.actions instead",
    "stop": "the environment's prompts decide it",
    **dict.fromkeys(("messages", "prompt", "n", "stream"), "the harness decides it"),
    **dict.fromkeys(
        ("input", "instructions", "previous_response_id", "background"), "the harness decides it"
    ),
}
"""Fields of a request that have keys of their own, or none."""

Body = Annotated[dict[str, Any], BeforeValidator(_as_body)]
Texts = Annotated[dict[str, str], BeforeValidator(_as_texts)]


class Section(BaseModel):
    """A part of the configuration; a key that does not exist is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        # To pydantic, true is the number 1.
        annotation = cls.model_fields[str(info.field_name)].annotation
        if isinstance(value, bool) and annotation not in (bool, Any) and bool not in get_args(annotation):
            raise ValueError("true and false are no value for this setting")
        return value


class RoleConfig(Section):
    """A model in one role."""

    model: str = "simulated"
    """`simulated`, `openai/<name>`, `replay:<run>`, or `<plug-in>/<name>`."""
    temperature: Temperature = 0.7
    """Above 0, so that a retry can differ from the first trial (0.7 in Reflexion, section 4.2)."""
    max_tokens: Positive = 256
    """Most tokens of one reply, at first: one that ends before any answer is asked for again with twice the room."""
    max_tokens_ceiling: Positive = MAX_TOKENS_CEILING
    """Most tokens that a reply gets in the end."""
    reasoning_effort: Effort | None = None
    """How much a reasoning model is to think; sent as it is, and not at all for None."""
    send_reasoning: Literal["none", "last", "all"] = "none"
    """Of which of its turns a model is sent its reasoning back, in the field in which it came."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1)] | None = None
    min_p: Share | None = None
    repetition_penalty: Annotated[float, Field(gt=0)] | None = None
    seed: bool = True
    """Whether requests carry a seed."""
    extra_body: Body = Field(default_factory=dict)
    """Further fields of a request, on top of `endpoint.extra_body`."""

    def further_fields(self) -> dict[str, Any]:
        """Return what a request has besides messages, temperature, room, stops and tools.

        None for a field that it has not.
        """
        named = {name: getattr(self, name) for name in SENT_AS_THEY_ARE if getattr(self, name) is not None}
        return named | ({} if self.seed else {"seed": None}) | self.extra_body


SENT_AS_THEY_ARE = ("reasoning_effort", "top_p", "top_k", "min_p", "repetition_penalty")


class RoleOverride(Section):
    """What a role has apart from `model`; None takes what `model` says."""

    model: str | None = None
    temperature: Temperature | None = None
    max_tokens: Positive | None = None
    max_tokens_ceiling: Positive | None = None
    reasoning_effort: Effort | None = None
    send_reasoning: Literal["none", "last", "all"] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1)] | None = None
    min_p: Share | None = None
    repetition_penalty: Annotated[float, Field(gt=0)] | None = None
    seed: bool | None = None
    extra_body: Body | None = None


class EvaluationOverride(RoleOverride):
    """Of the model that judges; what is not named keeps its default."""

    temperature: Temperature | None = 0.0


class ReflectionOverride(RoleOverride):
    """Of the model that reflects; what is not named keeps its default."""

    max_tokens: Positive | None = 512


def role_of(extra_body: Mapping[str, Any], model: RoleConfig, over: RoleOverride) -> RoleConfig:
    """Return a role's settings: the endpoint's further fields, the model's settings, and on top of both its own.

    Args:
        extra_body: the endpoint's.
        model: what holds for all roles.
        over: what is special about this one.
    """
    own = over.model_dump(exclude_none=True)
    extra = {**extra_body, **model.extra_body} | own.pop("extra_body", {})
    return model.model_copy(update={**own, "extra_body": extra})


ALWAYS_TOLD = ("model", "temperature", "max_tokens")


def role_settings(prefix: str, role: RoleConfig, asked: bool) -> dict[str, Any]:
    """Return what stands on an arm's row of a role: what every run says, and what is not at its default.

    Args:
        prefix: of the names, e.g. `reflector_`.
        role: its settings.
        asked: whether the arm has a model in this role at all.
    """
    told = {f"{prefix}{name}": getattr(role, name) if asked else None for name in ALWAYS_TOLD}
    others = {name: value for name, value in role.model_dump().items() if name not in ALWAYS_TOLD}
    defaults = RoleConfig().model_dump()
    return told | {
        f"{prefix}{name}": value for name, value in others.items() if asked and value != defaults[name]
    }
