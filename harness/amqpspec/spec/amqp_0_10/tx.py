"""The tx class (5): transactions of one session.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import SERVER
from amqpspec.spec.amqp_0_10.rows import Rows
from amqpspec.spec.assemblies import AssemblyClass, Handler, Raised, Role
from amqpspec.spec.model import Level

_ROWS = Rows("tx", 5)
_SELECT_REQUIRED = Raised("select-required", "illegal-state")

CLASS = AssemblyClass(
    name="tx",
    code=5,
    roles=(Handler(Role.SERVER, Level.SHOULD),),
    commands=(
        _ROWS.command(
            "select",
            1,
            SERVER,
            raises=(
                Raised("exactly-once", "illegal-state"),
                Raised("no-dtx", "illegal-state"),
                Raised("explicit-accepts", "not-allowed"),
            ),
        ),
        _ROWS.command("commit", 2, SERVER, raises=(_SELECT_REQUIRED,)),
        _ROWS.command("rollback", 3, SERVER, raises=(_SELECT_REQUIRED,)),
    ),
)
