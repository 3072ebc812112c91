"""The parts of this package, by kind and name, as entry points write them; and how parts of a kind are used."""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "agents": {
        "react": "agents.react:react",
        "act": "agents.act:act",
        "cot": "agents.cot:cot",
        "cot-gold": "agents.cot:cot_gold",
    },
    "environments": {
        "alfworld": "envs.alfworld.environment:create",
        "hotpotqa": "envs.hotpotqa.environment:create",
    },
    "models": {
        "openai": "models.openai:create",
        "simulated": "models.simulated:create",
        "replay": "models.replay:create",
    },
    "reflectors": {
        "none": "agents.reflectors:none",
        "last_attempt": "agents.reflectors:last_attempt",
        "reflexion": "agents.reflectors:reflexion",
        "last_attempt_and_reflexion": "agents.reflectors:last_attempt_and_reflexion",
        "structured": "agents.structured:structured",
    },
    "evaluators": {
        "environment": "agents.evaluators:environment",
        "heuristic": "agents.evaluators:heuristic",
        "model": "agents.evaluators:model",
    },
    "memories": {
        "sliding": "agents.memory:sliding",
        "retrieval": "agents.retrieval:retrieval",
        "strategy": "agents.strategy:strategy",
    },
    "similarities": {
        "tfidf": "agents.similarity:tfidf",
        "wordllama": "agents.similarity:wordllama",
        "sentence-transformers": "agents.similarity:sentence_transformers",
        "endpoint": "agents.similarity:endpoint",
    },
    "tables": {
        "pass-at-k": "harness.tables:pass_at_k_table",
        "outcomes": "harness.tables:outcomes_table",
        "react-table3": "harness.styles:react_table3",
        "reflexion-curve": "harness.styles:reflexion_curve",
        "hotpotqa": "harness.metrics_table:scores_table",
        "metrics": "harness.metrics_table:metrics_table",
        "samples": "harness.samples:samples_table",
        "reflections": "harness.audit_table:reflections_table",
        "evaluator": "harness.audit_table:confusion_table",
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
