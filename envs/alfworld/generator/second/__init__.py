"""Generator 2: procedural games as hard as the official ones, drawn from what those were counted to be."""
