"""What the AMQP 9.1 wire draft is made of below its classes: domains, frames, table values, reply codes.

Knows: the primitive of each domain, the octets around a payload, the tags of table values, and what each reply code
closes. Must not know: how a primitive is encoded, and any method.

The draft describes the wire level only; classes, domains and reply codes are those of the functional chapters
of the document that it became a part of. Three readings. A decimal has an unsigned mantissa in the grammar, but
integers in tables are signed in the prose, and amounts of money may fall below zero: signed is meant. The class
and the weight of a content header are octets in the grammar, short integers in the picture and in the limits
(16 bits of weight): short integers are meant. The smallest frame-max is 4096, which the draft itself does not
mention.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amqpspec.spec.method_rows import DOMAINS as COMMON
from amqpspec.spec.methods import Constant, Field, FrameLayout, TypeTag
from amqpspec.spec.model import Scope

PROTOCOL_HEADER = b"AMQP\x01\x01\x09\x01"

FRAME_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "method": 1,
        "header": 2,
        "body": 3,
        "oob-method": 4,
        "oob-header": 5,
        "oob-body": 6,
        "trace": 7,
        "heartbeat": 8,
    }
)

LAYOUT = FrameLayout(
    header=(("type", 1), ("cycle", 1), ("channel", 2), ("size", 4)),
    end=0xCE,
    types=FRAME_TYPES,
    min_size_octets=4096,
)

DOMAINS: Mapping[str, str] = MappingProxyType({**COMMON, "access-ticket": "short", "known-hosts": "shortstr"})

TICKET = Field("ticket", "short", "access-ticket")
KNOWN_HOSTS = Field("known-hosts", "shortstr", "known-hosts")

TABLE_TAGS = (
    TypeTag("S", "long-string", "longstr"),
    TypeTag("I", "signed-integer", "int32"),
    TypeTag("D", "decimal-value", "decimal"),
    TypeTag("T", "timestamp", "timestamp"),
    TypeTag("F", "field-table", "table"),
)

CONSTANTS = (
    Constant("reply-success", 200),
    Constant("not-delivered", 310, Scope.CHANNEL),
    Constant("content-too-large", 311, Scope.CHANNEL),
    Constant("connection-forced", 320, Scope.CONNECTION),
    Constant("invalid-path", 402, Scope.CONNECTION),
    Constant("access-refused", 403, Scope.CHANNEL),
    Constant("not-found", 404, Scope.CHANNEL),
    Constant("resource-locked", 405, Scope.CHANNEL),
    Constant("frame-error", 501, Scope.CONNECTION),
    Constant("syntax-error", 502, Scope.CONNECTION),
    Constant("command-invalid", 503, Scope.CONNECTION),
    Constant("channel-error", 504, Scope.CONNECTION),
    Constant("resource-error", 506, Scope.CONNECTION),
    Constant("not-allowed", 530, Scope.CONNECTION),
    Constant("not-implemented", 540, Scope.CONNECTION),
    Constant("internal-error", 541, Scope.CONNECTION),
)
