"""The queue class (8): queues.

Knows: its rows, in the order of the specification. The grammar of the class names bind and unbind, which belong to
class exchange. Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS, SERVER
from amqpspec.spec.amqp_0_10.rows import IN_USE, UNKNOWN_ARGUMENT, Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, Raised

_ROWS = Rows("queue", 8)
_EXISTENCE = (
    Raised("empty-name", "invalid-argument", "queue"),
    Raised("queue-exists", "not-found", "queue"),
)

CLASS = AssemblyClass(
    name="queue",
    code=8,
    roles=PEERS,
    domains=(_ROWS.domain("name", "str8"),),
    structs=(
        _ROWS.struct(
            "queue-query-result",
            1,
            required("queue"),
            "alternate-exchange",
            "durable",
            "exclusive",
            "auto-delete",
            "arguments",
            required("message-count", "uint32"),
            required("subscriber-count", "uint32"),
        ),
    ),
    commands=(
        _ROWS.command(
            "declare",
            1,
            SERVER,
            required("queue"),
            "alternate-exchange",
            "passive",
            "durable",
            "exclusive",
            "auto-delete",
            "arguments",
            raises=(
                Raised("reserved-prefix", "not-allowed", "queue"),
                Raised("pre-existing-exchange", "not-allowed", "alternate-exchange"),
                Raised("unknown-exchange", "not-found", "alternate-exchange"),
                Raised("passive", "not-found", "passive"),
                IN_USE,
                UNKNOWN_ARGUMENT,
            ),
        ),
        _ROWS.command(
            "delete",
            2,
            SERVER,
            required("queue"),
            "if-unused",
            optional("if-empty", "bit"),
            raises=(
                *_EXISTENCE,
                Raised("if-unused-flag", "precondition-failed", "if-unused"),
                Raised("not-empty", "precondition-failed", "if-empty"),
            ),
        ),
        _ROWS.command("purge", 3, SERVER, required("queue"), raises=_EXISTENCE),
        _ROWS.command("query", 4, SERVER, required("queue"), result="queue-query-result"),
    ),
)
