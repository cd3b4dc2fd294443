"""Subscriptions: which session receives messages of which queue, and how many.

Knows: subscribe, cancel, flow modes, credit. Must not know: what a transfer looks like.
"""

from __future__ import annotations

from functools import partial

from amqpspec.reference.amqp_0_10.credit import CREDIT, MESSAGES, OCTETS, Credit
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.owning import check_owner
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import EXPLICIT, NOT_ACQUIRED, PRE_ACQUIRED, Subscription, taker_of
from amqpspec.reference.amqp_0_10.transactions import check_accept_mode
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Queue

_ROOM = 16


@executes("message.subscribe")
def subscribe(session: Session, order: Order) -> None:
    """Begin a subscription; it has no credit yet."""
    taker, name = taker_of(session), order["destination"] or ""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        session.refuse("message/subscribe/queue-not-found", f"no queue {order['queue']!r}", "queue")
        return
    check_owner(session, queue)
    check_accept_mode(session, order["accept_mode"])
    if name in taker.subscriptions or (session.faulty("destinations-are-shared") and _is_used(session, name)):
        rule = "message/subscribe/destination/unique-subscriber-destination"
        session.refuse(rule, f"{name!r} is taken", "destination")
        return
    _check_alone(session, queue, exclusive=bool(order["exclusive"]))
    acquire_mode = NOT_ACQUIRED if session.faulty("nothing-acquired") else order["acquire_mode"]
    waits = order["accept_mode"] == EXPLICIT or session.faulty("mode-none-waits-for-accept")
    takes_at_once = not waits and acquire_mode == PRE_ACQUIRED
    consumer = Consumer(name, queue, taker, no_ack=takes_at_once, exclusive=bool(order["exclusive"]))
    subscription = Subscription(name, consumer, order["accept_mode"], acquire_mode, Credit(session.faulty))
    taker.subscriptions[name] = subscription
    session.vhost.add_consumer(consumer)
    if acquire_mode == NOT_ACQUIRED and not session.faulty("everything-acquired"):
        queue.watchers[id(subscription)] = partial(taker.browse, subscription)
    queue.dispatch()


def _is_used(session: Session, name: str) -> bool:
    """A fault: whether any session has a subscription of that destination."""
    return any(
        consumer.tag == name for queue in session.vhost.queues.values() for consumer in queue.consumers
    )


def _check_alone(session: Session, queue: Queue, *, exclusive: bool) -> None:
    consumers, taker = queue.consumers, taker_of(session)
    if session.faulty("sessions-share-what-is-exclusive"):
        consumers = [consumer for consumer in consumers if consumer.taker is not taker]
    if any(consumer.exclusive for consumer in consumers):
        session.refuse(
            "message/subscribe/exclusive/alone", f"{queue.name!r} has an exclusive subscriber", "queue"
        )
    elif exclusive and (consumers or (queue.had_consumer and session.faulty("exclusive-comes-first-only"))):
        session.refuse("message/subscribe/exclusive/in-use", f"{queue.name!r} has subscribers", "exclusive")
    if len(consumers) >= _ROOM - 1 and session.faulty("fifteen-subscriptions-at-most"):
        session.core.refuse("message/subscribe/exclusive/in-use", "no room for another subscription")


@executes("message.cancel")
def cancel(session: Session, order: Order) -> None:
    """End a subscription; its transfers stay."""
    subscription = _subscription(session, order, "message/cancel/destination/subscription-not-found")
    if subscription is None or session.faulty("cancel-does-nothing"):
        return
    taker = taker_of(session)
    taker.leave(subscription)
    if session.faulty("destinations-stay-taken"):
        taker.subscriptions[subscription.destination] = subscription
    mine = [held for held in taker.held.values() if held.queue is subscription.consumer.queue]
    if session.faulty("cancel-releases-transfers"):
        for held in mine:
            del taker.held[held.number]
            held.give_back(redelivered=True)
    elif session.faulty("cancel-forgets-transfers"):
        for held in mine:
            del taker.held[held.number]


def _subscription(session: Session, order: Order, rule: str) -> Subscription | None:
    name = order["destination"] or ""
    found = taker_of(session).subscriptions.get(name)
    if found is None:
        session.refuse(rule, f"no subscription {name!r}", "destination")
    return found


# --- flow


@executes("message.set-flow-mode")
def set_flow_mode(session: Session, order: Order) -> None:
    """Choose between balance and window, if there is no credit."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is None or order["flow_mode"] == subscription.credit.mode:
        return
    forever = subscription.credit.mode == CREDIT and session.faulty("credit-mode-is-forever")
    if forever or not subscription.credit.is_zero:
        session.refuse("message/set-flow-mode/mode-switching", "there is credit left", "flow_mode")
    if not session.faulty("flow-mode-stays"):
        subscription.credit.mode = order["flow_mode"]


@executes("message.flow")
def flow(session: Session, order: Order) -> None:
    """Give credit."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is not None:
        unit = OCTETS if order["unit"] != MESSAGES else MESSAGES
        subscription.credit.add(unit, order["value"])
        subscription.consumer.queue.dispatch()


@executes("message.flush")
def flush(session: Session, order: Order) -> None:
    """Send available messages as far as credit allows, even if the socket is full; then set the credit to zero."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is None:
        return
    taker = taker_of(session)
    taker.flushing = not session.faulty("flush-waits-for-nobody")
    subscription.consumer.queue.dispatch()
    taker.flushing = False
    if not session.faulty("flush-leaves-credit"):
        subscription.credit.take_all()


@executes("message.stop")
def stop(session: Session, order: Order) -> None:
    """Take all credit."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is None or session.faulty("stop-does-nothing"):
        return
    octets = subscription.credit.octets
    subscription.credit.take_all()
    if session.faulty("stop-takes-messages-only"):
        subscription.credit.octets = octets


FAULTS = fault_table("""
nothing-acquired: mode pre-acquired is treated as not-acquired [message/acquire-mode/pre-acquired]
sessions-share-what-is-exclusive: a session may subscribe again beside its own exclusive subscription
    [message/subscribe/exclusive/alone message/subscribe/exclusive/in-use]
destinations-are-shared: a destination of another session counts as in use
    [message/subscribe/destination/session-local]
destinations-stay-taken: a destination is not free after cancel
    [message/subscribe/destination/unique-subscriber-destination]
exclusive-comes-first-only: a queue that ever had a subscriber grants no exclusive one
    [message/subscribe/exclusive/in-use]
fifteen-subscriptions-at-most: a queue has room for fifteen subscriptions
    [message/subscribe/simultaneous-subscriptions]
cancel-does-nothing: a subscription continues after cancel [message/cancel/no-more message/subscribe/lifetime]
cancel-releases-transfers: cancel returns transfers that are neither accepted nor released
    [message/cancel/post-cancel-transfer-resolution/unaffected]
cancel-forgets-transfers: transfers from before a cancel can no longer be settled
    [message/cancel/post-cancel-transfer-resolution/resolvable]
credit-mode-is-forever: a subscription in credit mode never leaves it [message/set-flow-mode/mode-switching]
flow-mode-stays: set-flow-mode changes nothing [message/set-flow-mode/credit]
flush-waits-for-nobody: flush is complete although messages wait for room in the socket [message/flush/exhausts]
flush-leaves-credit: flush does not clear the credit [message/flush/exhausts]
stop-does-nothing: stop does not clear the credit [message/stop/zero message/stop/completion]
stop-takes-messages-only: stop leaves credit in octets [message/stop/zero]
""")
