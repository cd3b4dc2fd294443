"""The overlay rabbitmq-0-9-1: what RabbitMQ, and most brokers after it, add to AMQP 0-9-1 or do otherwise.

Knows: only the difference: new methods and a new class (marked as extension), methods of the base with
another sender or other arguments (not marked: the base has them), a reply code, the table tags in use, the
headers let in.
Must not know: what stays the same, and how any broker behaves.

The XML of the extensions names the wrong side of four connection methods: ``blocked`` and ``unblocked``
come from the server alone, ``update-secret`` from the client. This table says what is meant.
``exchange.unbind-ok`` has the index 51 there, and in every deployment, although its neighbours suggest 41.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_9_1 import DIALECT as BASE
from amqpspec.spec.amqp_0_9_1.types import field, reserved
from amqpspec.spec.methods import AmqpClass, Constant, Method, TypeTag
from amqpspec.spec.model import Scope, Side

_CONNECTION = (
    Method("connection.blocked", 10, 60, Side.SERVER, fields=(field("reason", "shortstr"),), extension=True),
    Method("connection.unblocked", 10, 61, Side.SERVER, extension=True),
    Method(
        "connection.update-secret",
        10,
        70,
        Side.CLIENT,
        fields=(
            field("new-secret", "longstr"),
            field("reason", "shortstr"),
        ),
        replies=("connection.update-secret-ok",),
        synchronous=True,
        extension=True,
    ),
    Method("connection.update-secret-ok", 10, 71, Side.SERVER, synchronous=True, extension=True),
)

_EXCHANGE = (
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
            field("auto-delete", "bit"),
            field("internal", "bit"),
            field("no-wait", "no-wait"),
            field("arguments", "table"),
        ),
        replies=("exchange.declare-ok",),
        synchronous=True,
    ),
    Method(
        "exchange.bind",
        40,
        30,
        Side.CLIENT,
        fields=(
            reserved("reserved-1", "short"),
            field("destination", "exchange-name"),
            field("source", "exchange-name"),
            field("routing-key", "shortstr"),
            field("no-wait", "no-wait"),
            field("arguments", "table"),
        ),
        replies=("exchange.bind-ok",),
        synchronous=True,
        extension=True,
    ),
    Method("exchange.bind-ok", 40, 31, Side.SERVER, synchronous=True, extension=True),
    Method(
        "exchange.unbind",
        40,
        40,
        Side.CLIENT,
        fields=(
            reserved("reserved-1", "short"),
            field("destination", "exchange-name"),
            field("source", "exchange-name"),
            field("routing-key", "shortstr"),
            field("no-wait", "no-wait"),
            field("arguments", "table"),
        ),
        replies=("exchange.unbind-ok",),
        synchronous=True,
        extension=True,
    ),
    Method("exchange.unbind-ok", 40, 51, Side.SERVER, synchronous=True, extension=True),
)

_BASIC = (
    Method(
        "basic.cancel",
        60,
        30,
        Side.BOTH,
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
        Side.BOTH,
        fields=(field("consumer-tag", "consumer-tag"),),
        synchronous=True,
    ),
    Method(
        "basic.ack",
        60,
        80,
        Side.BOTH,
        fields=(
            field("delivery-tag", "delivery-tag"),
            field("multiple", "bit"),
        ),
    ),
    Method(
        "basic.nack",
        60,
        120,
        Side.BOTH,
        fields=(
            field("delivery-tag", "delivery-tag"),
            field("multiple", "bit"),
            field("requeue", "bit"),
        ),
        extension=True,
    ),
)

_CONFIRM = AmqpClass(
    name="confirm",
    index=85,
    methods=(
        Method(
            "confirm.select",
            85,
            10,
            Side.CLIENT,
            fields=(field("nowait", "no-wait"),),
            replies=("confirm.select-ok",),
            synchronous=True,
            extension=True,
        ),
        Method("confirm.select-ok", 85, 11, Side.SERVER, synchronous=True, extension=True),
    ),
)

_TABLE_TAGS = (
    TypeTag("t", "boolean", "boolean"),
    TypeTag("b", "short-short-int", "int8"),
    TypeTag("B", "short-short-uint", "uint8"),
    TypeTag("s", "short-int", "int16"),
    TypeTag("u", "short-uint", "uint16"),
    TypeTag("I", "long-int", "int32"),
    TypeTag("i", "long-uint", "uint32"),
    TypeTag("l", "long-long-int", "int64"),
    TypeTag("f", "float", "float"),
    TypeTag("d", "double", "double"),
    TypeTag("D", "decimal-value", "decimal"),
    TypeTag("S", "long-string", "longstr"),
    TypeTag("A", "field-array", "array"),
    TypeTag("T", "timestamp", "timestamp"),
    TypeTag("F", "field-table", "table"),
    TypeTag("V", "no-field", "void"),
    TypeTag("x", "byte-array", "bytes"),
)

# After each of these, the server continues with connection.start instead of answering with a header of its own.
_ACCEPTED_HEADERS = (
    BASE.protocol_header,
    b"AMQP\x01\x01\x00\x09",
    b"AMQP\x01\x01\x08\x00",
    b"AMQP\x01\x01\x09\x01",
)

DIALECT = BASE.extend(
    id="rabbitmq-0-9-1",
    title="AMQP 0-9-1 with RabbitMQ's extensions",
    methods=_CONNECTION + _EXCHANGE + _BASIC,
    classes=(_CONFIRM,),
    constants=(Constant("no-route", 312, Scope.CHANNEL, extension=True),),
    table_tags=_TABLE_TAGS,
    accepted_headers=_ACCEPTED_HEADERS,
)
