"""Outcomes of transfers to a client: accept, reject, release, acquire.

Knows: the states of a transfer. Must not know: subscriptions, credit (no outcome changes it).
"""

from __future__ import annotations

from functools import partial

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import Taker, taker_of
from amqpspec.reference.amqp_0_10.work import Held
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.serial import SerialSet
from amqpspec.wire.amqp_0_10.values import Packed


@executes("message.accept")
def accept(session: Session, order: Order) -> None:
    """Accept transfers; in a transaction, when it commits."""
    taker = taker_of(session)
    named = taker.named(order["transfers"])
    if any(not held.acquired for held in named) and not session.faulty("accept-acquires"):
        session.refuse("message/accept/acquisition", "not acquired", "transfers")
    for held in named:
        if not held.acquired and not session.faulty("accept-acquires"):
            continue
        held.acquire()
        del taker.held[held.number]
        if taker.work is not None and not session.faulty("accepts-are-not-transacted"):
            taker.work.accepted.append(held)
        else:
            held.settle()
        if session.faulty("accept-gives-credit"):
            _give_credit(taker, held)
        if session.faulty("accepted-messages-come-again"):
            held.queue.unacked.add(held.entry)
            held.queue.give_back([held.entry])
        if session.faulty("accepted-ids-live-on"):
            held.queue.unacked.add(held.entry)
            taker.held[held.number] = held


@executes("message.reject")
def reject(session: Session, order: Order) -> None:
    """Reject transfers: acquired ones go to the alternate exchange of their queue, others stay."""
    taker = taker_of(session)
    for held in taker.named(order["transfers"]):
        if session.faulty("reject-acquires"):
            held.acquire()
        if not held.acquired:
            continue
        del taker.held[held.number]
        if session.faulty("rejected-message-stays"):
            held.queue.give_back([held.entry])
        else:
            held.queue.discard(held.entry)
            held.entry.deliveries = 0
        if session.faulty("rejected-ids-live-on"):
            held.queue.unacked.add(held.entry)
            taker.held[held.number] = held
        if session.faulty("accept-gives-credit"):
            _give_credit(taker, held)


@executes("message.release")
def release(session: Session, order: Order) -> None:
    """Release transfers: acquired messages return to their positions."""
    taker = taker_of(session)
    flag = bool(order["set_redelivered"])
    if session.faulty("release-always-sets-redelivered"):
        flag = True
    named = taker.named(order["transfers"])
    if session.faulty("released-messages-are-lost"):
        return
    for held in named:
        del taker.held[held.number]
        if session.faulty("accept-gives-credit"):
            _give_credit(taker, held)
        if held.acquired:
            session.core.later(partial(_return, session, held, flag))


def _return(session: Session, held: Held, flag: bool) -> None:
    """A message returns to its position; its previous recipient gets it first (delivery-properties.redelivered)."""
    queue, taker = held.queue, taker_of(session)
    if session.faulty("released-messages-go-to-the-end"):
        held.entry.position |= 1 << 40
    held.give_back(redelivered=flag)
    if session.faulty("released-messages-count-as-new"):
        held.entry.deliveries = int(flag)
    others_first = session.faulty("others-come-first")
    queue.consumers.sort(key=lambda consumer: (consumer.taker is taker) is others_first)
    queue.dispatch()


@executes("message.acquire")
def acquire(session: Session, order: Order) -> Packed | None:
    """Acquire messages that were shown; the result names those that were still available."""
    taker = taker_of(session)
    named = taker.named(order["transfers"])
    found = [held for held in named if held.acquire()]
    if session.faulty("everything-can-be-acquired"):
        found = named
    if not found and session.faulty("empty-acquires-not-answered"):
        return None
    acquired = SerialSet.of((held.number, held.number) for held in found)
    return Packed("message.acquired", {"transfers": acquired.ranges})


def _give_credit(taker: Taker, held: Held) -> None:
    subscription, octets = taker.in_windows.get(held.number, (None, 0))
    if subscription is not None:
        taker.gives_back(subscription, octets)


FAULTS = fault_table("""
accept-acquires: messages that were not acquired can be accepted [message/accept/acquisition]
accepts-are-not-transacted: an accept within a transaction takes effect at once [tx/rollback/effect dtx/rollback/effect]
accepted-messages-come-again: an accepted message returns to its queue
    [message/delivery-mode/non-persistent/at-most-once]
others-come-first: a released message is offered to another consumer first
    [message/delivery-properties/redelivered/implementation/recipient]
accept-gives-credit: accept, reject and release give credit back as completion does
    [message/set-flow-mode/completion-only]
accepted-ids-live-on: an accepted message can be settled again [message/accept/reference]
reject-acquires: messages that were not acquired can be rejected
    [message/reject/acquisition/ignored message/reject/acquisition/required]
rejected-message-stays: a rejected message returns to its queue
    [queue/declare/alternate-exchange/removed queue/declare/alternate-exchange/routed
    message/reject/alternate-exchange/delivered]
rejected-ids-live-on: a rejected message can be settled again [message/reject/reference]
release-always-sets-redelivered: a released message always returns as redelivered
    [message/release/set-redelivered/unset]
released-messages-count-as-new: release without set-redelivered clears the flag
    [message/release/set-redelivered/unset]
released-messages-are-lost: a released message is lost [message/release/available]
released-messages-go-to-the-end: a released message goes to the end of its queue
    [message/release/ordering/position message/release/ordering/out-of-order]
everything-can-be-acquired: acquire returns messages that another session has acquired
    [message/acquire/one-to-one message/acquire-mode/not-acquired message/accept-mode/none]
empty-acquires-not-answered: an acquire of nothing has no result [message/acquire/one-to-one]
""")
