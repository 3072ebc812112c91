"""Run directory: what is written before it is used, and how it is read back and checked."""
