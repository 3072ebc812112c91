"""From a failed trial to a reflection that may be remembered: reflectors, drafts, and the audit of each."""
