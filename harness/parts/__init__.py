"""Checks of what parts, ours and those of other packages, hand over and declare."""
