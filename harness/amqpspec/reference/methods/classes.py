"""Every class of methods that this broker serves; importing it registers their handlers.

Knows: the list. Must not know: anything else.
"""

from amqpspec.reference.methods import (
    access,
    basic,
    channel,
    confirm,
    connection,
    exchange,
    queue,
    settling,
    test,
    tx,
)

CLASSES = (connection, channel, access, exchange, queue, basic, settling, tx, confirm, test)
