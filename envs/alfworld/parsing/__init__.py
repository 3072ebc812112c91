"""From a model's reply to a command of ALFWorld: the grammar of commands, and the repairs that may be made."""
