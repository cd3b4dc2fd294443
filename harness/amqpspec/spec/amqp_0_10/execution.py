"""The execution class (3): waiting for completion, results, exceptions.

Knows: its rows, in the order of the specification. An exception ends its session.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS
from amqpspec.spec.amqp_0_10.rows import Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass

_ROWS = Rows("execution", 3)

CLASS = AssemblyClass(
    name="execution",
    code=3,
    roles=PEERS,
    domains=(
        _ROWS.domain(
            "error-code",
            "uint16",
            {
                "unauthorized-access": 403,
                "not-found": 404,
                "resource-locked": 405,
                "precondition-failed": 406,
                "resource-deleted": 408,
                "illegal-state": 409,
                "command-invalid": 503,
                "resource-limit-exceeded": 506,
                "not-allowed": 530,
                "illegal-argument": 531,
                "not-implemented": 540,
                "internal-error": 541,
                "invalid-argument": 542,
            },
        ),
    ),
    commands=(
        _ROWS.command("sync", 1, PEERS),
        _ROWS.command("result", 2, PEERS, required("command-id"), optional("value", "struct32")),
        _ROWS.command(
            "exception",
            3,
            PEERS,
            required("error-code", "execution.error-code"),
            "command-id",
            optional("class-code", "uint8"),
            optional("command-code", "uint8"),
            optional("field-index", "uint8"),
            optional("description", "str16"),
            optional("error-info", "map"),
        ),
    ),
)
