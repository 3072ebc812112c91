"""From a model's reply to Search, Lookup or Finish: labels, brackets, calls, and the repairs that may be made."""
