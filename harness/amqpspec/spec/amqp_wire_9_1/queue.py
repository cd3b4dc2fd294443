"""The queue class (50): declare, bind, purge, delete. There is no unbind.

Knows: its methods and their arguments, in the order of the definition.
Must not know: how messages travel.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
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
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("passive", "bit"),
                field("durable", "bit"),
                field("exclusive", "bit"),
                field("auto-delete", "bit"),
                field("nowait", "bit"),
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
                field("message-count", "long"),
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
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("nowait", "bit"),
                field("arguments", "table"),
            ),
            replies=("queue.bind-ok",),
            synchronous=True,
        ),
        Method("queue.bind-ok", 50, 21, Side.SERVER, synchronous=True),
        Method(
            "queue.purge",
            50,
            30,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("nowait", "bit"),
            ),
            replies=("queue.purge-ok",),
            synchronous=True,
        ),
        Method(
            "queue.purge-ok", 50, 31, Side.SERVER, fields=(field("message-count", "long"),), synchronous=True
        ),
        Method(
            "queue.delete",
            50,
            40,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("if-unused", "bit"),
                field("if-empty", "bit"),
                field("nowait", "bit"),
            ),
            replies=("queue.delete-ok",),
            synchronous=True,
        ),
        Method(
            "queue.delete-ok", 50, 41, Side.SERVER, fields=(field("message-count", "long"),), synchronous=True
        ),
    ),
)
