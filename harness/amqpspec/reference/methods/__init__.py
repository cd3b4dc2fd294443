"""The brokers of the 0-9 family, one for all its dialects: 0-9-1 with RabbitMQ's extensions, the 9.1 wire draft, 0-8.

``connection`` is one client, ``inbox`` its input, ``channel`` one channel on it, ``dispatch`` what arrives on that,
``contents`` an incomplete content, ``wire`` the octets; ``outgoing``, ``damage`` and ``frames_out`` are the way out.
In ``classes``, each module handles the methods of the class that it is named after (``basic`` with ``settling``).
Frames, methods, types, reply codes and the little that differs beyond them are those of the tables of the dialect
served; by which rows of its own ledger it refuses, and which faults that ledger can tell, say ``amqp_0_9_1``,
``amqp_wire_9_1`` or ``by_ledger``. A method without a handler (file, stream, dtx, tunnel) is refused as not
implemented, and so is whatever wants an out-of-band transport.

Where the specification contradicts itself, the ledger's reading is taken (its first accepted refusal); where the
ledger leaves two ways, this broker goes the stricter one. It differs from well-known brokers on purpose in these:
qos without ``global`` is for the channel and with it for the connection; a message that a channel rejected does not
return to that channel; ``no-local`` and ``immediate`` work; errors before open end the socket silently.
"""
