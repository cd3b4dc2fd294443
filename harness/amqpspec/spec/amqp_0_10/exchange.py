"""The exchange class (7): exchanges, and bindings of queues to them.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
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
    name="exchange",
    code=7,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
    ),
    domains=(Domain("exchange.name", "str8"),),
    structs=(
        Struct(
            "exchange.exchange-query-result",
            (
                PackedField("type", "str8"),
                PackedField("durable", "bit"),
                PackedField("not-found", "bit"),
                PackedField("arguments", "map"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(7, 1),
        ),
        Struct(
            "exchange.exchange-bound-result",
            (
                PackedField("exchange-not-found", "bit"),
                PackedField("queue-not-found", "bit"),
                PackedField("queue-not-matched", "bit"),
                PackedField("key-not-matched", "bit"),
                PackedField("args-not-matched", "bit"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(7, 2),
        ),
    ),
    commands=(
        Command(
            "exchange.declare",
            7,
            1,
            SERVER,
            fields=(
                PackedField("exchange", "exchange.name", required=True),
                PackedField("type", "str8", required=True),
                PackedField("alternate-exchange", "exchange.name"),
                PackedField("passive", "bit"),
                PackedField("durable", "bit"),
                PackedField("auto-delete", "bit"),
                PackedField("arguments", "map"),
            ),
            raises=(
                Raised("reserved-names", "not-allowed", "exchange"),
                Raised("exchange-name-required", "invalid-argument", "exchange"),
                Raised("typed", "not-allowed", "type"),
                Raised("exchange-type-not-found", "not-found", "type"),
                Raised("pre-existing-exchange", "not-allowed", "alternate-exchange"),
                Raised("not-found", "not-found", "passive"),
                Raised("unknown-argument", "not-implemented", "arguments"),
            ),
        ),
        Command(
            "exchange.delete",
            7,
            2,
            SERVER,
            fields=(
                PackedField("exchange", "exchange.name", required=True),
                PackedField("if-unused", "bit"),
            ),
            raises=(
                Raised("exists", "not-found", "exchange"),
                Raised("exchange-name-required", "invalid-argument", "exchange"),
                Raised("used-as-alternate", "not-allowed", "exchange"),
                Raised("exchange-in-use", "precondition-failed", "if-unused"),
            ),
        ),
        Command(
            "exchange.query",
            7,
            3,
            SERVER,
            fields=(PackedField("name", "str8"),),
            result="exchange.exchange-query-result",
        ),
        Command(
            "exchange.bind",
            7,
            4,
            SERVER,
            fields=(
                PackedField("queue", "queue.name", required=True),
                PackedField("exchange", "exchange.name", required=True),
                PackedField("binding-key", "str8", required=True),
                PackedField("arguments", "map"),
            ),
            raises=(
                Raised("empty-queue", "invalid-argument", "queue"),
                Raised("queue-existence", "not-found", "queue"),
                Raised("exchange-existence", "not-found", "exchange"),
                Raised("exchange-name-required", "invalid-argument", "exchange"),
                Raised("unknown-argument", "not-implemented", "arguments"),
            ),
        ),
        Command(
            "exchange.unbind",
            7,
            5,
            SERVER,
            fields=(
                PackedField("queue", "queue.name", required=True),
                PackedField("exchange", "exchange.name", required=True),
                PackedField("binding-key", "str8", required=True),
            ),
            raises=(
                Raised("non-existent-queue", "not-found", "queue"),
                Raised("non-existent-exchange", "not-found", "exchange"),
                Raised("exchange-name-required", "invalid-argument", "exchange"),
                Raised("non-existent-binding-key", "not-found", "binding-key"),
            ),
        ),
        Command(
            "exchange.bound",
            7,
            6,
            SERVER,
            fields=(
                PackedField("exchange", "str8"),
                PackedField("queue", "str8", required=True),
                PackedField("binding-key", "str8"),
                PackedField("arguments", "map"),
            ),
            result="exchange.exchange-bound-result",
        ),
    ),
)
