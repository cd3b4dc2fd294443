"""The exchange class (40): declare and delete.

Knows: its methods and their arguments, in the order of the definition.
Must not know: bindings; those belong to queues.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="exchange",
    index=40,
    methods=(
        Method(
            "exchange.declare",
            40,
            10,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("exchange", "exchange-name"),
                field("type", "shortstr"),
                field("passive", "bit"),
                field("durable", "bit"),
                field("auto-delete", "bit"),
                field("internal", "bit"),
                field("nowait", "bit"),
                field("arguments", "table"),
            ),
            replies=("exchange.declare-ok",),
            synchronous=True,
        ),
        Method("exchange.declare-ok", 40, 11, Side.SERVER, synchronous=True),
        Method(
            "exchange.delete",
            40,
            20,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("exchange", "exchange-name"),
                field("if-unused", "bit"),
                field("nowait", "bit"),
            ),
            replies=("exchange.delete-ok",),
            synchronous=True,
        ),
        Method("exchange.delete-ok", 40, 21, Side.SERVER, synchronous=True),
    ),
)
