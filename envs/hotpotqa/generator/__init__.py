"""Procedural twin of HotPotQA: questions about an invented world, in the official schema."""
