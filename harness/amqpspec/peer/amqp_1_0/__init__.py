"""The peer of AMQP 1.0: connections, sessions, links and deliveries as a case drives them.

Knows: nothing by itself; see ``peer``. Must not know: sockets, files, verdicts.
"""
