"""The basic class, second half: ack, reject, nack, recover.

Knows: which deliveries a tag means, and what becomes of them, now or at commit.
Must not know: how a queue takes a message back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from amqpspec.reference.methods import outgoing
from amqpspec.reference.methods.handlers import handles
from amqpspec.reference.model import Delivery
from amqpspec.reference.model.queues import MAX_REDELIVERIES
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session

Rules: TypeAlias = tuple[str, str, str]
Settle: TypeAlias = "Callable[[Session, list[Delivery]], None]"

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
def ack(session: Session, call: Call) -> None:
    """The client has dealt with messages."""
    _settle(session, _selected(session, call["delivery_tag"], call["multiple"], _ACK), _acked)


@handles("basic.reject")
def reject(session: Session, call: Call) -> None:
    """The client cannot deal with a message."""
    selected = _selected(session, call["delivery_tag"], False, _REJECT)
    _settle(session, selected, _refused if call["requeue"] else _discarded)


@handles("basic.nack")
def nack(session: Session, call: Call) -> None:
    """The client cannot deal with messages."""
    selected = _selected(session, call["delivery_tag"], call["multiple"], _NACK)
    _settle(session, selected, _refused if call["requeue"] else _discarded)


def _selected(session: Session, tag: int, multiple: bool, rules: Rules) -> list[Delivery]:
    selected = session.deliveries.select(tag, multiple)
    if selected is None and session.faulty("delivery-tags-of-connection"):
        found = (other.deliveries.select(tag, multiple) for other in session.link.sessions.values())
        selected = next(filter(None, found), None)
    if selected is not None:
        return selected
    once, unknown, transacted = rules
    if tag in session.deliveries.held_back:
        rule = transacted
    else:
        rule = once if 0 < tag <= session.deliveries.last_tag else unknown
    session.refuse(rule, f"delivery tag {tag} is not outstanding on this channel")
    return []


def _settle(session: Session, selected: list[Delivery], settle: Settle) -> None:
    if session.transaction is None or session.faulty("ack-applied-before-commit"):
        settle(session, selected)
        return
    for delivery in selected:
        session.deliveries.hold_back(delivery)
    session.transaction.work.append(partial(settle, session, selected))


def _acked(session: Session, selected: list[Delivery]) -> None:
    if session.faulty("acked-message-kept"):
        session.give_back(selected)
    for delivery in selected:
        session.deliveries.release(delivery)
        delivery.queue.settle(delivery.entry)
    _windows_moved(session)


def _refused(session: Session, selected: list[Delivery]) -> None:
    if session.faulty("requeue-flag-ignored"):
        _discarded(session, selected)
    else:
        session.give_back(selected, refused=True)
    _windows_moved(session)


def _discarded(session: Session, selected: list[Delivery]) -> None:
    if session.faulty("discard-requeues"):
        session.give_back(selected)
        selected = []
    for delivery in selected:
        session.deliveries.release(delivery)
        delivery.queue.discard(delivery.entry)
    _windows_moved(session)


def _windows_moved(session: Session) -> None:
    shared = session.link.window
    if shared.max_count or shared.max_octets:
        session.link.pump()
    else:
        session.pump()


# --- recover


@handles("basic.recover-async")
def recover_async(session: Session, call: Call) -> None:
    """Send again what is unacknowledged."""
    _recover(session, call["requeue"])


@handles("basic.recover")
@handles("basic.recover-sync")
def recover(session: Session, call: Call) -> None:
    """Send again what is unacknowledged, after saying so."""
    late = session.faulty("recover-ok-after-messages")
    if late:
        _recover(session, call["requeue"])
    if call.method.replies and not session.faulty("recover-not-confirmed"):
        session.send(call.method.replies[0])
    if not late:
        _recover(session, call["requeue"])


def _recover(session: Session, requeue: bool) -> None:
    if session.faulty("recover-does-nothing"):
        return
    outstanding = list(session.deliveries.outstanding.values())
    if session.faulty("recover-forgets-redelivered"):
        for delivery in outstanding:
            delivery.entry.deliveries = 0
    if session.faulty("recover-always-requeues"):
        requeue = True
    again = [] if requeue else [d for d in outstanding if _goes_to_its_consumer(session, d)]
    session.give_back([d for d in outstanding if d not in again])
    for delivery in again:
        _send_again(session, delivery)


def _goes_to_its_consumer(session: Session, delivery: Delivery) -> bool:
    consumer = delivery.consumer
    alive = consumer is not None and session.consumers.get(consumer.tag) is consumer
    return alive and session.flowing and delivery.entry.deliveries <= MAX_REDELIVERIES


def _send_again(session: Session, delivery: Delivery) -> None:
    if delivery.consumer is not None:
        session.deliveries.release(delivery)
        redelivered = delivery.entry.redelivered
        delivery.entry.deliveries += 1
        outgoing.deliver(session, delivery.consumer, delivery.entry, redelivered)
