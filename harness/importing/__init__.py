"""Results that others made, as runs of this harness."""
