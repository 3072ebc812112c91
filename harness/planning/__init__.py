"""Planning: from configuration files and flags to tasks, arms, models and the identity of an experiment."""
