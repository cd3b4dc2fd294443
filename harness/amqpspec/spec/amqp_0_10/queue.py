"""The queue class (8): queues.

Knows: its rows, in the order of the specification. The grammar of the class names bind and unbind, which belong to
class exchange. Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import SERVER
from amqpspec.spec.assemblies import (
    AssemblyClass,
    Command,
    Domain,
    Handler,
    PackedField,
    Raised,
    Role,
    Struct,
)

CLASS = AssemblyClass(
    name="queue",
    code=8,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
    ),
    domains=(Domain("queue.name", "str8"),),
    structs=(
        Struct(
            "queue.queue-query-result",
            (
                PackedField("queue", "queue.name", required=True),
                PackedField("alternate-exchange", "exchange.name"),
                PackedField("durable", "bit"),
                PackedField("exclusive", "bit"),
                PackedField("auto-delete", "bit"),
                PackedField("arguments", "map"),
                PackedField("message-count", "uint32", required=True),
                PackedField("subscriber-count", "uint32", required=True),
            ),
            size_octets=4,
            pack_octets=2,
            code=(8, 1),
        ),
    ),
    commands=(
        Command(
            "queue.declare",
            8,
            1,
            SERVER,
            fields=(
                PackedField("queue", "queue.name", required=True),
                PackedField("alternate-exchange", "exchange.name"),
                PackedField("passive", "bit"),
                PackedField("durable", "bit"),
                PackedField("exclusive", "bit"),
                PackedField("auto-delete", "bit"),
                PackedField("arguments", "map"),
            ),
            raises=(
                Raised("reserved-prefix", "not-allowed", "queue"),
                Raised("pre-existing-exchange", "not-allowed", "alternate-exchange"),
                Raised("unknown-exchange", "not-found", "alternate-exchange"),
                Raised("passive", "not-found", "passive"),
                Raised("in-use", "resource-locked", "exclusive"),
                Raised("unknown-argument", "not-implemented", "arguments"),
            ),
        ),
        Command(
            "queue.delete",
            8,
            2,
            SERVER,
            fields=(
                PackedField("queue", "queue.name", required=True),
                PackedField("if-unused", "bit"),
                PackedField("if-empty", "bit"),
            ),
            raises=(
                Raised("empty-name", "invalid-argument", "queue"),
                Raised("queue-exists", "not-found", "queue"),
                Raised("if-unused-flag", "precondition-failed", "if-unused"),
                Raised("not-empty", "precondition-failed", "if-empty"),
            ),
        ),
        Command(
            "queue.purge",
            8,
            3,
            SERVER,
            fields=(PackedField("queue", "queue.name", required=True),),
            raises=(
                Raised("empty-name", "invalid-argument", "queue"),
                Raised("queue-exists", "not-found", "queue"),
            ),
        ),
        Command(
            "queue.query",
            8,
            4,
            SERVER,
            fields=(PackedField("queue", "queue.name", required=True),),
            result="queue.queue-query-result",
        ),
    ),
)
