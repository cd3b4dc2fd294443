"""The brokers of the 0-9 family, one for all its dialects: 0-9-1 with RabbitMQ's extensions, the 9.1 wire draft, 0-8.

``link`` is one socket, ``inbox`` its way in, ``session`` one channel on it, ``contents`` what comes in on that,
``wire`` the octets, ``frames_out`` and ``damage`` what goes out; ``connection``, ``channel``, ``access``, ``exchange``,
``queue``, ``basic`` (with ``settling`` and ``outgoing``), ``tx``, ``confirm`` and ``test`` handle the methods of the
class they are named after. Frames, methods, types and reply codes are those of the tables of the dialect served;
``ways`` says the little that differs beyond them, ``faults/rules_wire_9_1`` by which rows of its own ledger the draft's
broker refuses. A method without a handler (file, stream, dtx, tunnel) is refused as not implemented, and so is
whatever wants an out-of-band transport.

Where the specification contradicts itself, the ledger's reading is taken (its first accepted refusal); where the
ledger leaves two ways, this broker goes the stricter one. It differs from well-known brokers on purpose in these:
qos without ``global`` is for the channel and with it for the connection; a message that a channel rejected does not
come back to that channel; ``no-local`` and ``immediate`` work; errors before open end the socket without a word.
"""
