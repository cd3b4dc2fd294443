"""Reference brokers: used in tests, as the default target, and as the server when clients are certified.

``server.ReferenceBroker`` is the entry point, ``faults.all_faults`` the list of faults. ``model`` is the common part
of all dialects, ``connection`` and ``signs`` are a socket and its timers without any protocol, and each family has a
package. A module that implements faults declares them at its end (``fault``).
"""
