"""Parser of ALFWorld replies: the grammar of commands, and the repairs that may be made."""
