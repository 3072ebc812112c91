"""Foundations for all other packages: errors, JSON lines, seeded choices, the registry of parts."""
