"""The faults of the 0-9-1 broker: what it refuses by rule, and every behaviour that its ledger can tell.

Knows: rows of the 0-9-1 ledger, which modules act out faults. Must not know: when a rule is broken, how a fault acts.

Handlers name rules by rows of this ledger, and modules tie their faults to rows of this ledger, whichever dialect of
the family they serve. A fault that breaks nothing here (as one of trace frames) is there for dialects that can tell it.
"""

from __future__ import annotations

from amqpspec.reference import core
from amqpspec.reference.faults import Faults
from amqpspec.reference.methods import (
    channel,
    classes,
    connection,
    contents,
    damage,
    dispatch,
    frames_out,
    heartbeats,
    inbox,
    outgoing,
    wire,
)
from amqpspec.reference.methods.refusals import MethodRefusals
from amqpspec.reference.model import deliveries, exchanges, queues, routing, vhost

_MODULES = (
    wire, inbox, contents, frames_out, damage, heartbeats, core, connection, channel, outgoing, dispatch,
    *classes.CLASSES, exchanges, routing, vhost, queues, deliveries,
)  # fmt: skip
FAMILY = {fault.name: fault for module in _MODULES for fault in getattr(module, "FAULTS", ())}
"""Every fault that the brokers of the family act out, by name."""

_ROWS = """
    amq_wlp_frame_01 amq_wlp_frame_02 amq_wlp_frame_03 amq_wlp_table_01 amq_wlp_content_01 amq_wlp_content_02
    amq_wlp_content_03 amq_wlp_content_05 amq_wlp_heartbeat_01
    wire/frame/channel-zero-for-connection wire/frame/channel-class-on-zero wire/frame/content-channel-open
    wire/method/unknown-class wire/method/unknown-method wire/method/truncated-arguments
    wire/method/trailing-octets wire/method/server-only wire/strings/shortstr-zero-octet wire/table/malformed
    wire/content/aborted-by-method wire/content/malformed-header wire/content/body-exceeds-size
    wire/content/unexpected-header wire/content/unexpected-body wire/heartbeat/missed
    connection/grammar connection/start/protocol-name connection/start/server-support
    connection/start-ok/mechanism/validity connection/start-ok/locale connection/secure
    connection/tune/channel-max connection/tune-ok/channel-max/upper-limit
    connection/tune-ok/frame-max/minimum-chosen connection/tune-ok/frame-max/upper-limit
    connection/open/virtual-host/security
    constant/invalid-path constant/frame-error constant/command-invalid constant/access-refused
    constant/not-found constant/precondition-failed constant/content-too-large
    channel/grammar channel/open/state
    exchange/default-access exchange/declare/exchange/reserved exchange/declare/exchange/syntax
    exchange/declare/type/typed exchange/declare/type/support exchange/declare/passive/not-found
    exchange/declare/passive/equivalent-mismatch exchange/delete/exchange/exists
    exchange/delete/if-unused/in-use exchange/bind/destination/exchange-existence
    exchange/bind/source/exchange-existence exchange/unbind/destination/must-exist
    exchange/unbind/source/must-exist
    queue/declare/queue/reserved queue/declare/queue/syntax queue/declare/passive/not-found
    queue/declare/passive/equivalent-mismatch queue/declare/exclusive/passive queue/declare/exclusive/exclusive
    queue/bind/queue/queue-known queue/bind/queue/must-exist queue/bind/exchange/exchange-existence
    queue/unbind/queue/queue-known queue/unbind/queue/must-exist queue/unbind/exchange/must-exist
    queue/purge/queue/queue-known queue/purge/queue/must-exist queue/delete/queue/queue-known
    queue/delete/queue/must-exist queue/delete/if-unused/in-use queue/delete/if-empty/not-empty
    domain/queue-name/unknown
    basic/consume/consumer-tag/duplicate basic/consume/consumer-tag/channel-local basic/consume/exclusive/in-use
    basic/consume/exclusive/alone basic/publish/exchange/must-exist basic/publish/exchange/internal
    basic/ack/multiple/exists-once basic/ack/multiple/exists-unknown basic/ack/multiple/exists-transacted
    basic/nack/multiple/exists-once basic/nack/multiple/exists-unknown
    tx/commit/transacted tx/rollback/transacted
    confirm/select/transacted
"""
REFUSALS = MethodRefusals(
    ledger="amqp-0-9-1",
    rows=tuple(_ROWS.split()),
    unjudged=("constant/precondition-failed",),
    borrowed=("constant/not-implemented",),
    on_channel_zero=(
        "connection/", "amq_wlp_frame_03", "amq_wlp_content_03", "wire/frame/channel-class-on-zero",
        "wire/frame/content-channel-open", "constant/invalid-path", "constant/command-invalid",
    ),
)  # fmt: skip
DIALECT_FAULTS = Faults(tuple(fault for fault in FAMILY.values() if fault.breaks), REFUSALS)
