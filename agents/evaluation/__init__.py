"""Who decides for the agent whether a trial passed."""
