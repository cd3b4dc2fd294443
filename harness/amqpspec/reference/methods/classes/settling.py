"""The basic class, second half: ack, reject, nack, recover.

Knows: which deliveries a tag means, and what happens to them, now or at commit.
Must not know: how a queue takes a message back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.handlers import handles
from amqpspec.reference.model import Delivery, Entry, Queue
from amqpspec.reference.model.queues import MAX_REDELIVERIES
from amqpspec.wire.methods.codec import Call

Rules: TypeAlias = tuple[str, str, str]
Settle: TypeAlias = Callable[[Channel, list[Delivery]], None]

_ACK: Rules = (
    "basic/ack/multiple/exists-once",
    "basic/ack/multiple/exists-unknown",
    "basic/ack/multiple/exists-transacted",
)
_NACK: Rules = (
    "basic/nack/multiple/exists-once",
    "basic/nack/multiple/exists-unknown",
    "basic/nack/multiple/exists-once",
)
_REJECT: Rules = ("constant/precondition-failed",) * 3


@handles("basic.ack")
def ack(channel: Channel, call: Call) -> None:
    """The client has dealt with messages."""
    _settle(channel, _selected(channel, call["delivery_tag"], call["multiple"], _ACK), _acked)


@handles("basic.reject")
def reject(channel: Channel, call: Call) -> None:
    """The client cannot deal with a message."""
    selected = _selected(channel, call["delivery_tag"], False, _REJECT)
    _settle(channel, selected, _refused if call["requeue"] else _discarded)


@handles("basic.nack")
def nack(channel: Channel, call: Call) -> None:
    """The client cannot deal with messages."""
    selected = _selected(channel, call["delivery_tag"], call["multiple"], _NACK)
    _settle(channel, selected, _refused if call["requeue"] else _discarded)


def _selected(channel: Channel, tag: int, multiple: bool, rules: Rules) -> list[Delivery]:
    selected = channel.deliveries.select(tag, multiple)
    if selected is None and channel.faulty("delivery-tags-of-connection"):
        found = (other.deliveries.select(tag, multiple) for other in channel.connection.channels.values())
        selected = next(filter(None, found), None)
    if selected is not None:
        return selected
    # Three errors that look alike: a tag settled before, one that was never given, one that a transaction holds.
    once, unknown, transacted = rules
    if tag in channel.deliveries.held_back:
        rule = transacted
    else:
        rule = once if 0 < tag <= channel.deliveries.last_tag else unknown
    channel.refuse(rule, f"delivery tag {tag} is not outstanding on this channel")
    return []


def _settle(channel: Channel, selected: list[Delivery], settle: Settle) -> None:
    """Settle now, or at commit; until then no one else may, so the tags are held back meanwhile."""
    if channel.transaction is None or channel.faulty("ack-applied-before-commit"):
        settle(channel, selected)
        return
    if channel.faulty("transacted-ack-holds-one-message"):
        selected = selected[:1]
    for delivery in selected:
        channel.deliveries.hold_back(delivery)
    channel.transaction.work.append(partial(settle, channel, selected))


def _acked(channel: Channel, selected: list[Delivery]) -> None:
    _finish(channel, selected, Queue.settle, kept=channel.faulty("acked-message-kept"))


def _refused(channel: Channel, selected: list[Delivery]) -> None:
    if channel.faulty("requeue-flag-ignored"):
        _discarded(channel, selected)
    else:
        channel.give_back(selected, refused=True)
    if channel.faulty("requeue-opens-no-window"):
        return
    _windows_moved(channel)


def _discarded(channel: Channel, selected: list[Delivery]) -> None:
    _finish(channel, selected, Queue.discard, kept=channel.faulty("discard-requeues"))


def _finish(
    channel: Channel, selected: list[Delivery], end: Callable[[Queue, Entry], None], *, kept: bool
) -> None:
    """Messages leave their queues permanently; a fault puts them back."""
    if kept:
        channel.give_back(selected)
        selected = []
    for delivery in selected:
        channel.deliveries.release(delivery)
        end(delivery.queue, delivery.entry)
    _windows_moved(channel)


def _windows_moved(channel: Channel) -> None:
    """A window has room again: if it is one of the whole connection, other channels may have waited for it."""
    if channel.faulty("shared-window-opens-for-one-channel"):
        channel.later(channel.pump)
        return
    shared = channel.connection.window
    if shared.max_count or shared.max_octets:
        channel.later(channel.connection.pump)
    else:
        channel.later(channel.pump)


# --- recover


@handles("basic.recover-async")
def recover_async(channel: Channel, call: Call) -> None:
    """Send again what is unacknowledged."""
    channel.later(lambda: _recover(channel, call["requeue"]))


@handles("basic.recover")
@handles("basic.recover-sync")
def recover(channel: Channel, call: Call) -> None:
    """Send again what is unacknowledged, after saying so."""
    if channel.faulty("recover-ok-after-messages"):
        channel.later(lambda: _recover(channel, call["requeue"]))
        channel.later(lambda: channel.later(lambda: _recovered(channel, call)))
    else:
        _recovered(channel, call)
        channel.later(lambda: _recover(channel, call["requeue"]))


def _recovered(channel: Channel, call: Call) -> None:
    if call.method.replies and not channel.faulty("recover-not-confirmed"):
        channel.send(call.method.replies[0])


def _recover(channel: Channel, requeue: bool) -> None:
    """Send again what is outstanding: to the same consumer if it still exists, otherwise through its queue."""
    if channel.faulty("recover-does-nothing"):
        return
    outstanding = list(channel.deliveries.outstanding.values())
    if channel.faulty("recover-forgets-redelivered"):
        for delivery in outstanding:
            delivery.entry.deliveries = 0
    if channel.faulty("recover-stopped-by-a-get") and any(d.consumer is None for d in outstanding):
        return
    if channel.faulty("recover-always-requeues"):
        requeue = True
    again = [] if requeue else [d for d in outstanding if _goes_to_its_consumer(channel, d)]
    channel.give_back([d for d in outstanding if d not in again])
    for delivery in again:
        _send_again(channel, delivery)


def _goes_to_its_consumer(channel: Channel, delivery: Delivery) -> bool:
    consumer = delivery.consumer
    alive = consumer is not None and channel.consumers.get(consumer.tag) is consumer
    return alive and channel.flowing and delivery.entry.deliveries <= MAX_REDELIVERIES


def _send_again(channel: Channel, delivery: Delivery) -> None:
    if delivery.consumer is not None:
        channel.deliveries.release(delivery)
        redelivered = delivery.entry.redelivered
        delivery.entry.deliveries += 1
        channel.deliver(delivery.consumer, delivery.entry, redelivered)


FAULTS = fault_table("""
delivery-tags-of-connection: a tag of another channel is accepted [domain/delivery-tag/channel-local]
acked-message-kept: an acknowledged message returns to its queue
    [basic/explicit-ack basic/ack/multiple basic/get-ok]
