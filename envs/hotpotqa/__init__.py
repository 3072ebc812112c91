"""HotPotQA: multi-hop questions over an encyclopedia."""
