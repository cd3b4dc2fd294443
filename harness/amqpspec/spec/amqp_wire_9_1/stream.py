"""The stream class (80): contents that flow without acknowledgement, at an agreed rate.

Knows: its methods and their arguments, in the order of the definition, and its properties in flag order.
Must not know: what a stream is made of.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="stream",
    index=80,
    methods=(
        Method(
            "stream.qos",
            80,
            10,
            Side.CLIENT,
            fields=(
                field("prefetch-size", "long"),
                field("prefetch-count", "short"),
                field("consume-rate", "long"),
                field("global", "bit"),
            ),
            replies=("stream.qos-ok",),
            synchronous=True,
        ),
        Method("stream.qos-ok", 80, 11, Side.SERVER, synchronous=True),
        Method(
            "stream.consume",
            80,
            20,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("consumer-tag", "consumer-tag"),
                field("no-local", "no-local"),
                field("exclusive", "bit"),
                field("nowait", "bit"),
            ),
            replies=("stream.consume-ok",),
            synchronous=True,
        ),
        Method(
            "stream.consume-ok",
            80,
            21,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "stream.cancel",
            80,
            30,
            Side.CLIENT,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("nowait", "bit"),
            ),
            replies=("stream.cancel-ok",),
            synchronous=True,
        ),
        Method(
            "stream.cancel-ok",
            80,
            31,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "stream.publish",
            80,
            40,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("mandatory", "bit"),
                field("immediate", "bit"),
            ),
            content=True,
        ),
        Method(
            "stream.return",
            80,
            50,
            Side.SERVER,
            fields=(
                field("reply-code", "reply-code"),
                field("reply-text", "reply-text"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
            ),
            content=True,
        ),
        Method(
            "stream.deliver",
            80,
            60,
            Side.SERVER,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("delivery-tag", "delivery-tag"),
                field("exchange", "exchange-name"),
                field("queue", "queue-name"),
            ),
            content=True,
        ),
    ),
    properties=(
        field("content-type", "shortstr"),
        field("content-encoding", "shortstr"),
        field("headers", "table"),
        field("priority", "octet"),
        field("timestamp", "timestamp"),
    ),
)
