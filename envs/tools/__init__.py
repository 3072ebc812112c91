"""A small business behind an API that fails as real ones do, in which the safeguards of agents are measured."""
