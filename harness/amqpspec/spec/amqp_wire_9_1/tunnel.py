"""The tunnel class (110): foreign protocol frames as the content of one method.

Knows: its method, and its properties in flag order. In the grammar both sides may send ``request``; the XML obliges
only the server to take it. Must not know: what is tunnelled.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="tunnel",
    index=110,
    methods=(
        Method("tunnel.request", 110, 10, Side.BOTH, fields=(field("meta-data", "table"),), content=True),
    ),
    properties=(
        field("headers", "table"),
        field("proxy-name", "shortstr"),
        field("data-name", "shortstr"),
        field("durable", "octet"),
        field("broadcast", "octet"),
    ),
)
