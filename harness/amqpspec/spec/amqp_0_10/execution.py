"""The execution class (3): waiting for completion, results, exceptions.

Knows: its rows, in the order of the specification. An exception ends its session.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import PEERS
from amqpspec.spec.assemblies import AssemblyClass, Command, Domain, Handler, PackedField, Role
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="execution",
    code=3,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
    ),
    domains=(
        Domain(
            "execution.error-code",
            "uint16",
            (
                Choice("unauthorized-access", 403),
                Choice("not-found", 404),
                Choice("resource-locked", 405),
                Choice("precondition-failed", 406),
                Choice("resource-deleted", 408),
                Choice("illegal-state", 409),
                Choice("command-invalid", 503),
                Choice("resource-limit-exceeded", 506),
                Choice("not-allowed", 530),
                Choice("illegal-argument", 531),
                Choice("not-implemented", 540),
                Choice("internal-error", 541),
                Choice("invalid-argument", 542),
            ),
        ),
    ),
    commands=(
        Command("execution.sync", 3, 1, PEERS),
        Command(
            "execution.result",
            3,
            2,
            PEERS,
            fields=(
                PackedField("command-id", "sequence-no", required=True),
                PackedField("value", "struct32"),
            ),
        ),
        Command(
            "execution.exception",
            3,
            3,
            PEERS,
            fields=(
                PackedField("error-code", "execution.error-code", required=True),
                PackedField("command-id", "sequence-no"),
                PackedField("class-code", "uint8"),
                PackedField("command-code", "uint8"),
                PackedField("field-index", "uint8"),
                PackedField("description", "str16"),
                PackedField("error-info", "map"),
            ),
        ),
    ),
)
