"""Plays a plan: chains in threads, model calls through the journal, budgets, progress."""
