"""The exchange class (7): exchanges, and bindings of queues to them.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS, SERVER
from amqpspec.spec.amqp_0_10.rows import UNKNOWN_ARGUMENT, Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, Raised

_ROWS = Rows("exchange", 7)
_BINDING = (required("queue"), required("exchange"), required("binding-key", "str8"))
_NAME_REQUIRED = Raised("exchange-name-required", "invalid-argument", "exchange")

CLASS = AssemblyClass(
    name="exchange",
    code=7,
    roles=PEERS,
    domains=(_ROWS.domain("name", "str8"),),
    structs=(
        _ROWS.struct(
            "exchange-query-result",
            1,
            optional("type", "str8"),
            "durable",
            optional("not-found", "bit"),
            "arguments",
        ),
        _ROWS.struct(
            "exchange-bound-result",
            2,
            optional("exchange-not-found", "bit"),
            optional("queue-not-found", "bit"),
            optional("queue-not-matched", "bit"),
            optional("key-not-matched", "bit"),
            optional("args-not-matched", "bit"),
        ),
    ),
    commands=(
        _ROWS.command(
            "declare",
            1,
            SERVER,
            required("exchange"),
            required("type", "str8"),
            "alternate-exchange",
            "passive",
            "durable",
            "auto-delete",
            "arguments",
            raises=(
                Raised("reserved-names", "not-allowed", "exchange"),
                _NAME_REQUIRED,
                Raised("typed", "not-allowed", "type"),
                Raised("exchange-type-not-found", "not-found", "type"),
                Raised("pre-existing-exchange", "not-allowed", "alternate-exchange"),
                Raised("not-found", "not-found", "passive"),
                UNKNOWN_ARGUMENT,
            ),
        ),
        _ROWS.command(
            "delete",
            2,
            SERVER,
            required("exchange"),
            "if-unused",
            raises=(
                Raised("exists", "not-found", "exchange"),
                _NAME_REQUIRED,
                Raised("used-as-alternate", "not-allowed", "exchange"),
                Raised("exchange-in-use", "precondition-failed", "if-unused"),
            ),
        ),
        _ROWS.command("query", 3, SERVER, optional("name", "str8"), result="exchange-query-result"),
        _ROWS.command(
            "bind",
            4,
            SERVER,
            *_BINDING,
            "arguments",
            raises=(
                Raised("empty-queue", "invalid-argument", "queue"),
                Raised("queue-existence", "not-found", "queue"),
                Raised("exchange-existence", "not-found", "exchange"),
                _NAME_REQUIRED,
                UNKNOWN_ARGUMENT,
            ),
        ),
        _ROWS.command(
            "unbind",
            5,
            SERVER,
            *_BINDING,
            raises=(
                Raised("non-existent-queue", "not-found", "queue"),
                Raised("non-existent-exchange", "not-found", "exchange"),
                _NAME_REQUIRED,
                Raised("non-existent-binding-key", "not-found", "binding-key"),
            ),
        ),
        _ROWS.command(
            "bound",
            6,
            SERVER,
            optional("exchange", "str8"),
            required("queue", "str8"),
            optional("binding-key", "str8"),
            "arguments",
            result="exchange-bound-result",
        ),
    ),
)
