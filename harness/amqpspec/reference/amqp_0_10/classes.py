"""The modules of handlers, one for each class of commands but execution, and what they share.

Knows: their names. Must not know: what they do.
"""

from amqpspec.reference.amqp_0_10 import (
    contents,
    coordinating,
    credit,
    dtx,
    exchanges,
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
