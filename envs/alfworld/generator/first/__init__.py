"""Generator 1: procedural games as they were made first; runs on them stay readable and repeatable."""
