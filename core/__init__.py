"""What all others stand on: errors, JSON lines, seeded choices, the registry of parts."""
