"""What AMQP 0-9-1 is made of below its classes: domains, frames, table values, reply codes.

Knows: the primitive of each domain, the octets around a payload, the tags of table values, and what each reply code
closes. Must not know: how a primitive is encoded, and any method.

Three readings. The tags of table values are those of the grammar (§4.2.1): ``U`` int16, ``L`` int64, ``l``
uint64, ``s`` short string; brokers deployed another set (``s`` int16, ``l`` int64, no ``U``, no ``L``,
``x`` for octets), which an overlay declares. A decimal has an unsigned mantissa in the grammar and a signed
one in the prose (§4.2.5.5); signed is meant, for prices may fall below zero. A heartbeat is frame type 8,
as in the XML, in the grammar and in every deployment; only the list in §4.2.3 says 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amqpspec.spec.method_rows import DOMAINS as COMMON
from amqpspec.spec.methods import Constant, Field, FrameLayout, TypeTag
from amqpspec.spec.model import Scope

PROTOCOL_HEADER = b"AMQP\x00\x00\x09\x01"

LAYOUT = FrameLayout(
    header=(("type", 1), ("channel", 2), ("size", 4)),
    end=0xCE,
    types=MappingProxyType({"method": 1, "header": 2, "body": 3, "heartbeat": 8}),
    min_size_octets=4096,
)

DOMAINS: Mapping[str, str] = MappingProxyType({**COMMON, "no-wait": "bit", "message-count": "long"})

NO_WAIT = Field("no-wait", "bit", "no-wait")
MESSAGE_COUNT = Field("message-count", "long", "message-count")

TABLE_TAGS = (
    TypeTag("t", "boolean", "boolean"),
    TypeTag("b", "short-short-int", "int8"),
    TypeTag("B", "short-short-uint", "uint8"),
    TypeTag("U", "short-int", "int16"),
    TypeTag("u", "short-uint", "uint16"),
    TypeTag("I", "long-int", "int32"),
    TypeTag("i", "long-uint", "uint32"),
    TypeTag("L", "long-long-int", "int64"),
    TypeTag("l", "long-long-uint", "uint64"),
    TypeTag("f", "float", "float"),
    TypeTag("d", "double", "double"),
    TypeTag("D", "decimal-value", "decimal"),
    TypeTag("s", "short-string", "shortstr"),
    TypeTag("S", "long-string", "longstr"),
    TypeTag("A", "field-array", "array"),
    TypeTag("T", "timestamp", "timestamp"),
    TypeTag("F", "field-table", "table"),
    TypeTag("V", "no-field", "void"),
)

CONSTANTS = (
    Constant("reply-success", 200),
    Constant("content-too-large", 311, Scope.CHANNEL),
    Constant("no-consumers", 313, Scope.CHANNEL),
    Constant("connection-forced", 320, Scope.CONNECTION),
    Constant("invalid-path", 402, Scope.CONNECTION),
    Constant("access-refused", 403, Scope.CHANNEL),
    Constant("not-found", 404, Scope.CHANNEL),
    Constant("resource-locked", 405, Scope.CHANNEL),
    Constant("precondition-failed", 406, Scope.CHANNEL),
    Constant("frame-error", 501, Scope.CONNECTION),
    Constant("syntax-error", 502, Scope.CONNECTION),
    Constant("command-invalid", 503, Scope.CONNECTION),
    Constant("channel-error", 504, Scope.CONNECTION),
    Constant("unexpected-frame", 505, Scope.CONNECTION),
    Constant("resource-error", 506, Scope.CONNECTION),
    Constant("not-allowed", 530, Scope.CONNECTION),
    Constant("not-implemented", 540, Scope.CONNECTION),
    Constant("internal-error", 541, Scope.CONNECTION),
)


def reserved(name: str, type: str) -> Field:
    """An argument without a meaning any more: on the wire, it is zero or empty."""
    return Field(name, type, type, reserved=True)


TICKET = reserved("reserved-1", "short")
"""Where earlier versions have a ticket."""
