"""Invented world behind the procedural twin: its people, places, works, and their encyclopedia pages."""
