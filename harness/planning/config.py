"""Configuration of a run: every setting with its type and its default."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from reflex_bench.core import parts
from reflex_bench.core.errors import unknown
from reflex_bench.harness.parts.own_prompts import read_prompts
from reflex_bench.harness.planning.layers import DEFAULT_ENVIRONMENT
from reflex_bench.harness.planning.roles import (
    Body,
    EvaluationOverride,
    Positive,
    ReflectionOverride,
    RoleConfig,
    RoleOverride,
    Section,
    Texts,
)
from reflex_bench.models.options import Api
from reflex_bench.models.providers import Provider

_SPAN = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


def seconds(span: Any) -> Any:
    """Return `90`, `90s`, `15m`, `2h` or `1h30m` in seconds; a number is one already.

    Raises:
        ValueError: text of another form.
    """
    if not isinstance(span, str):
        return span
    match = _SPAN.fullmatch(span.replace(" ", "").lower())
    if match is None or not any(match.groups()):
        raise ValueError("a time is written in seconds, or like 15m or 1h30m")
    return sum(float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True))


Span = Annotated[float, Field(gt=0), BeforeValidator(seconds)]
"""A time in seconds, which may be written as `1h30m`."""


def _named(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("a name or {name: {option: value}} is wanted")
    return value


Choice = Annotated[str | dict[str, dict[str, Any] | None], BeforeValidator(_named)]
"""The name of a part, or its name with its options."""


def _a_memory(kind: str) -> str:
    if kind not in parts.names("memories"):
        raise ValueError(str(unknown("memory", kind, parts.names("memories"))))
    return kind


class MemoryConfig(Section):
    """What is remembered between trials."""

    kind: Annotated[str, AfterValidator(_a_memory)] = "sliding"
    """`sliding` (the last ones of the task), `retrieval` (the ones most like the task), `strategy` (lessons of all
    tasks that must prove themselves), or one of another package."""
    size: Annotated[int, Field(ge=0)] = 3
    """How many reflections are shown (at most 3 in Reflexion, section 3)."""
    place: Literal["task", "system", "every_turn"] = "task"
    """Where it stands: before the task, as a directive at the head of the system message, or at the end of every turn's
    last message."""
    scope: Literal["task", "arm"] | None = None
    """Of `retrieval`: this task's reflections (None, too), or those of all tasks of the arm."""
    similarity: str | None = None
    """`tfidf` (None, too), `wordllama`, `sentence-transformers/<model>`, `endpoint/<model>`, or of another package."""
    half_life: Annotated[float, Field(gt=0)] | None = None
    """Of `strategy`: rounds after which an unused lesson counts half; None: never."""
    capacity: Positive | None = None
    """None: 200."""
    evict: Literal["age", "usefulness"] | None = None
    """Which goes when there are more; None: the least useful."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Of a memory of another package."""


OwnPrompts = Annotated[dict[str, str] | None, BeforeValidator(read_prompts)]
"""Name and text of a file."""


class ArmConfig(Section):
    """One agent configuration over the whole split, with what it takes from the run filled in."""

    agent: Choice = "react"
    """How one trial is played; see `Config.agent`."""
    reflector: Choice = "none"
    """What is made of a failed trial; see `Config.reflector`."""
    evaluator: Any = None
    """Who decides that a trial failed; None takes the run's."""
    step_evaluator: Annotated[int, Field(ge=0)] | None = None
    """A model looks at the trial after every so many steps; 0 never, None takes the run's."""
    memory: MemoryConfig | None = None
    """None takes the run's."""
    prompts: OwnPrompts = None
    """Texts in place of the environment's, by file or shipped name; None takes the run's."""
    controls: dict[str, Any] = Field(default_factory=dict)
    """On top of the run's; `false` switches one off."""
    actor: RoleOverride = RoleOverride()
    evaluation: EvaluationOverride = EvaluationOverride()
    reflection: ReflectionOverride = ReflectionOverride()


class PricesConfig(Section):
    """US dollars per million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached: Annotated[float, Field(ge=0)] | None = None
    """Of prompt tokens that the server had in its prefix cache; None: as `input`."""


class EndpointConfig(Section):
    """Where `openai/…` models are found. The key is only ever read from the environment."""

    base_url: str | None = None
    api: Api = "chat"
    timeout: Span = 120.0
    """For one request."""
    max_retries: Annotated[int, Field(ge=0)] = 6
    """Further attempts at a call after 5xx, a time-out or a lost connection."""
    patience: Annotated[float, Field(ge=0), BeforeValidator(seconds)] = 600.0
    """How long a call waits for a rate limit (429)."""
    prices: PricesConfig | None = None
    """Instead of the published prices."""
    check_model: bool = True
    """Whether the endpoint must list the model's name."""
    extra_body: Body = Field(default_factory=dict)
    """Further fields of every request, as JSON; secrets as `${NAME}`, from the environment."""
    headers: Texts = Field(default_factory=dict)
    query: Texts = Field(default_factory=dict)
    """Sent with every request; secrets as `${NAME}`."""


