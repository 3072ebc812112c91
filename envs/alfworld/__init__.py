"""ALFWorld: household text games."""
