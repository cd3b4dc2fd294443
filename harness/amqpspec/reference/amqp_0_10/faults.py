"""The faults of the 0-10 broker: what it refuses by rule, how refusing is wrong, and every behaviour that can be.

Knows: rows of the 0-10 ledger, which modules act out faults. Must not know: when a rule is broken, how a fault acts.

The shared model ties its faults to rows of 0-9-1. One of them is a fault here as well where a row of this ledger is the
same duty (``same_as``), or where ``_SPOKEN_AS`` says which row tells it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amqpspec.reference import core
from amqpspec.reference.amqp_0_10 import (
    accounting,
    assembling,
    attaching,
    connection,
    damage,
    executing,
    heartbeats,
    inbox,
    login,
    outgoing,
    owning,
    session,
    wire,
)
from amqpspec.reference.amqp_0_10.classes import CLASSES
from amqpspec.reference.fault import Fault, word_table
from amqpspec.reference.faults import Faults
from amqpspec.reference.model import deliveries, exchanges, queues, routing, vhost
from amqpspec.reference.refusals import MUTE, RefusalRules, passes
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Refusal, Requirement, Scope

_LEDGER = "amqp-0-10"
_MODULES = (
    wire,
    assembling,
    inbox,
    connection,
    login,
    attaching,
    accounting,
    session,
    outgoing,
    owning,
    executing,
    damage,
    heartbeats,
    *CLASSES,
)
_SHARED = (core, exchanges, routing, vhost, queues, deliveries)

_ROWS = """
    transport/negotiation/unsupported transport/negotiation/unparseable
    segment-type/values track/control/zero track/command/one
    transport/assemblies/flags transport/frame/version transport/frame/reserved-bits
    transport/frame/size-below-header transport/frame/segment-type transport/tracks/reserved
    map/distinct-keys encoding/type-codes/reserved encoding/map/malformed encoding/packing/reserved-flags
    encoding/struct/required-field encoding/command/unknown-class encoding/command/unknown-command
    encoding/command/truncated encoding/command/trailing encoding/command/wrong-side
    encoding/header-segment/one-of-each encoding/segments/required-header encoding/segments/unexpected
    connection/grammar connection/close-code/invalid-path
    connection/start-ok/mechanism/validity connection/start-ok/locale connection/secure
    connection/tune-ok/channel-max/upper-limit connection/tune-ok/channel-max/available-channels
    connection/tune-ok/max-frame-size/minimum/chosen
    connection/tune-ok/max-frame-size/max-frame-size/refused
    connection/tune-ok/max-frame-size/upper-limit connection/tune-ok/heartbeat/permitted-range
    connection/open/virtual-host/security
    session/attachment/discarded session/attachment/commands session/attach/one-transport-per-session
    session/attach/one-session-per-transport session/command-point/before-commands
    session/command-point/zero-offset/framing-error session/command-point/nonzero-offset/framing-error
    type/sequence-set/disjoint byte-ranges/ascending byte-ranges/disjoint
    execution/error-code/not-found execution/error-code/not-implemented
    execution/error-code/unauthorized-access execution/error-code/illegal-argument
    message/transfer/destination/nonexistent-exchange message/reject-code/unroutable
    message/subscribe/queue-not-found message/subscribe/destination/unique-subscriber-destination
    message/cancel/destination/subscription-not-found message/subscribe/queue-deletion
    message/subscribe/exclusive/alone message/subscribe/exclusive/in-use message/set-flow-mode/mode-switching
    message/reject-code/immediate message/message-properties/user-id/authentication message/accept/acquisition
    message/resume/destination/destination-not-found
    tx/select/exactly-once tx/select/no-dtx tx/select/explicit-accepts/subscribe tx/select/explicit-accepts/select
    tx/commit/select-required tx/rollback/select-required
    dtx/select/required dtx/start/illegal-state dtx/start/already-known dtx/start/join-and-resume
    dtx/start/xid/unknown-xid dtx/end/illegal-state dtx/end/suspend-and-fail
    dtx/end/xid/not-associated dtx/end/suspend/resume
    dtx/commit/illegal-state dtx/commit/xid/unknown-xid dtx/commit/xid/not-disassociated
    dtx/commit/one-phase/one-phase dtx/commit/one-phase/two-phase
    dtx/forget/illegal-state dtx/forget/xid/unknown-xid dtx/forget/xid/not-disassociated
    dtx/get-timeout/xid/unknown-xid dtx/set-timeout/xid/unknown-xid
    dtx/prepare/illegal-state dtx/prepare/xid/unknown-xid dtx/prepare/xid/not-disassociated
    dtx/rollback/illegal-state dtx/rollback/xid/unknown-xid dtx/rollback/xid/not-disassociated
    exchange/declare/exchange/reserved-names exchange/declare/exchange/exchange-name-required
    exchange/declare/type/typed exchange/declare/type/exchange-type-not-found
    exchange/declare/alternate-exchange/pre-existing-exchange exchange/declare/passive/not-found
    exchange/declare/arguments/unknown-argument
    exchange/delete/exchange/exists exchange/delete/exchange/exchange-name-required
    exchange/delete/exchange/used-as-alternate exchange/delete/if-unused/exchange-in-use/refused
    exchange/bind/queue/empty-queue exchange/bind/queue/queue-existence exchange/bind/exchange/exchange-existence
    exchange/bind/exchange/exchange-name-required exchange/bind/arguments/unknown-argument
    exchange/unbind/queue/non-existent-queue exchange/unbind/exchange/non-existent-exchange
    exchange/unbind/exchange/exchange-name-required exchange/unbind/binding-key/non-existent-binding-key
    queue/name/syntax queue/declare/queue/reserved-prefix queue/declare/alternate-exchange/pre-existing-exchange
    queue/declare/alternate-exchange/unknown-exchange queue/declare/passive/passive
    queue/declare/exclusive/in-use queue/declare/arguments/unknown-argument
    queue/delete/queue/empty-name queue/delete/queue/queue-exists
    queue/delete/if-unused/if-unused-flag queue/delete/if-empty/not-empty
    queue/purge/queue/empty-name queue/purge/queue/queue-exists/refused
    file/consume/queue/queue-exists-if-empty file/consume/consumer-tag/not-existing-consumer/refused
    file/consume/consumer-tag/not-empty-consumer-tag file/consume/exclusive/in-use
    file/open/content-size/content-size file/publish/exchange/must-exist file/publish/identifier/staged
    file/ack/delivery-tag/session-local file/ack/multiple/validation/refused file/reject/delivery-tag/session-local
    stream/consume/queue/queue-exists-if-empty stream/consume/consumer-tag/not-existing-consumer/refused
    stream/consume/consumer-tag/not-empty-consumer-tag stream/consume/exclusive/in-use
    stream/publish/exchange/must-exist
