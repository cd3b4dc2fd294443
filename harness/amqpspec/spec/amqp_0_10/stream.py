"""The stream class (10): packets that are not acknowledged.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, SERVER
from amqpspec.spec.assemblies import (
    AssemblyClass,
    Command,
    Domain,
    Handler,
    PackedField,
    Raised,
    Role,
    Segments,
    Struct,
)
from amqpspec.spec.model import Level
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="stream",
    code=10,
    roles=(
        Handler(Role.SERVER, Level.MAY),
        Handler(Role.CLIENT, Level.MAY),
    ),
    domains=(
        Domain(
            "stream.return-code",
            "uint16",
            (
                Choice("content-too-large", 311),
                Choice("no-route", 312),
                Choice("no-consumers", 313),
            ),
        ),
    ),
    structs=(
        Struct(
            "stream.stream-properties",
            (
                PackedField("content-type", "str8"),
                PackedField("content-encoding", "str8"),
                PackedField("headers", "map"),
                PackedField("priority", "uint8"),
                PackedField("timestamp", "datetime"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(10, 1),
        ),
    ),
    commands=(
        Command(
            "stream.qos",
            10,
            1,
            SERVER,
            fields=(
                PackedField("prefetch-size", "uint32"),
                PackedField("prefetch-count", "uint16"),
                PackedField("consume-rate", "uint32"),
                PackedField("global", "bit"),
            ),
            responses=("stream.qos-ok",),
        ),
        Command("stream.qos-ok", 10, 2, CLIENT),
        Command(
            "stream.consume",
            10,
            3,
            SERVER,
            fields=(
                PackedField("queue", "queue.name"),
                PackedField("consumer-tag", "str8"),
                PackedField("no-local", "bit"),
                PackedField("exclusive", "bit"),
                PackedField("nowait", "bit"),
                PackedField("arguments", "map"),
            ),
            responses=("stream.consume-ok",),
            raises=(
                Raised("queue-exists-if-empty", "not-allowed", "queue"),
                Raised("not-existing-consumer", "not-allowed", "consumer-tag"),
                Raised("not-empty-consumer-tag", "not-allowed", "consumer-tag"),
                Raised("in-use", "resource-locked", "exclusive"),
            ),
        ),
        Command("stream.consume-ok", 10, 4, CLIENT, fields=(PackedField("consumer-tag", "str8"),)),
        Command("stream.cancel", 10, 5, SERVER, fields=(PackedField("consumer-tag", "str8"),)),
        Command(
            "stream.publish",
            10,
            6,
            SERVER,
            fields=(
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
                PackedField("mandatory", "bit"),
                PackedField("immediate", "bit"),
            ),
            segments=Segments(("stream.stream-properties",), header_required=True),
            raises=(Raised("refusal", "not-implemented", "exchange"),),
        ),
        Command(
            "stream.return",
            10,
            7,
            CLIENT,
            fields=(
                PackedField("reply-code", "stream.return-code"),
                PackedField("reply-text", "str8"),
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
            ),
            segments=Segments(("stream.stream-properties",), header_required=True),
        ),
        Command(
            "stream.deliver",
            10,
            8,
            CLIENT,
            fields=(
                PackedField("consumer-tag", "str8"),
                PackedField("delivery-tag", "uint64"),
                PackedField("exchange", "exchange.name"),
                PackedField("queue", "queue.name", required=True),
            ),
            segments=Segments(("stream.stream-properties",), header_required=True),
        ),
    ),
)
