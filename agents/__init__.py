"""Agents: the ReAct loop, the Reflexion loop, and the parts they are made of."""
