"""The peer of AMQP 1.0: connections, sessions, links and deliveries for cases.

Knows: nothing itself; see ``peer``. Must not know: sockets, files, verdicts.
"""
