"""The reference broker of AMQP/Fast: in memory, according to the text of AMQ RFC 006, with faults on request.

``inbox.connect`` makes its end of a connection. ``wire`` cuts octets into frames and ``fields`` reads them,
independently of the peers' codec; ``inbox`` dispatches commands, ``opening`` has the steps from the greeting to an
open connection, ``channels`` and ``handles`` the commands on these, ``transfers`` restartable messages,
``destinations`` queues and topics by name.
"""
