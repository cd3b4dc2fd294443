"""The modules of handlers, one for each class of commands, and what they share.

Knows: their names. Must not know: what they do.
"""

from amqpspec.reference.amqp_0_10 import (
    contents,
    coordinating,
    credit,
    dtx,
    exchanges,
    execution,
    files,
    fragments,
    outcomes,
    publishing,
    queues,
    staging,
    streams,
    subscribing,
    taking,
    transactions,
)

CLASSES = (
    execution,
    publishing,
    fragments,
    taking,
    subscribing,
    coordinating,
    credit,
    dtx,
    outcomes,
    transactions,
    exchanges,
    queues,
    contents,
    staging,
    files,
    streams,
)
