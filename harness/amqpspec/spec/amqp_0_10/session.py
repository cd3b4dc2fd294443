"""The session class (2): attachment to a channel, and what both ends say about the commands that they exchange.

Knows: its rows, in the order of the specification. The code of detach for commands without a command-point is
``unknown-ids`` here and ``unknown-id`` in a rule.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import ENDS, PEERS, RECEIVER, SENDER, SERVER_AND_MAYBE_CLIENT
from amqpspec.spec.amqp_0_10.rows import Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, PackedField, Struct

_ROWS = Rows("session", 2)
_NAME = required("name", "session.name")
_TIMEOUT = optional("timeout", "uint32")
_COMMANDS = optional("commands", "session.commands")
_FRAGMENTS = optional("fragments", "session.command-fragments")

CLASS = AssemblyClass(
    name="session",
    code=2,
    roles=PEERS + ENDS,
    domains=(
        _ROWS.domain("name", "vbin16"),
        _ROWS.domain(
            "detach-code",
            "uint8",
            {"normal": 0, "session-busy": 1, "transport-busy": 2, "not-attached": 3, "unknown-ids": 4},
        ),
        _ROWS.domain("commands", "sequence-set"),
        _ROWS.domain("command-fragments", "array", element="session.command-fragment"),
    ),
    structs=(
        Struct("session.header", (PackedField("sync", "bit"),), size_octets=1, pack_octets=1),
        Struct("session.command-fragment", (required("command-id"), required("byte-ranges", "byte-ranges"))),
    ),
    controls=(
        _ROWS.control(
            "attach",
            1,
            SERVER_AND_MAYBE_CLIENT,
            _NAME,
            optional("force", "bit"),
            responses=("attached", "detached"),
        ),
        _ROWS.control("attached", 2, PEERS, _NAME),
        _ROWS.control("detach", 3, PEERS, _NAME, responses=("detached",)),
        _ROWS.control("detached", 4, PEERS, _NAME, required("code", "session.detach-code")),
        _ROWS.control("request-timeout", 5, ENDS, _TIMEOUT, responses=("timeout",)),
        _ROWS.control("timeout", 6, ENDS, _TIMEOUT),
        _ROWS.control(
            "command-point", 7, RECEIVER, required("command-id"), required("command-offset", "uint64")
        ),
        _ROWS.control("expected", 8, SENDER, required("commands", "session.commands"), _FRAGMENTS),
        _ROWS.control("confirmed", 9, SENDER, _COMMANDS, _FRAGMENTS),
        _ROWS.control("completed", 10, SENDER, _COMMANDS, optional("timely-reply", "bit")),
        _ROWS.control("known-completed", 11, RECEIVER, _COMMANDS),
        _ROWS.control(
            "flush",
            12,
            RECEIVER,
            optional("expected", "bit"),
            optional("confirmed", "bit"),
            optional("completed", "bit"),
        ),
        _ROWS.control("gap", 13, RECEIVER, _COMMANDS),
    ),
)