requeue-flag-ignored: a message rejected for requeuing is discarded
    [basic/reject/requeue/flag basic/nack/requeue/flag]
discard-requeues: a message rejected without requeue is requeued [basic/reject/requeue/flag basic/nack/requeue/flag]
requeue-opens-no-window: a requeued message does not open the window [basic/qos/prefetch-count]
shared-window-opens-for-one-channel: a window of the connection opens only for the channel that acknowledges
    [basic/qos/global]
transacted-ack-holds-one-message: of a multiple acknowledgement in a transaction, only one message is acknowledged
    [basic/ack/multiple/exists-transacted]
recover-stopped-by-a-get: recover brings nothing back where one of the messages was fetched by get
    [basic/recover-async]
recover-does-nothing: recover brings nothing back
    [basic/recover/redelivered basic/recover-async basic/recover-async/requeue]
recover-always-requeues: recover without requeue does not go back to the same consumer
    [basic/recover-async/requeue domain/redelivered/implementation-recipient]
recover-forgets-redelivered: recovered messages are not marked as redelivered
    [basic/recover/redelivered basic/recover-async/redelivered]
recover-not-confirmed: recover is not answered [basic/recover-ok]
recover-ok-after-messages: recover is answered after the messages that it brings back [wire/content/synchronisation]
ack-applied-before-commit: a transacted acknowledgement takes effect at once [tx/rollback tx/atomic]
""")
