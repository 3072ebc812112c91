"""Errors of endpoints: what a refused call means, and what is done about it."""
