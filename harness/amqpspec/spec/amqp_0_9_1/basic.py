"""The basic class (60): consumers, publishing, delivery, acknowledgement, and the properties of a content.

Knows: its methods and their arguments, in the order of the specification, and its properties in flag order. The XML
names no reply of ``recover``; the text of ``recover-ok`` does, and so does this table. Must not know: negative
acknowledgements, and what the server may send only with an overlay.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1.types import field, reserved
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="basic",
    index=60,
    methods=(
        Method(
            "basic.qos",
            60,
            10,
            Side.CLIENT,
            fields=(
                field("prefetch-size", "long"),
                field("prefetch-count", "short"),
                field("global", "bit"),
            ),
            replies=("basic.qos-ok",),
            synchronous=True,
        ),
        Method("basic.qos-ok", 60, 11, Side.SERVER, synchronous=True),
        Method(
            "basic.consume",
            60,
            20,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("consumer-tag", "consumer-tag"),
                field("no-local", "no-local"),
                field("no-ack", "no-ack"),
                field("exclusive", "bit"),
                field("no-wait", "no-wait"),
                field("arguments", "table"),
            ),
            replies=("basic.consume-ok",),
            synchronous=True,
        ),
        Method(
            "basic.consume-ok",
            60,
            21,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "basic.cancel",
            60,
            30,
            Side.CLIENT,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("no-wait", "no-wait"),
            ),
            replies=("basic.cancel-ok",),
            synchronous=True,
        ),
        Method(
            "basic.cancel-ok",
            60,
            31,
            Side.SERVER,
            fields=(field("consumer-tag", "consumer-tag"),),
            synchronous=True,
        ),
        Method(
            "basic.publish",
            60,
            40,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("mandatory", "bit"),
                field("immediate", "bit"),
            ),
            content=True,
        ),
        Method(
            "basic.return",
            60,
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
            "basic.deliver",
            60,
            60,
            Side.SERVER,
            fields=(
                field("consumer-tag", "consumer-tag"),
                field("delivery-tag", "delivery-tag"),
                field("redelivered", "redelivered"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
            ),
            content=True,
        ),
        Method(
            "basic.get",
            60,
            70,
            Side.CLIENT,
            fields=(
                reserved("reserved-1", "short"),
                field("queue", "queue-name"),
                field("no-ack", "no-ack"),
            ),
            replies=("basic.get-ok", "basic.get-empty"),
            synchronous=True,
        ),
        Method(
            "basic.get-ok",
            60,
            71,
            Side.SERVER,
            fields=(
                field("delivery-tag", "delivery-tag"),
                field("redelivered", "redelivered"),
                field("exchange", "exchange-name"),
                field("routing-key", "shortstr"),
                field("message-count", "message-count"),
            ),
            content=True,
            synchronous=True,
        ),
        Method(
            "basic.get-empty",
            60,
            72,
            Side.SERVER,
            fields=(reserved("reserved-1", "shortstr"),),
            synchronous=True,
        ),
        Method(
            "basic.ack",
            60,
            80,
            Side.CLIENT,
            fields=(
                field("delivery-tag", "delivery-tag"),
                field("multiple", "bit"),
            ),
        ),
        Method(
            "basic.reject",
            60,
            90,
            Side.CLIENT,
            fields=(
                field("delivery-tag", "delivery-tag"),
                field("requeue", "bit"),
            ),
        ),
        Method("basic.recover-async", 60, 100, Side.CLIENT, fields=(field("requeue", "bit"),)),
        Method(
            "basic.recover",
            60,
            110,
            Side.CLIENT,
            fields=(field("requeue", "bit"),),
            replies=("basic.recover-ok",),
            synchronous=True,
        ),
        Method("basic.recover-ok", 60, 111, Side.SERVER, synchronous=True),
    ),
    properties=(
        field("content-type", "shortstr"),
        field("content-encoding", "shortstr"),
        field("headers", "table"),
        field("delivery-mode", "octet"),
        field("priority", "octet"),
        field("correlation-id", "shortstr"),
        field("reply-to", "shortstr"),
        field("expiration", "shortstr"),
        field("message-id", "shortstr"),
        field("timestamp", "timestamp"),
        field("type", "shortstr"),
        field("user-id", "shortstr"),
        field("app-id", "shortstr"),
        field("reserved", "shortstr"),
    ),
)