class LimitsConfig(Section):
    """What ends a trial or a run."""

    max_steps: Positive | None = None
    """None takes the environment's own (ALFWorld 30, HotPotQA 7)."""
    max_calls: Positive | None = None
    """Model calls of one trial, whatever the steps; None takes twice the steps."""
    cycles: Annotated[int, Field(ge=0)] = 3
    same_action: bool = False
    """Whether the same action or thought twice in a row ends a trial, whatever was answered."""
    ask_again: bool = True
    """Whether a turn in which no action can be found is asked for once more."""
    parse: Literal["strict", "repair", "admissible"] = "repair"
    """How freely replies are read; `admissible` also mends near misses, where the environment lists its commands."""
    actions: Literal["text", "tools"] = "text"
    """Whether actions are written as text, or called as native tools of the chat API."""
    max_workers: Positive | None = None
    """Chains at a time; None takes as many as calls for a served model, and 1 for one that computes here."""
    max_connections: Positive | None = None
    """Model calls at a time; fewer while the endpoint answers 429 or not in time. None takes 16, and for a server on
    this machine as many as it has slots (llama.cpp tells them; 2 where none are told)."""
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = None
    cost: Annotated[float, Field(gt=0)] | None = None
    """US dollars that the run may cost; then it stops, and can be resumed with more."""
    tokens: Positive | None = None
    """Tokens of prompts and replies that the run may take."""
    time: Span | None = None
    """How long one process may work on the run."""
    stop_after_errors: Positive = 20
    """A run stops after this many trials in a row ended in errors."""


Examples = Annotated[int, Field(ge=0)] | list[Annotated[int, Field(ge=1)]] | None
"""How many worked examples, or which, counted from 1; None for all."""


class LayoutConfig(BaseModel):
    """How an episode is put before a model; what was measured with it stands in docs/prompts.md."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    form: Literal["turns", "text"] = "turns"
    """As the turns of a chat, or as one running text; through `completions` always the latter."""
    structure: Literal["own", "published"] = "own"
    """Of the running text: ours, or that of the published loop."""
    examples: Literal["turns", "message"] = "turns"
    """In a chat, the worked examples are turns, or one message."""
    labels: bool = True
    """In a chat, whether thoughts and actions are labelled, where the environment has labels."""
    instruction: Literal["first", "last"] = "first"
    """In a chat, the instruction stands at the beginning, or right before the task."""
    prefill: bool = False
    """In a chat, the agent's turn is begun for it; the server must go on with an assistant's turn."""


class Config(Section):
    """Everything that decides what a run does."""

    environment: dict[str, Any] = Field(default={"name": DEFAULT_ENVIRONMENT})
    """`name`, and the environment's own options."""
    tasks: Positive | None = None
    """How many tasks; None takes the whole split."""
    trials: Positive = 3
    samples: Positive | None = None
    """Instead of trials: so many independent attempts at each task, none of which ends the others or is remembered."""
    seed: int = 0
    model: RoleConfig = RoleConfig()
    """Of the actor, and of the other roles where they say nothing else."""
    agent: Choice = "react"
    """How one trial is played: `react`, `act`, `cot`, `cot-gold`, or one of another package; `{name: {option: value}}`
    where it has options."""
    reflector: Choice | None = None
    """What is made of a failed trial: `none` (plain retry), `reflexion`, `last_attempt`,
    `last_attempt_and_reflexion`, `structured` or one of another package;
    None: `reflexion` in the arm of that name, `none` in others.
    The arm `react` retries plainly whatever is said here."""
    actor: RoleOverride = RoleOverride()
    evaluation: EvaluationOverride = EvaluationOverride()
    reflection: ReflectionOverride = ReflectionOverride()
    endpoint: EndpointConfig = EndpointConfig()
    evaluator: Any = "environment"
    """Who decides that a trial failed: `environment`, `heuristic`, `model`, `{all: [...]}`, `{any: [...]}` or one of
    another package;
    `{heuristic: {cycles: 3, max_actions: 30}}` sets its numbers."""
    step_evaluator: Annotated[int, Field(ge=0)] = 0
    audit: Literal["enforce", "count"] = "enforce"
    """Whether a reflection that fails the audit is asked for once more and then kept out, or only counted."""
    history: Annotated[int, Field(ge=0)] = 0
    """How many earlier failures of the same kind are summed up before a reflector."""
    memory: MemoryConfig = MemoryConfig()
    controls: dict[str, Any] = Field(default_factory=dict)
    """Safeguards between an agent and the commands of an environment that has any: by name `true`, or a mapping of
    numbers, `{retry: {most: 2}}`."""
    memory_from: str | None = None
    """A run whose memory, arm by arm, this one begins with."""
    arms: dict[str, ArmConfig] = Field(
        default={"react": ArmConfig(), "reflexion": ArmConfig(reflector="reflexion")}
    )
    """What an arm does not name, it takes from the run."""
    providers: dict[str, Provider] = Field(default_factory=dict)
    """Endpoints by name, beside those of `configs/providers.yaml` (`reflex models` lists them) or in their place."""
    prompts: OwnPrompts = None
    """Texts in place of the environment's: a YAML file with the keys that `reflex prompts` prints, or a name of
    `configs/prompts`; None: none."""
    examples: Examples = None
    """How many worked examples the prompts show, or which (`[1, 3]`); None: all that there are of the task's type."""
    layout: LayoutConfig = LayoutConfig()
    limits: LimitsConfig = LimitsConfig()
    share_first_trial: bool = True
    """Run a trial that is the same experiment in several arms once, for all of them."""
