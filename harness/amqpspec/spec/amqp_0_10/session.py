"""The session class (2): attachment to a channel, and what both ends say about the commands that they exchange.

Knows: its rows, in the order of the specification. The code of detach for commands without a command-point is
``unknown-ids`` here and ``unknown-id`` in a rule.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import ENDS, PEERS, RECEIVER, SENDER, SERVER_AND_MAYBE_CLIENT
from amqpspec.spec.assemblies import AssemblyClass, Control, Domain, Handler, PackedField, Role, Struct
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="session",
    code=2,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
        Handler(Role.SENDER),
        Handler(Role.RECEIVER),
    ),
    domains=(
        Domain("session.name", "vbin16"),
        Domain(
            "session.detach-code",
            "uint8",
            (
                Choice("normal", 0),
                Choice("session-busy", 1),
                Choice("transport-busy", 2),
                Choice("not-attached", 3),
                Choice("unknown-ids", 4),
            ),
        ),
        Domain("session.commands", "sequence-set"),
        Domain("session.command-fragments", "array", element="session.command-fragment"),
    ),
    structs=(
        Struct("session.header", (PackedField("sync", "bit"),), size_octets=1, pack_octets=1),
        Struct(
            "session.command-fragment",
            (
                PackedField("command-id", "sequence-no", required=True),
                PackedField("byte-ranges", "byte-ranges", required=True),
            ),
        ),
    ),
    controls=(
        Control(
            "session.attach",
            2,
            1,
            SERVER_AND_MAYBE_CLIENT,
            fields=(
                PackedField("name", "session.name", required=True),
                PackedField("force", "bit"),
            ),
            responses=(
                "session.attached",
                "session.detached",
            ),
        ),
        Control(
            "session.attached", 2, 2, PEERS, fields=(PackedField("name", "session.name", required=True),)
        ),
        Control(
            "session.detach",
            2,
            3,
            PEERS,
            fields=(PackedField("name", "session.name", required=True),),
            responses=("session.detached",),
        ),
        Control(
            "session.detached",
            2,
            4,
            PEERS,
            fields=(
                PackedField("name", "session.name", required=True),
                PackedField("code", "session.detach-code", required=True),
            ),
        ),
        Control(
            "session.request-timeout",
            2,
            5,
            ENDS,
            fields=(PackedField("timeout", "uint32"),),
            responses=("session.timeout",),
        ),
        Control("session.timeout", 2, 6, ENDS, fields=(PackedField("timeout", "uint32"),)),
        Control(
            "session.command-point",
            2,
            7,
            RECEIVER,
            fields=(
                PackedField("command-id", "sequence-no", required=True),
                PackedField("command-offset", "uint64", required=True),
            ),
        ),
        Control(
            "session.expected",
            2,
            8,
            SENDER,
            fields=(
                PackedField("commands", "session.commands", required=True),
                PackedField("fragments", "session.command-fragments"),
            ),
        ),
        Control(
            "session.confirmed",
            2,
            9,
            SENDER,
            fields=(
                PackedField("commands", "session.commands"),
                PackedField("fragments", "session.command-fragments"),
            ),
        ),
        Control(
            "session.completed",
            2,
            10,
            SENDER,
            fields=(
                PackedField("commands", "session.commands"),
                PackedField("timely-reply", "bit"),
            ),
        ),
        Control(
            "session.known-completed", 2, 11, RECEIVER, fields=(PackedField("commands", "session.commands"),)
        ),
        Control(
            "session.flush",
            2,
            12,
            RECEIVER,
            fields=(
                PackedField("expected", "bit"),
                PackedField("confirmed", "bit"),
                PackedField("completed", "bit"),
            ),
        ),
        Control("session.gap", 2, 13, RECEIVER, fields=(PackedField("commands", "session.commands"),)),
    ),
)
