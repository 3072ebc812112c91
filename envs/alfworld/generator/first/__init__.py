"""Generator 1, the first version: its games stay readable and repeatable."""
