"""The reference broker of AMQP/Fast: in memory, by the letter of AMQ RFC 006, with faults on request.

``inbox.connect`` makes its end of a connection. Octets are cut in ``wire`` and read in ``fields``, apart from the codec
that peers use; ``inbox`` sorts commands, ``opening`` has the way from the greeting to an open connection, ``channels``
and ``handles`` the commands on these, ``transfers`` restartable messages, ``destinations`` what lies behind names.
"""
