"""The procedural twin: questions about an invented world, in the official schema."""
