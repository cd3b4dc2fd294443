"""The reference broker of AMQP 1.0: connections, sessions, links, and the way of messages over them.

Knows: nothing itself; ``inbox.connect`` is the door, once for each socket.
Must not know: threads and ports (``amqpspec.reference.server`` does).
"""
