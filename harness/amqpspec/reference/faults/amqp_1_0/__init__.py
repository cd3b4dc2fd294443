"""The faults of the 1.0 reference broker: what it refuses by rule, and behaviours in the order of the specification.

Knows: nothing itself. Must not know: how a fault is acted out.
"""
