"""Reflectors, the audit of their drafts, and the cleanup of their replies."""
