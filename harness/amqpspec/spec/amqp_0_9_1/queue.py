"""The queue class (50): declare, bind, unbind, purge, delete.

Knows: its methods and their arguments, in the order of the specification.
Must not know: what a queue does with messages.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import field, reserved
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="queue",
    index=50,
    methods=(
        Method(
            "queue.declare",
            50,
            10,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("passive", "bit"),
                field("durable", "bit"),
                field("exclusive", "bit"),
                field("auto-delete", "bit"),
                field("no-wait", "no-wait"),
                field("arguments", "table"),
            ),
            replies=("queue.declare-ok",),
            synchronous=True,
        ),
        Method(
            "queue.declare-ok",
            50,
            11,
            Side.SERVER,
            fields=(
                field("queue", "queue-name"),
                field("message-count", "message-count"),
                field("consumer-count", "long"),
            ),
            synchronous=True,
        ),
        Method(
            "queue.bind",
            50,
            20,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("no-wait", "no-wait"),
                field("arguments", "table"),
            ),
            replies=("queue.bind-ok",),
            synchronous=True,
        ),
        Method("queue.bind-ok", 50, 21, Side.SERVER, synchronous=True),
        Method(
            "queue.unbind",
            50,
            50,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("arguments", "table"),
            ),
            replies=("queue.unbind-ok",),
            synchronous=True,
        ),
        Method("queue.unbind-ok", 50, 51, Side.SERVER, synchronous=True),
        Method(
            "queue.purge",
            50,
            30,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("no-wait", "no-wait"),
            ),
            replies=("queue.purge-ok",),
            synchronous=True,
        ),
        Method(
            "queue.purge-ok",
            50,
            31,
            Side.SERVER,
            fields=(field("message-count", "message-count"),),
            synchronous=True,
        ),
        Method(
            "queue.delete",
            50,
            40,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("if-unused", "bit"),
                field("if-empty", "bit"),
                field("no-wait", "no-wait"),
            ),
            replies=("queue.delete-ok",),
            synchronous=True,
        ),
        Method(
            "queue.delete-ok",
            50,
            41,
            Side.SERVER,
            fields=(field("message-count", "message-count"),),
            synchronous=True,
        ),
    ),
)
