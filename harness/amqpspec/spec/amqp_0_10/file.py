"""The file class (9): files that are staged before they are published or delivered.

Knows: its rows, in the order of the specification. The class mixes replies of its own (``qos-ok``) with completion.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, MAYBE_PEERS, PEERS, SERVER
from amqpspec.spec.amqp_0_10.rows import RAISED_BY_CONSUME, RETURN_CODES, Rows, optional
from amqpspec.spec.assemblies import AssemblyClass, Raised, Segments

_ROWS = Rows("file", 9)
_CONTENT = Segments(("file.file-properties",), header_required=True)
_IDENTIFIER = optional("identifier", "str8")

CLASS = AssemblyClass(
    name="file",
    code=9,
    roles=MAYBE_PEERS,
    domains=(_ROWS.domain("return-code", "uint16", RETURN_CODES),),
    structs=(
        _ROWS.struct(
            "file-properties",
            1,
            "content-type",
            "content-encoding",
            "headers",
            optional("priority", "uint8"),
            optional("reply-to", "str8"),
            optional("message-id", "str8"),
            optional("filename", "str8"),
            "timestamp",
            optional("cluster-id", "str8"),
        ),
    ),
    commands=(
        _ROWS.command("qos", 1, SERVER, "prefetch-size", "prefetch-count", "global", responses=("qos-ok",)),
        _ROWS.command("qos-ok", 2, CLIENT),
        _ROWS.command(
            "consume",
            3,
            SERVER,
            "queue",
            "consumer-tag",
            "no-local",
            optional("no-ack", "bit"),
            "exclusive",
            "nowait",
            "arguments",
            responses=("consume-ok",),
            raises=RAISED_BY_CONSUME,
        ),
        _ROWS.command("consume-ok", 4, CLIENT, "consumer-tag"),
        _ROWS.command("cancel", 5, SERVER, "consumer-tag"),
        _ROWS.command(
            "open", 6, PEERS, _IDENTIFIER, optional("content-size", "uint64"), responses=("open-ok",)
        ),
        _ROWS.command("open-ok", 7, PEERS, optional("staged-size", "uint64"), responses=("stage",)),
        _ROWS.command("stage", 8, PEERS, segments=_CONTENT),
        _ROWS.command(
            "publish",
            9,
            SERVER,
            "exchange",
            "routing-key",
            "mandatory",
            "immediate",
            _IDENTIFIER,
            raises=(Raised("refusal", "not-implemented", "exchange"),),
        ),
        _ROWS.command(
            "return",
            10,
            CLIENT,
            optional("reply-code", "file.return-code"),
            "reply-text",
            "exchange",
            "routing-key",
            segments=_CONTENT,
        ),
        _ROWS.command(
            "deliver",
            11,
            CLIENT,
            "consumer-tag",
            "delivery-tag",
            "redelivered",
            "exchange",
            "routing-key",
            _IDENTIFIER,
        ),
        _ROWS.command("ack", 12, SERVER, "delivery-tag", optional("multiple", "bit")),
        _ROWS.command("reject", 13, SERVER, "delivery-tag", optional("requeue", "bit")),
    ),
)
