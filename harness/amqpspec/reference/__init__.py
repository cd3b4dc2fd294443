"""Reference brokers: the double in tests, the default target, the other end when clients are certified.

``server.ReferenceBroker`` is the door, ``faults.all_faults`` the list of ways to make one deviate. Below it, ``model``
is what every dialect shares, and a package for each dialect speaks its protocol.
"""
