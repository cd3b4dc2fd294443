"""The reference broker of AMQP 1.0: connections, sessions, links, and messages over them.

Knows: nothing itself; ``inbox.connect`` is the entry point, called for each socket. Must not know: threads and ports
(``amqpspec.reference.server`` does).
"""
