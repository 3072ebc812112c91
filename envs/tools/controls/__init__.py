"""The safeguards of production agents, each a switch of an arm: what stands between an agent and the tools.

`options` has their numbers, `base` what each may do, `pipeline` the order in which they stand.
"""
