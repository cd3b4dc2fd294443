"""The file class (9): files that are staged before they are published or delivered.

Knows: its rows, in the order of the specification. The class mixes replies of its own (``qos-ok``) with completion.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, PEERS, SERVER
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
    name="file",
    code=9,
    roles=(
        Handler(Role.SERVER, Level.MAY),
        Handler(Role.CLIENT, Level.MAY),
    ),
    domains=(
        Domain(
            "file.return-code",
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
            "file.file-properties",
            (
                PackedField("content-type", "str8"),
                PackedField("content-encoding", "str8"),
                PackedField("headers", "map"),
                PackedField("priority", "uint8"),
                PackedField("reply-to", "str8"),
                PackedField("message-id", "str8"),
                PackedField("filename", "str8"),
                PackedField("timestamp", "datetime"),
                PackedField("cluster-id", "str8"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(9, 1),
        ),
    ),
    commands=(
        Command(
            "file.qos",
            9,
            1,
            SERVER,
            fields=(
                PackedField("prefetch-size", "uint32"),
                PackedField("prefetch-count", "uint16"),
                PackedField("global", "bit"),
            ),
            responses=("file.qos-ok",),
        ),
        Command("file.qos-ok", 9, 2, CLIENT),
        Command(
            "file.consume",
            9,
            3,
            SERVER,
            fields=(
                PackedField("queue", "queue.name"),
                PackedField("consumer-tag", "str8"),
                PackedField("no-local", "bit"),
                PackedField("no-ack", "bit"),
                PackedField("exclusive", "bit"),
                PackedField("nowait", "bit"),
                PackedField("arguments", "map"),
            ),
            responses=("file.consume-ok",),
            raises=(
                Raised("queue-exists-if-empty", "not-allowed", "queue"),
                Raised("not-existing-consumer", "not-allowed", "consumer-tag"),
                Raised("not-empty-consumer-tag", "not-allowed", "consumer-tag"),
                Raised("in-use", "resource-locked", "exclusive"),
            ),
        ),
        Command("file.consume-ok", 9, 4, CLIENT, fields=(PackedField("consumer-tag", "str8"),)),
        Command("file.cancel", 9, 5, SERVER, fields=(PackedField("consumer-tag", "str8"),)),
        Command(
            "file.open",
            9,
            6,
            PEERS,
            fields=(
                PackedField("identifier", "str8"),
                PackedField("content-size", "uint64"),
            ),
            responses=("file.open-ok",),
        ),
        Command(
            "file.open-ok",
            9,
            7,
            PEERS,
            fields=(PackedField("staged-size", "uint64"),),
            responses=("file.stage",),
        ),
        Command(
            "file.stage", 9, 8, PEERS, segments=Segments(("file.file-properties",), header_required=True)
        ),
        Command(
            "file.publish",
            9,
            9,
            SERVER,
            fields=(
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
                PackedField("mandatory", "bit"),
                PackedField("immediate", "bit"),
                PackedField("identifier", "str8"),
            ),
            raises=(Raised("refusal", "not-implemented", "exchange"),),
        ),
        Command(
            "file.return",
            9,
            10,
            CLIENT,
            fields=(
                PackedField("reply-code", "file.return-code"),
                PackedField("reply-text", "str8"),
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
            ),
            segments=Segments(("file.file-properties",), header_required=True),
        ),
        Command(
            "file.deliver",
            9,
            11,
            CLIENT,
            fields=(
                PackedField("consumer-tag", "str8"),
                PackedField("delivery-tag", "uint64"),
                PackedField("redelivered", "bit"),
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
                PackedField("identifier", "str8"),
            ),
        ),
        Command(
            "file.ack",
            9,
            12,
            SERVER,
            fields=(
                PackedField("delivery-tag", "uint64"),
                PackedField("multiple", "bit"),
            ),
        ),
        Command(
            "file.reject",
            9,
            13,
            SERVER,
            fields=(
                PackedField("delivery-tag", "uint64"),
                PackedField("requeue", "bit"),
            ),
        ),
    ),
)
