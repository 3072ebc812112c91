"""What a run measured, what differs between arms, and what a reader must know before believing it."""
