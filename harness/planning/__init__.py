"""From configuration files and flags to a plan: tasks, arms, models, parts, and what identifies an experiment."""
