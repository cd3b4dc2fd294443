"""The faults of the broker: what it refuses by rule, the rows that fall with it, how refusing is wrong, behaviours.

Knows: rows of the ledger, which code or level it does not accept for each, which modules act out faults.
Must not know: when a rule is broken; connections, channels and handles do.
"""

from __future__ import annotations

from amqpspec.reference.amqp_fast_0_8 import (
    channel_commands,
    channels,
    connection,
    destinations,
    fields,
    handle_commands,
    handles,
    inbox,
    messages,
    opening,
    pings,
    transfers,
    wire,
)  # fmt: skip
from amqpspec.reference.fault import word_table
from amqpspec.reference.faults import Faults
from amqpspec.reference.refusals import MUTE, RefusalRules, passes
from amqpspec.spec.model import Refusal, Requirement, Scope

_MODULES = (
    wire, fields, inbox, opening, pings, connection, channel_commands, channels, handle_commands, handles, transfers,
    messages, destinations,
)  # fmt: skip

_ROWS = """
    changes/no-anonymous-login frames/size-first frames/size-forms frames/fixed-fields scenarios/opening/order
    errors/destination errors/connection syntax/initiation syntax/command-end syntax/connection-commands
    syntax/channel-commands syntax/handle-commands syntax/notes/zero-octet
    initiation/protocol-ids initiation/invalid tables/layout tables/types tables/names
    connection/response/mechanism connection/response/rejected connection/response/size plain/case
    connection/tune/size tuning/channel-max tuning/handle-max tuning/txn-limit tuning/frame-max/client-maximum
    tuning/frame-max/client-minimum connection/open/client-name connection/summary/server/challenge
    connection/summary/server/response-unknown connection/summary/server/reply connection/errors/kinds
    channel/open/channel-id channel/open/open restartable/option restartable/not-for-one-fragment
    restartable/wrong-hash channel/ack/open channel/commit/open channel/commit/transacted channel/rollback/open
    channel/rollback/transacted channel/close/state channel/summary/server/reply messages/fragments/not-mixed
    messages/head/body-size messages/head/maximum handle/open/handle-id handle/open/not-zero handle/open/access
    handle/send/open handle/send/service-type handle/consume/open
    handle/consume/service-type handle/consume/prefetch-range handle/consume/exclusive handle/flow/open
    handle/unget/open handle/unget/number handle/unget/before-ack handle/query/open handle/browse/open
    handle/browse/gone handle/prepare/open handle/prepare/not-batched handle/ready/open handle/ready/too-large
    handle/close/open handle/summary/server/created handle/summary/server/notify handle/summary/server/index
    handle/summary/server/reply
"""
_ALSO = word_table("""
syntax/command-end: syntax/notes/end-counted messages/frames/size security/closing
frames/fixed-fields: security/closing
channel/commit/transacted: channel/confirmation/failed errors/channel channel/errors/connection
channel/open/open: channel/summary/server/open errors/channel channel/errors/connection transactions/not-nested
channel/commit/open: scenarios/errors/only-open
channel/ack/open: scenarios/errors/only-open
handle/query/open: scenarios/browsing/opened-first
handle/send/open: scenarios/errors/only-open
handle/browse/gone: scenarios/browsing/failed
errors/destination: scenarios/errors/detected scenarios/browsing/other-failures channels/independent
errors/connection: errors/reply-codes
tuning/frame-max/client-maximum: connection/tune/values connection/tune/refused
    connection/summary/server/tune-invalid
connection/response/rejected: connection/errors/pause connection/errors/kinds
handle/open/handle-id: handle/summary/server/open
restartable/wrong-hash: restartable/full/hash handle/prepare/hash restartable/validation
""")
_CONFUSED = (541, 540, 404)
_LEVELS = (Scope.HANDLE, Scope.CHANNEL, Scope.CONNECTION)


class _Refusals(RefusalRules):
    """Reply codes, on three levels, or in a REPLY, or none."""

    def confused(self, right: Refusal) -> tuple[int, ...]:
        """The same ones on every level."""
        return _CONFUSED

    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """A wider level that the ledger does not tolerate, or else silence; a narrower one is not always there."""
        first = row.accepts[0]
        if first.scope is Scope.SOCKET:
            return MUTE
        narrower = _LEVELS[: _LEVELS.index(first.scope) + 1] if first.scope in _LEVELS else ()
        wider = [Refusal(scope, first.code or _CONFUSED[0]) for scope in _LEVELS if scope not in narrower]
        return next(
            (refusal for refusal in (*wider, Refusal(Scope.SOCKET)) if not passes(refusal, row)), MUTE
        )


DIALECT_FAULTS = Faults(
    tuple(fault for module in _MODULES for fault in module.FAULTS),
    _Refusals(
        ledger="amqp-fast-0-8",
        rows=tuple(_ROWS.split()),
        also=_ALSO,
        unjudged=("frames/size-forms",),
        strict_codes=True,
    ),
)
