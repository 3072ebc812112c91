"""The business behind the tools: its state, its rules, what each tool really does, and the ledger of effects."""
