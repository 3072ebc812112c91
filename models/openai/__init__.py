"""OpenAI-compatible endpoints: `model` is the part, `client` the connection, `wire` and `reading` the protocol."""