"""
_ALSO = word_table("""
message/reject-code/unroutable: message/delivery-properties/discard-unroutable/unset
message/reject-code/immediate: message/delivery-properties/immediate/unroutable
tx/select/exactly-once: tx/select/first
file/consume/consumer-tag/not-existing-consumer/refused: file/consume/consumer-tag/not-existing-consumer/unique
stream/consume/consumer-tag/not-existing-consumer/refused: stream/consume/consumer-tag/not-existing-consumer/unique
file/ack/multiple/validation/refused: file/ack/multiple/validation/checked
tx/commit/select-required: execution/error-code/illegal-state
message/subscribe/queue-deletion: execution/error-code/resource-deleted
exchange/declare/exchange/exchange-name-required: exchange/default-access/publish-only
queue/delete/queue/queue-exists: execution/error-code/not-found
exchange/delete/exchange/exchange-name-required: exchange/default-access/refused
exchange/bind/exchange/exchange-name-required: exchange/default-access/refused
exchange/unbind/exchange/exchange-name-required: exchange/default-access/refused
queue/declare/exclusive/in-use: queue/declare/exclusive/one-session execution/error-code/resource-locked
queue/declare/arguments/unknown-argument: execution/error-code/not-implemented
exchange/declare/type/typed: execution/error-code/not-allowed
queue/delete/queue/empty-name: execution/error-code/invalid-argument
session/command-point/before-commands: session/command-point/newly-attached-transports/detached
session/command-point/zero-offset/framing-error: session/command-point/zero-offset/next-frame
session/command-point/nonzero-offset/framing-error: session/command-point/nonzero-offset/next-frame
session/attach/one-transport-per-session: session/detach-code/session-busy
session/attach/one-session-per-transport: session/detach-code/transport-busy
session/attachment/discarded: session/attachment/attached-first
queue/purge/queue/queue-exists/refused: queue/purge/queue/queue-exists/known
encoding/command/truncated: struct32/first-six-octets execution/error-code/command-invalid
connection/close-code/invalid-path: connection/open/insist/behavior/close
connection/tune-ok/channel-max/available-channels: connection/tune/channel-max/limit
transport/frame/version: connection/close-code/framing-error
transport/frame/size-below-header: connection/close-code/framing-error connection/close/reason
connection/tune-ok/heartbeat/permitted-range: connection/tune-ok/heartbeat/no-heartbeat-min
transport/negotiation/unparseable: connection/start/protocol-name
""")
_SPOKEN_AS = word_table("""
priority-ignored: file/priority-levels/two file/priority-levels/ten
    stream/priority-levels/two stream/priority-levels/ten
    message/min-priority-levels message/delivery-properties/priority/order
