"""Reference brokers: the double in tests, the default target, the other end when clients are certified.

``server.ReferenceBroker`` is the door, ``faults.all_faults`` the list of ways to make one deviate. Below it, ``model``
is what every dialect shares, ``connection`` and ``signs`` are a socket and its clock without any protocol, and a
package for each family speaks one. A module that acts out faults declares them at its end (``fault``).
"""
