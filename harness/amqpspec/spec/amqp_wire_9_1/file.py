"""The file class (70): contents staged on the peer before they are published or delivered.

Knows: its methods and their arguments, in the order of the definition, and its properties in flag order.
``stage`` carries the content; ``publish`` and ``deliver`` refer to it by its identifier.
Must not know: where staged contents are kept.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="file",
    index=70,
    methods=(
        Method(
            "file.qos",
            70,
            10,
            Side.CLIENT,
            fields=(
                field("prefetch-size", "long"),
                field("prefetch-count", "short"),
                field("global", "bit"),
            ),
            replies=("file.qos-ok",),
            synchronous=True,
        ),
        Method("file.qos-ok", 70, 11, Side.SERVER, synchronous=True),
        Method(
            "file.consume",
            70,
            20,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("queue", "queue-name"),
                field("consumer-tag", "consumer-tag"),
                field("no-local", "no-local"),
                field("no-ack", "no-ack"),
                field("exclusive", "bit"),
                field("nowait", "bit"),
            ),
            replies=("file.consume-ok",),
            synchronous=True,
        ),
        Method(
            "file.consume-ok",
            70,
            21,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "file.cancel",
            70,
            30,
            Side.CLIENT,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("nowait", "bit"),
            ),
            replies=("file.cancel-ok",),
            synchronous=True,
        ),
        Method(
            "file.cancel-ok",
            70,
            31,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "file.open",
            70,
            40,
            Side.BOTH,
            fields=(
                field("identifier", "shortstr"),
                field("content-size", "longlong"),
            ),
            replies=("file.open-ok",),
            synchronous=True,
        ),
        Method(
            "file.open-ok",
            70,
            41,
            Side.BOTH,
            fields=(field("staged-size", "longlong"),),
            replies=("file.stage",),
            synchronous=True,
        ),
        Method("file.stage", 70, 50, Side.BOTH, content=True),
        Method(
            "file.publish",
            70,
            60,
            Side.CLIENT,
            fields=(
                field("ticket", "access-ticket"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("mandatory", "bit"),
                field("immediate", "bit"),
                field("identifier", "shortstr"),
            ),
        ),
        Method(
            "file.return",
            70,
            70,
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
            "file.deliver",
            70,
            80,
            Side.SERVER,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("delivery-tag", "delivery-tag"),
                field("redelivered", "redelivered"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("identifier", "shortstr"),
            ),
        ),
        Method(
            "file.ack",
            70,
            90,
            Side.CLIENT,
            fields=(
                field("delivery-tag", "delivery-tag"),
                field("multiple", "bit"),
            ),
        ),
        Method(
            "file.reject",
            70,
            100,
            Side.CLIENT,
            fields=(
                field("delivery-tag", "delivery-tag"),
                field("requeue", "bit"),
            ),
        ),
    ),
    properties=(
        field("content-type", "shortstr"),
        field("content-encoding", "shortstr"),
        field("headers", "table"),
        field("priority", "octet"),
        field("reply-to", "shortstr"),
        field("message-id", "shortstr"),
        field("filename", "shortstr"),
        field("timestamp", "timestamp"),
        field("cluster-id", "shortstr"),
    ),
)