low-priority-first: file/priority-levels/two stream/priority-levels/two message/min-priority-levels
priority-five-is-low: file/priority-levels/two stream/priority-levels/two message/priority-level-implementation
persistent-message-lost: file/reliable-storage session/confirmed/durability
    message/delivery-mode/persistent/stored message/delivery-mode/persistent/more-than-once
no-local-ignored: file/consume/no-local stream/consume/no-local
no-local-blocks-all: file/consume/no-local stream/consume/no-local
consumer-ends-with-first-message: file/consume/lifetime stream/consume/lifetime
deliveries-not-counted: file/deliver/redelivery-tracking/poison
rejected-goes-back-to-rejecter:
    file/reject/requeue/requeue-strategy/same-client file/reject/requeue/requeue-strategy/alternative
immediate-ignored: file/publish/immediate/return file/publish/immediate/implementation
    stream/publish/immediate/return stream/publish/immediate/implementation
prefetch-one-too-many: file/qos/prefetch-count/prefetch-discretion/no-more file/qos/prefetch-count/windows
    stream/qos/prefetch-count/windows
prefetch-one-too-few: file/qos/prefetch-count/prefetch-discretion/less
prefetch-size-ignored: file/qos/prefetch-count/windows
zero-octets-is-a-limit: file/qos/prefetch-size
window-never-reopens: file/qos/session stream/qos/session
delivery-tags-start-at-zero: file/deliver/delivery-tag/non-zero
multiple-leaves-last: file/ack/multiple/up-to
multiple-takes-one-more: file/ack/multiple/up-to
multiple-means-one: file/ack/multiple/up-to
multiple-always-meant: file/ack/multiple/up-to
tag-zero-means-none: file/ack/multiple/up-to
auto-delete-without-a-consumer-ever: queue/declare/auto-delete/last-consumer
dead-letters-dropped: queue/declare/alternate-exchange/routed queue/delete/messages
no-default-binding: exchange/default-exchange
one-binding-per-destination: exchange/bind/binding-key/identity
""")
"""Rows of this ledger that a fault of the shared model violates, if none has the same name."""
_NOT_ACTED_OUT = frozenset({"rolled-back-again-each-time", "unbind-in-vain-ends-exchange"})
"""Faults of the shared model at spots that this broker does not use.

Transactions keep their own books (``taking``), and an unbind that finds no binding is refused before the model sees it
(amqp-0-10 exchange/unbind/binding-key/non-existent-binding-key).
"""

_EASILY_CONFUSED: dict[Scope, tuple[int | str, ...]] = {
    Scope.CONNECTION: (320, 402, 501),
    Scope.SESSION: (541, 404, 406, 530, 503),
    Scope.DELIVERY: ("unspecified", "immediate"),
}
_BY_NAME = ("not-attached", "session-busy", "transport-busy", "unknown-ids")
_ANY_CODE = 501


class _Refusals(RefusalRules):
    """Numbers for connections and executions, names for detaching, scopes from the delivery to the socket."""

    def confused(self, right: Refusal) -> tuple[int | str, ...]:
        """Names for names, numbers of the same scope for numbers."""
        return _BY_NAME if right.code in _BY_NAME else _EASILY_CONFUSED[right.scope]

    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """The next scope that the ledger does not tolerate; MUTE is silence."""
        first = row.accepts[0]
        wider = (Refusal(Scope.CONNECTION, _ANY_CODE), Refusal(Scope.SOCKET))
        return next((r for r in wider if r.scope is not first.scope and not passes(r, row)), MUTE)


def _of_the_model() -> Iterator[Fault]:
    """Faults of the shared model, by the rows of this ledger that tell them."""
    ledger = load_ledger(_LEDGER)
    own = {row.same_as: row.id for row in ledger.values() if row.same_as and row.testable}
    base = load_ledger("amqp-0-9-1")
    same = {row.id: own[row.same_as or row.id] for row in base.values() if (row.same_as or row.id) in own}
    for module in _SHARED:
        for fault in getattr(module, "FAULTS", ()):
            if fault.name in _NOT_ACTED_OUT:
                continue
            rows = [same[row] for row in fault.breaks if row in same]
            rows = [*rows, *_SPOKEN_AS.get(fault.name, ())]
            if rows:
                yield replace(fault, breaks=tuple(dict.fromkeys(rows)))


_UNJUDGED = ("execution/error-code/not-found", "execution/error-code/not-implemented")
"""Where the broker refuses by these rows themselves, no other rule covers what it refuses."""

DIALECT_FAULTS = Faults(
    (*(fault for module in _MODULES for fault in getattr(module, "FAULTS", ())), *_of_the_model()),
    _Refusals(ledger=_LEDGER, rows=tuple(_ROWS.split()), also=_ALSO, unjudged=_UNJUDGED),
)
