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

from dataclasses import replace

from amqpspec.spec.amqp_0_9_1 import DIALECT as BASE
from amqpspec.spec.amqp_0_9_1.types import NO_WAIT, TICKET
from amqpspec.spec.method_rows import Rows, field
from amqpspec.spec.methods import Constant, TypeTag
from amqpspec.spec.model import Scope, Side

_BINDING = (
    TICKET,
    field("destination", "exchange-name"),
    field("source", "exchange-name"),
    "routing-key",
    NO_WAIT,
    "arguments",
)
_REASON = field("reason", "shortstr")

_OF_CONNECTION = Rows("connection", 10, extension=True)
_CONNECTION = (
    _OF_CONNECTION.method("blocked", 60, Side.SERVER, _REASON),
    _OF_CONNECTION.method("unblocked", 61, Side.SERVER),
    *_OF_CONNECTION.call("update-secret", 70, Side.CLIENT, field("new-secret", "longstr"), _REASON),
)

_OF_EXCHANGE = Rows("exchange", 40, extension=True)
_EXCHANGE = (
    Rows("exchange", 40).method(
        "declare",
        10,
        Side.CLIENT,
        TICKET,
        "exchange",
        field("type", "shortstr"),
        "passive",
        "durable",
        "auto-delete",
        "internal",
        NO_WAIT,
        "arguments",
        replies=("declare-ok",),
        synchronous=True,
    ),
    *_OF_EXCHANGE.call("bind", 30, Side.CLIENT, *_BINDING),
    _OF_EXCHANGE.method("unbind", 40, Side.CLIENT, *_BINDING, replies=("unbind-ok",), synchronous=True),
    _OF_EXCHANGE.method("unbind-ok", 51, Side.SERVER, synchronous=True),
)

_OF_BASIC = Rows("basic", 60)
_BASIC = (
    *_OF_BASIC.call("cancel", 30, Side.BOTH, "consumer-tag", NO_WAIT, ok=("consumer-tag",)),
    _OF_BASIC.method("ack", 80, Side.BOTH, "delivery-tag", "multiple"),
    Rows("basic", 60, extension=True).method("nack", 120, Side.BOTH, "delivery-tag", "multiple", "requeue"),
)

_OF_CONFIRM = Rows("confirm", 85, extension=True)
_CONFIRM = _OF_CONFIRM.table(*_OF_CONFIRM.call("select", 10, Side.CLIENT, replace(NO_WAIT, name="nowait")))

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
