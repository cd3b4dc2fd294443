"""The dtx class (6): branches of distributed transactions, as X/Open XA has them.

Knows: its rows, in the order of the specification.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import MAYBE_PEERS, MAYBE_SERVER
from amqpspec.spec.amqp_0_10.rows import Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass, PackedField, Raised

_ROWS = Rows("dtx", 6)
_XID = required("xid", "dtx.xid")
_TIMEOUT = required("timeout", "uint32")

_ILLEGAL_STATE = Raised("illegal-state", "illegal-state")
_UNKNOWN_XID = Raised("unknown-xid", "not-found", "xid")
_NOT_DISASSOCIATED = Raised("not-disassociated", "illegal-state", "xid")
_RAISED_AFTER_END = (_ILLEGAL_STATE, _UNKNOWN_XID, _NOT_DISASSOCIATED)
"""What commands raise that only work on a branch that has ended."""

CLASS = AssemblyClass(
    name="dtx",
    code=6,
    roles=MAYBE_PEERS,
    domains=(
        _ROWS.domain(
            "xa-status",
            "uint16",
            {
                "xa-ok": 0,
                "xa-rbrollback": 1,
                "xa-rbtimeout": 2,
                "xa-heurhaz": 3,
                "xa-heurcom": 4,
                "xa-heurrb": 5,
                "xa-heurmix": 6,
                "xa-rdonly": 7,
            },
        ),
    ),
    structs=(
        _ROWS.struct("xa-result", 1, required("status", "dtx.xa-status")),
        _ROWS.nested(
            "xid",
            required("format", "uint32"),
            required("global-id", "vbin8"),
            required("branch-id", "vbin8"),
        ),
        _ROWS.struct("get-timeout-result", 2, _TIMEOUT),
        _ROWS.struct("recover-result", 3, PackedField("in-doubt", "array", required=True, element="dtx.xid")),
    ),
    commands=(
        _ROWS.command("select", 1, MAYBE_SERVER),
        _ROWS.command(
            "start",
            2,
            MAYBE_SERVER,
            _XID,
            optional("join", "bit"),
            optional("resume", "bit"),
            result="xa-result",
            raises=(
                _ILLEGAL_STATE,
                Raised("already-known", "not-allowed"),
                Raised("join-and-resume", "not-allowed"),
                Raised("unknown-xid", "not-allowed", "xid"),
                Raised("unsupported", "not-implemented", "join"),
            ),
        ),
        _ROWS.command(
            "end",
            3,
            MAYBE_SERVER,
            _XID,
            optional("fail", "bit"),
            optional("suspend", "bit"),
            result="xa-result",
            raises=(
                _ILLEGAL_STATE,
                Raised("suspend-and-fail", "not-allowed"),
                Raised("not-associated", "illegal-state", "xid"),
            ),
        ),
        _ROWS.command(
            "commit",
            4,
            MAYBE_SERVER,
            _XID,
            optional("one-phase", "bit"),
            result="xa-result",
            raises=(
                *_RAISED_AFTER_END,
                Raised("one-phase", "illegal-state", "one-phase"),
                Raised("two-phase", "illegal-state", "one-phase"),
            ),
        ),
        _ROWS.command("forget", 5, MAYBE_SERVER, _XID, raises=_RAISED_AFTER_END),
        _ROWS.command(
            "get-timeout", 6, MAYBE_SERVER, _XID, result="get-timeout-result", raises=(_UNKNOWN_XID,)
        ),
        _ROWS.command("prepare", 7, MAYBE_SERVER, _XID, result="xa-result", raises=_RAISED_AFTER_END),
        _ROWS.command("recover", 8, MAYBE_SERVER, result="recover-result"),
        _ROWS.command("rollback", 9, MAYBE_SERVER, _XID, result="xa-result", raises=_RAISED_AFTER_END),
        _ROWS.command("set-timeout", 10, MAYBE_SERVER, _XID, _TIMEOUT, raises=(_UNKNOWN_XID,)),
    ),
)
