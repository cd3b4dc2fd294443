"""The message class (4): transfers in both directions, what happens to them, subscriptions and their credit.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS, SERVER, SERVER_AND_MAYBE_CLIENT
from amqpspec.spec.amqp_0_10.rows import IN_USE, Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, PackedField, Raised, Segments

_ROWS = Rows("message", 4)
_DESTINATION = optional("destination", "message.destination")
_MODES = (
    required("accept-mode", "message.accept-mode"),
    required("acquire-mode", "message.acquire-mode"),
)
_RESUME_TTL = optional("resume-ttl", "uint64")
_TRANSFERS = required("transfers", "session.commands")

CLASS = AssemblyClass(
    name="message",
    code=4,
    roles=PEERS,
    domains=(
        _ROWS.domain("destination", "str8"),
        _ROWS.domain("accept-mode", "uint8", {"explicit": 0, "none": 1}),
        _ROWS.domain("acquire-mode", "uint8", {"pre-acquired": 0, "not-acquired": 1}),
        _ROWS.domain("reject-code", "uint16", {"unspecified": 0, "unroutable": 1, "immediate": 2}),
        _ROWS.domain("resume-id", "str16"),
        _ROWS.domain("delivery-mode", "uint8", {"non-persistent": 1, "persistent": 2}),
        _ROWS.domain(
            "delivery-priority",
            "uint8",
            {
                "lowest": 0,
                "lower": 1,
                "low": 2,
                "below-average": 3,
                "medium": 4,
                "above-average": 5,
                "high": 6,
                "higher": 7,
                "very-high": 8,
                "highest": 9,
            },
        ),
        _ROWS.domain("flow-mode", "uint8", {"credit": 0, "window": 1}),
        _ROWS.domain("credit-unit", "uint8", {"message": 0, "byte": 1}),
    ),
    structs=(
        _ROWS.struct(
            "delivery-properties",
            1,
            optional("discard-unroutable", "bit"),
            "immediate",
            "redelivered",
            required("priority", "message.delivery-priority"),
            required("delivery-mode", "message.delivery-mode"),
            optional("ttl", "uint64"),
            "timestamp",
            optional("expiration", "datetime"),
            "exchange",
            "routing-key",
            optional("resume-id", "message.resume-id"),
            _RESUME_TTL,
        ),
        _ROWS.struct(
            "fragment-properties",
            2,
            PackedField("first", "bit", default=True),
            PackedField("last", "bit", default=True),
            optional("fragment-size", "uint64"),
        ),
        _ROWS.nested("reply-to", "exchange", "routing-key"),
        _ROWS.struct(
            "message-properties",
            3,
            optional("content-length", "uint64"),
            optional("message-id", "uuid"),
            optional("correlation-id", "vbin16"),
            optional("reply-to", "message.reply-to"),
            "content-type",
            "content-encoding",
            optional("user-id", "vbin16"),
            optional("app-id", "vbin16"),
            optional("application-headers", "map"),
        ),
        _ROWS.struct("acquired", 4, _TRANSFERS),
        _ROWS.struct("message-resume-result", 5, optional("offset", "uint64")),
    ),
    commands=(
        _ROWS.command(
            "transfer",
            1,
            PEERS,
            _DESTINATION,
            *_MODES,
            segments=Segments(
                (
                    "message.delivery-properties",
                    "message.fragment-properties",
                    "message.message-properties",
                )
            ),
            raises=(Raised("nonexistent-exchange", "not-found", "destination"),),
        ),
        _ROWS.command("accept", 2, PEERS, _TRANSFERS),
        _ROWS.command(
            "reject", 3, PEERS, _TRANSFERS, required("code", "message.reject-code"), optional("text", "str8")
        ),
        _ROWS.command("release", 4, SERVER_AND_MAYBE_CLIENT, _TRANSFERS, optional("set-redelivered", "bit")),
        _ROWS.command("acquire", 5, SERVER, _TRANSFERS, result="acquired"),
        _ROWS.command(
            "resume",
            6,
            PEERS,
            _DESTINATION,
            required("resume-id", "message.resume-id"),
            result="message-resume-result",
            raises=(Raised("destination-not-found", "not-found", "destination"),),
        ),
        _ROWS.command(
            "subscribe",
            7,
            SERVER,
            required("queue"),
            _DESTINATION,
            *_MODES,
            "exclusive",
            optional("resume-id", "message.resume-id"),
            _RESUME_TTL,
            "arguments",
            raises=(
                Raised("queue-deletion", "resource-deleted"),
                Raised("queue-not-found", "not-found"),
                Raised("unique-subscriber-destination", "not-allowed", "destination"),
                IN_USE,
            ),
        ),
        _ROWS.command(
            "cancel",
            8,
            SERVER,
            required("destination", "message.destination"),
            raises=(Raised("subscription-not-found", "not-found", "destination"),),
        ),
        _ROWS.command("set-flow-mode", 9, PEERS, _DESTINATION, required("flow-mode", "message.flow-mode")),
        _ROWS.command(
            "flow",
            10,
            PEERS,
            _DESTINATION,
            required("unit", "message.credit-unit"),
            optional("value", "uint32"),
        ),
        _ROWS.command("flush", 11, SERVER, _DESTINATION),
        _ROWS.command("stop", 12, PEERS, _DESTINATION),
    ),
)
