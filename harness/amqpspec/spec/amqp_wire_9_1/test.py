"""The test class (120): each kind of field out and back, to try an implementation's codec.

Knows: its methods and their arguments, in the order of the definition. Both sides may ask.
Must not know: what the operations mean.
"""

from __future__ import annotations

from amqpspec.spec.amqp_wire_9_1.types import field
from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="test",
    index=120,
    methods=(
        Method(
            "test.integer",
            120,
            10,
            Side.BOTH,
            fields=(
                field("integer-1", "octet"),
                field("integer-2", "short"),
                field("integer-3", "long"),
                field("integer-4", "longlong"),
                field("operation", "octet"),
            ),
            replies=("test.integer-ok",),
            synchronous=True,
        ),
        Method(
            "test.integer-ok", 120, 11, Side.BOTH, fields=(field("result", "longlong"),), synchronous=True
        ),
        Method(
            "test.string",
            120,
            20,
            Side.BOTH,
            fields=(
                field("string-1", "shortstr"),
                field("string-2", "longstr"),
                field("operation", "octet"),
            ),
            replies=("test.string-ok",),
            synchronous=True,
        ),
        Method("test.string-ok", 120, 21, Side.BOTH, fields=(field("result", "longstr"),), synchronous=True),
        Method(
            "test.table",
            120,
            30,
            Side.BOTH,
            fields=(
                field("table", "table"),
                field("integer-op", "octet"),
                field("string-op", "octet"),
            ),
            replies=("test.table-ok",),
            synchronous=True,
        ),
        Method(
            "test.table-ok",
            120,
            31,
            Side.BOTH,
            fields=(
                field("integer-result", "longlong"),
                field("string-result", "longstr"),
            ),
            synchronous=True,
        ),
        Method(
            "test.content", 120, 40, Side.BOTH, replies=("test.content-ok",), content=True, synchronous=True
        ),
        Method(
            "test.content-ok",
            120,
            41,
            Side.BOTH,
            fields=(field("content-checksum", "long"),),
            content=True,
            synchronous=True,
        ),
    ),
)
