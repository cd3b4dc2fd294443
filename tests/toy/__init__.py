"""A made-up family of dialects: Echo. A client greets with two octets and is greeted back; what it asks returns.

It stands for any family that is still to come: its framing, greeting, refusals and cases are like those of no other
one, and ``tests.toy.entry.ENTRY`` is all that the tree knows of it.
"""
