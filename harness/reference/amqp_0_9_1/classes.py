"""Every class of methods that this broker serves; importing it registers their handlers.

Knows: the list. Must not know: anything else.
"""

from harness.reference.amqp_0_9_1 import basic, channel, confirm, connection, exchange, queue, settling, tx

CLASSES = (connection, channel, exchange, queue, basic, settling, tx, confirm)
