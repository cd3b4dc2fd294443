"""The tx class (5): transactions of one session.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import SERVER
from amqpspec.spec.assemblies import AssemblyClass, Command, Handler, Raised, Role
from amqpspec.spec.model import Level

CLASS = AssemblyClass(
    name="tx",
    code=5,
    roles=(Handler(Role.SERVER, Level.SHOULD),),
    commands=(
        Command(
            "tx.select",
            5,
            1,
            SERVER,
            raises=(
                Raised("exactly-once", "illegal-state"),
                Raised("no-dtx", "illegal-state"),
                Raised("explicit-accepts", "not-allowed"),
            ),
        ),
        Command("tx.commit", 5, 2, SERVER, raises=(Raised("select-required", "illegal-state"),)),
        Command("tx.rollback", 5, 3, SERVER, raises=(Raised("select-required", "illegal-state"),)),
    ),
)
