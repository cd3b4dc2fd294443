"""The stream class (10): packets that are not acknowledged.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, MAYBE_PEERS, SERVER
from amqpspec.spec.amqp_0_10.rows import RAISED_BY_CONSUME, RETURN_CODES, Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, Raised, Segments

_ROWS = Rows("stream", 10)
_CONTENT = Segments(("stream.stream-properties",), header_required=True)

CLASS = AssemblyClass(
    name="stream",
    code=10,
    roles=MAYBE_PEERS,
    domains=(_ROWS.domain("return-code", "uint16", RETURN_CODES),),
    structs=(
        _ROWS.struct(
            "stream-properties",
            1,
            "content-type",
            "content-encoding",
            "headers",
            optional("priority", "uint8"),
            "timestamp",
        ),
    ),
    commands=(
        _ROWS.command(
            "qos",
            1,
            SERVER,
            "prefetch-size",
            "prefetch-count",
            optional("consume-rate", "uint32"),
            "global",
            responses=("qos-ok",),
        ),
        _ROWS.command("qos-ok", 2, CLIENT),
        _ROWS.command(
            "consume",
            3,
            SERVER,
            "queue",
            "consumer-tag",
            "no-local",
            "exclusive",
            "nowait",
            "arguments",
            responses=("consume-ok",),
            raises=RAISED_BY_CONSUME,
        ),
        _ROWS.command("consume-ok", 4, CLIENT, "consumer-tag"),
        _ROWS.command("cancel", 5, SERVER, "consumer-tag"),
        _ROWS.command(
            "publish",
            6,
            SERVER,
            "exchange",
            "routing-key",
            "mandatory",
            "immediate",
            segments=_CONTENT,
            raises=(Raised("refusal", "not-implemented", "exchange"),),
        ),
        _ROWS.command(
            "return",
            7,
            CLIENT,
            optional("reply-code", "stream.return-code"),
            "reply-text",
            "exchange",
            "routing-key",
            segments=_CONTENT,
        ),
        _ROWS.command(
            "deliver",
            8,
            CLIENT,
            "consumer-tag",
            "delivery-tag",
            "exchange",
            required("queue"),
            segments=_CONTENT,
        ),
    ),
)
