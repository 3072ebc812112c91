"""Parser of HotPotQA replies: labels, brackets, calls, and the repairs that may be made."""
