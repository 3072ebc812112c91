"""Reserved names of table columns, which no metric of an environment may take."""

from __future__ import annotations

SETTINGS = (
    ("agent", "Agent"),
    ("model", "Model"),
    ("temperature", "Temperature"),
    ("reflector", "Reflector"),
    ("reflector_model", "Reflector's model"),
    ("memory", "Memory"),
    ("memory_size", "Memory size"),
    ("evaluator", "Evaluator"),
    ("feedback", "Feedback"),
    ("success_rule", "Success rule"),
    ("max_steps", "Step cap"),
    ("parse", "Parse policy"),
    ("examples", "Worked examples"),
    ("layout", "Shown as"),
    ("prompts", "Own prompts"),
    ("prompt_hash", "Prompts"),
    ("max_tokens", "Room for a reply"),
    ("max_tokens_ceiling", "Room at most"),
    ("reasoning_effort", "Reasoning effort"),
    ("reflector_max_tokens", "Reflector's room"),
    ("reflector_reasoning_effort", "Reflector's effort"),
    ("send_reasoning", "Reasoning sent back"),
    *((name, name) for name in ("top_p", "top_k", "min_p", "repetition_penalty", "seed", "extra_body")),
    ("changed_parameters", "Changed by the endpoint"),
)
"""The settings that travel with an arm's row, and what they are called there."""

RESERVED = frozenset(
    (
        *("arm", "tasks", "trials", "solved", "unknown", "errors", "share", "low", "high", "rate", "only"),
        *("repeated_share", "trials_run", "retries", "repeated_retries", "steps_per_trial", "steps_per_win"),
        *("wins_verified", "invalid_rate", "unparsed_rate", "repairs", "reflections", "reflections_written"),
        *("calls", "reasoning_share", "reasoning_estimated", "asked_again", "cut_off", "lost_calls"),
        *("steps", "tokens", "cost", "prompt_tokens", "completion_tokens", "cached_tokens", "curve"),
    )
)
"""Columns of tables, and kinds of pictures, that no metric may take the place of; nor may one be named as a setting."""
