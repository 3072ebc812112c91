"""The registry of tools as a file: read with its lines, checked, listed, and told as OpenAPI."""
