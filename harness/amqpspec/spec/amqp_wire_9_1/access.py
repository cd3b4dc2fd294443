"""The access class (30): tickets for a realm, which most methods below have to show.

Knows: its methods and their arguments, in the order of the definition.
Must not know: which server still checks a ticket.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="access",
    index=30,
    methods=(
        Method(
            "access.request",
            30,
            10,
            Side.CLIENT,
            fields=(
                field("realm", "path"),
                field("exclusive", "bit"),
                field("passive", "bit"),
                field("active", "bit"),
                field("write", "bit"),
                field("read", "bit"),
            ),
            replies=("access.request-ok",),
            synchronous=True,
        ),
        Method(
            "access.request-ok",
            30,
            11,
            Side.SERVER,
            fields=(field("ticket", "access-ticket"),),
            synchronous=True,
        ),
    ),
)
