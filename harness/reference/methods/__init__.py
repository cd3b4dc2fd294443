"""The 0-9-1 side of the reference broker, with RabbitMQ's extensions.

``link`` is one socket, ``inbox`` its way in, ``session`` one channel on it, ``wire`` the octets; ``connection``,
``channel``, ``exchange``, ``queue``, ``basic`` (with ``settling`` and ``outgoing``), ``tx`` and ``confirm`` handle the
methods of the class they are named after.

Where the specification contradicts itself, the ledger's reading is taken (its first accepted refusal); where the
ledger leaves two ways, this broker goes the stricter one. It differs from well-known brokers on purpose in these:
qos without ``global`` is for the channel and with it for the connection; a message that a channel rejected does not
come back to that channel; ``no-local`` and ``immediate`` work; errors before open end the socket without a word.
"""
