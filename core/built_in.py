"""Entry points of the parts of this package by kind and name, and what parts of a kind are called with."""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "agents": {
        "react": "agents.react:react",
        "act": "agents.act:act",
        "cot": "agents.cot:cot",
        "cot-gold": "agents.cot:cot_gold",
        "gold": "agents.gold:gold",
    },
    "environments": {
        "alfworld": "envs.alfworld.environment:create",
        "hotpotqa": "envs.hotpotqa.environment:create",
        "tools": "envs.tools.environment:create",
    },
    "models": {
        "openai": "models.openai.model:create",
        "simulated": "models.simulated.model:create",
        "replay": "models.replay:create",
    },
    "reflectors": {
        "none": "agents.reflection.reflectors:none",
        "last_attempt": "agents.reflection.reflectors:last_attempt",
        "reflexion": "agents.reflection.reflectors:reflexion",
        "last_attempt_and_reflexion": "agents.reflection.reflectors:last_attempt_and_reflexion",
        "structured": "agents.reflection.structured:structured",
        "fallback": "agents.reflection.fallback:fallback",
    },
    "evaluators": {
        "environment": "agents.evaluation.evaluators:environment",
        "heuristic": "agents.evaluation.evaluators:heuristic",
        "model": "agents.evaluation.evaluators:model",
        "rules": "agents.evaluation.rules:rules",
    },
    "memories": {
        "sliding": "agents.memory.base:sliding",
        "retrieval": "agents.memory.retrieval:retrieval",
        "strategy": "agents.memory.strategy:strategy",
    },
    "similarities": {
        "tfidf": "agents.memory.similarity:tfidf",
        "wordllama": "agents.memory.similarity:wordllama",
        "sentence-transformers": "agents.memory.similarity:sentence_transformers",
        "endpoint": "agents.memory.similarity:endpoint",
    },
    "tables": {
        "pass-at-k": "harness.reporting.tables.pass_at_k:pass_at_k_table",
        "outcomes": "harness.reporting.tables.pass_at_k:outcomes_table",
        "react-table3": "harness.reporting.tables.styles:react_table3",
        "reflexion-curve": "harness.reporting.tables.styles:reflexion_curve",
        "hotpotqa": "harness.reporting.tables.metrics:scores_table",
        "metrics": "harness.reporting.tables.metrics:metrics_table",
        "samples": "harness.reporting.tables.samples:samples_table",
        "reflections": "harness.reporting.tables.audit:reflections_table",
        "evaluator": "harness.reporting.tables.audit:confusion_table",
    },
}
"""The parts of this package, as entry points write them."""

CALLED_WITH: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "agents": (("task", "trial", "memory", "environment", "ask", "limits", "watch"), ()),
    "environments": (("options",), ()),
    "models": (("name", "options"), ()),
    "reflectors": (("failed", "earlier", "prompts", "ask", "history"), ("auditing",)),
    "evaluators": (("trajectory", "prompts", "ask"), ()),
    "memories": (("options",), ()),
    "similarities": (("name", "options"), ()),
    "tables": (("run",), ()),
}
"""What a part is called with: by position, and by name."""

HAS: Mapping[str, tuple[str, ...]] = {
    "environments": ("name", "max_steps", "feedback", "prompts", "load", "start", "read_action", "settings"),
    "models": ("name", "simulated"),
    "memories": ("cross_task", "view", "commit", "dump", "load", "settings"),
    "similarities": ("scores",),
}
"""What a thing must have that a part makes; without the rest of its protocol it fails later."""
