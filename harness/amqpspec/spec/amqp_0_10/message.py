"""The message class (4): transfers in both directions, what happens to them, subscriptions and their credit.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS, SERVER, SERVER_AND_MAYBE_CLIENT
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
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="message",
    code=4,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
    ),
    domains=(
        Domain("message.destination", "str8"),
        Domain(
            "message.accept-mode",
            "uint8",
            (
                Choice("explicit", 0),
                Choice("none", 1),
            ),
        ),
        Domain(
            "message.acquire-mode",
            "uint8",
            (
                Choice("pre-acquired", 0),
                Choice("not-acquired", 1),
            ),
        ),
        Domain(
            "message.reject-code",
            "uint16",
            (
                Choice("unspecified", 0),
                Choice("unroutable", 1),
                Choice("immediate", 2),
            ),
        ),
        Domain("message.resume-id", "str16"),
        Domain(
            "message.delivery-mode",
            "uint8",
            (
                Choice("non-persistent", 1),
                Choice("persistent", 2),
            ),
        ),
        Domain(
            "message.delivery-priority",
            "uint8",
            (
                Choice("lowest", 0),
                Choice("lower", 1),
                Choice("low", 2),
                Choice("below-average", 3),
                Choice("medium", 4),
                Choice("above-average", 5),
                Choice("high", 6),
                Choice("higher", 7),
                Choice("very-high", 8),
                Choice("highest", 9),
            ),
        ),
        Domain(
            "message.flow-mode",
            "uint8",
            (
                Choice("credit", 0),
                Choice("window", 1),
            ),
        ),
        Domain(
            "message.credit-unit",
            "uint8",
            (
                Choice("message", 0),
                Choice("byte", 1),
            ),
        ),
    ),
    structs=(
        Struct(
            "message.delivery-properties",
            (
                PackedField("discard-unroutable", "bit"),
                PackedField("immediate", "bit"),
                PackedField("redelivered", "bit"),
                PackedField("priority", "message.delivery-priority", required=True),
                PackedField("delivery-mode", "message.delivery-mode", required=True),
                PackedField("ttl", "uint64"),
                PackedField("timestamp", "datetime"),
                PackedField("expiration", "datetime"),
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
                PackedField("resume-id", "message.resume-id"),
                PackedField("resume-ttl", "uint64"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(4, 1),
        ),
        Struct(
            "message.fragment-properties",
            (
                PackedField("first", "bit", default=True),
                PackedField("last", "bit", default=True),
                PackedField("fragment-size", "uint64"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(4, 2),
        ),
        Struct(
            "message.reply-to",
            (
                PackedField("exchange", "exchange.name"),
                PackedField("routing-key", "str8"),
            ),
            size_octets=2,
            pack_octets=2,
        ),
        Struct(
            "message.message-properties",
            (
                PackedField("content-length", "uint64"),
                PackedField("message-id", "uuid"),
                PackedField("correlation-id", "vbin16"),
                PackedField("reply-to", "message.reply-to"),
                PackedField("content-type", "str8"),
                PackedField("content-encoding", "str8"),
                PackedField("user-id", "vbin16"),
                PackedField("app-id", "vbin16"),
                PackedField("application-headers", "map"),
            ),
            size_octets=4,
            pack_octets=2,
            code=(4, 3),
        ),
        Struct(
            "message.acquired",
            (PackedField("transfers", "session.commands", required=True),),
            size_octets=4,
            pack_octets=2,
            code=(4, 4),
        ),
        Struct(
            "message.message-resume-result",
            (PackedField("offset", "uint64"),),
            size_octets=4,
            pack_octets=2,
            code=(4, 5),
        ),
    ),
    commands=(
        Command(
            "message.transfer",
            4,
            1,
            PEERS,
            fields=(
                PackedField("destination", "message.destination"),
                PackedField("accept-mode", "message.accept-mode", required=True),
                PackedField("acquire-mode", "message.acquire-mode", required=True),
            ),
            segments=Segments(
                (
                    "message.delivery-properties",
                    "message.fragment-properties",
                    "message.message-properties",
                )
            ),
            raises=(Raised("nonexistent-exchange", "not-found", "destination"),),
        ),
        Command(
            "message.accept",
            4,
            2,
            PEERS,
            fields=(PackedField("transfers", "session.commands", required=True),),
        ),
        Command(
            "message.reject",
            4,
            3,
            PEERS,
            fields=(
                PackedField("transfers", "session.commands", required=True),
                PackedField("code", "message.reject-code", required=True),
                PackedField("text", "str8"),
            ),
        ),
        Command(
            "message.release",
            4,
            4,
            SERVER_AND_MAYBE_CLIENT,
            fields=(
                PackedField("transfers", "session.commands", required=True),
                PackedField("set-redelivered", "bit"),
            ),
        ),
        Command(
            "message.acquire",
            4,
            5,
            SERVER,
            fields=(PackedField("transfers", "session.commands", required=True),),
            result="message.acquired",
        ),
        Command(
            "message.resume",
            4,
            6,
            PEERS,
            fields=(
                PackedField("destination", "message.destination"),
                PackedField("resume-id", "message.resume-id", required=True),
            ),
            result="message.message-resume-result",
            raises=(Raised("destination-not-found", "not-found", "destination"),),
        ),
        Command(
            "message.subscribe",
            4,
            7,
            SERVER,
            fields=(
                PackedField("queue", "queue.name", required=True),
                PackedField("destination", "message.destination"),
                PackedField("accept-mode", "message.accept-mode", required=True),
                PackedField("acquire-mode", "message.acquire-mode", required=True),
                PackedField("exclusive", "bit"),
                PackedField("resume-id", "message.resume-id"),
                PackedField("resume-ttl", "uint64"),
                PackedField("arguments", "map"),
            ),
            raises=(
                Raised("queue-deletion", "resource-deleted"),
                Raised("queue-not-found", "not-found"),
                Raised("unique-subscriber-destination", "not-allowed", "destination"),
                Raised("in-use", "resource-locked", "exclusive"),
            ),
        ),
        Command(
            "message.cancel",
            4,
            8,
            SERVER,
            fields=(PackedField("destination", "message.destination", required=True),),
            raises=(Raised("subscription-not-found", "not-found", "destination"),),
        ),
        Command(
            "message.set-flow-mode",
            4,
            9,
            PEERS,
            fields=(
                PackedField("destination", "message.destination"),
                PackedField("flow-mode", "message.flow-mode", required=True),
            ),
        ),
        Command(
            "message.flow",
            4,
            10,
            PEERS,
            fields=(
                PackedField("destination", "message.destination"),
                PackedField("unit", "message.credit-unit", required=True),
                PackedField("value", "uint32"),
            ),
        ),
        Command("message.flush", 4, 11, SERVER, fields=(PackedField("destination", "message.destination"),)),
        Command("message.stop", 4, 12, PEERS, fields=(PackedField("destination", "message.destination"),)),
    ),
)
