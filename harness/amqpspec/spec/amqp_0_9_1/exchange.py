"""The exchange class (40) as of 2008: declare and delete.

Knows: its methods and their arguments, in the order of the specification; two bits of declare are reserved.
Must not know: binding between exchanges, auto-delete and internal; those belong to the overlay.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import field, reserved
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
                reserved("reserved-1", "short"),
                field("exchange", "exchange-name"),
                field("type", "shortstr"),
                field("passive", "bit"),
                field("durable", "bit"),
                reserved("reserved-2", "bit"),
                reserved("reserved-3", "bit"),
                field("no-wait", "no-wait"),
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
                reserved("reserved-1", "short"),
                field("exchange", "exchange-name"),
                field("if-unused", "bit"),
                field("no-wait", "no-wait"),
            ),
            replies=("exchange.delete-ok",),
            synchronous=True,
        ),
        Method("exchange.delete-ok", 40, 21, Side.SERVER, synchronous=True),
    ),
)
