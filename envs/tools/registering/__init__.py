"""Reading the registry of tools: YAML with its lines, and what an entry must be."""
