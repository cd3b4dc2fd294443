"""The handlers of methods, one module for each class; importing this package registers them.

Knows: the list. Must not know: anything else.
"""

from amqpspec.reference.methods.classes import (
    access,
    basic,
    channel,
    confirm,
    connection,
    exchange,
    naming,
    queue,
    sasl,
    selected,
    settling,
    test,
    tx,
)

CLASSES = (
    sasl,
    connection,
    channel,
    access,
    exchange,
    queue,
    naming,
    basic,
    selected,
    settling,
    tx,
    confirm,
    test,
)
