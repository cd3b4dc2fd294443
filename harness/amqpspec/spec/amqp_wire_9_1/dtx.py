"""The dtx class (100): a channel takes part in a distributed transaction.

Knows: its methods and their arguments, in the order of the definition.
Must not know: who coordinates the transaction.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="dtx",
    index=100,
    methods=(
        Method("dtx.select", 100, 10, Side.CLIENT, replies=("dtx.select-ok",), synchronous=True),
        Method("dtx.select-ok", 100, 11, Side.SERVER, synchronous=True),
        Method(
            "dtx.start",
            100,
            20,
            Side.CLIENT,
            fields=(field("dtx-identifier", "shortstr"),),
            replies=("dtx.start-ok",),
            synchronous=True,
        ),
        Method("dtx.start-ok", 100, 21, Side.SERVER, synchronous=True),
    ),
)
