"""A guessing game for reflex, and one part of every kind that plays it; docs/extending.md walks through it."""
