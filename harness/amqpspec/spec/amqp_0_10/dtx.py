"""The dtx class (6): branches of distributed transactions, as X/Open XA has them.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import MAYBE_SERVER
from amqpspec.spec.assemblies import (
    AssemblyClass,
    Command,
    Domain,
    Handler,
    PackedField,
    Raised,
    Role,
    Struct,
)
from amqpspec.spec.model import Level
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="dtx",
    code=6,
    roles=(
        Handler(Role.SERVER, Level.MAY),
        Handler(Role.CLIENT, Level.MAY),
    ),
    domains=(
        Domain(
            "dtx.xa-status",
            "uint16",
            (
                Choice("xa-ok", 0),
                Choice("xa-rbrollback", 1),
                Choice("xa-rbtimeout", 2),
                Choice("xa-heurhaz", 3),
                Choice("xa-heurcom", 4),
                Choice("xa-heurrb", 5),
                Choice("xa-heurmix", 6),
                Choice("xa-rdonly", 7),
            ),
        ),
    ),
    structs=(
        Struct(
            "dtx.xa-result",
            (PackedField("status", "dtx.xa-status", required=True),),
            size_octets=4,
            pack_octets=2,
            code=(6, 1),
        ),
        Struct(
            "dtx.xid",
            (
                PackedField("format", "uint32", required=True),
                PackedField("global-id", "vbin8", required=True),
                PackedField("branch-id", "vbin8", required=True),
            ),
            size_octets=2,
            pack_octets=2,
        ),
        Struct(
            "dtx.get-timeout-result",
            (PackedField("timeout", "uint32", required=True),),
            size_octets=4,
            pack_octets=2,
            code=(6, 2),
        ),
        Struct(
            "dtx.recover-result",
            (PackedField("in-doubt", "array", required=True, element="dtx.xid"),),
            size_octets=4,
            pack_octets=2,
            code=(6, 3),
        ),
    ),
    commands=(
        Command("dtx.select", 6, 1, MAYBE_SERVER),
        Command(
            "dtx.start",
            6,
            2,
            MAYBE_SERVER,
            fields=(
                PackedField("xid", "dtx.xid", required=True),
                PackedField("join", "bit"),
                PackedField("resume", "bit"),
            ),
            result="dtx.xa-result",
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("already-known", "not-allowed"),
                Raised("join-and-resume", "not-allowed"),
                Raised("unknown-xid", "not-allowed", "xid"),
                Raised("unsupported", "not-implemented", "join"),
            ),
        ),
        Command(
            "dtx.end",
            6,
            3,
            MAYBE_SERVER,
            fields=(
                PackedField("xid", "dtx.xid", required=True),
                PackedField("fail", "bit"),
                PackedField("suspend", "bit"),
            ),
            result="dtx.xa-result",
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("suspend-and-fail", "not-allowed"),
                Raised("not-associated", "illegal-state", "xid"),
            ),
        ),
        Command(
            "dtx.commit",
            6,
            4,
            MAYBE_SERVER,
            fields=(
                PackedField("xid", "dtx.xid", required=True),
                PackedField("one-phase", "bit"),
            ),
            result="dtx.xa-result",
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("unknown-xid", "not-found", "xid"),
                Raised("not-disassociated", "illegal-state", "xid"),
                Raised("one-phase", "illegal-state", "one-phase"),
                Raised("two-phase", "illegal-state", "one-phase"),
            ),
        ),
        Command(
            "dtx.forget",
            6,
            5,
            MAYBE_SERVER,
            fields=(PackedField("xid", "dtx.xid", required=True),),
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("unknown-xid", "not-found", "xid"),
                Raised("not-disassociated", "illegal-state", "xid"),
            ),
        ),
        Command(
            "dtx.get-timeout",
            6,
            6,
            MAYBE_SERVER,
            fields=(PackedField("xid", "dtx.xid", required=True),),
            result="dtx.get-timeout-result",
            raises=(Raised("unknown-xid", "not-found", "xid"),),
        ),
        Command(
            "dtx.prepare",
            6,
            7,
            MAYBE_SERVER,
            fields=(PackedField("xid", "dtx.xid", required=True),),
            result="dtx.xa-result",
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("unknown-xid", "not-found", "xid"),
                Raised("not-disassociated", "illegal-state", "xid"),
            ),
        ),
        Command("dtx.recover", 6, 8, MAYBE_SERVER, result="dtx.recover-result"),
        Command(
            "dtx.rollback",
            6,
            9,
            MAYBE_SERVER,
            fields=(PackedField("xid", "dtx.xid", required=True),),
            result="dtx.xa-result",
            raises=(
                Raised("illegal-state", "illegal-state"),
                Raised("unknown-xid", "not-found", "xid"),
                Raised("not-disassociated", "illegal-state", "xid"),
            ),
        ),
        Command(
            "dtx.set-timeout",
            6,
            10,
            MAYBE_SERVER,
            fields=(
                PackedField("xid", "dtx.xid", required=True),
                PackedField("timeout", "uint32", required=True),
            ),
            raises=(Raised("unknown-xid", "not-found", "xid"),),
        ),
    ),
)
