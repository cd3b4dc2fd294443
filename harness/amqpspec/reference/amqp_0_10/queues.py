"""The queue class.

Knows: the rules for names and flags. Must not know: how a refusal is sent.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.exchanges import ORPHANS, plain
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.owning import check_owner, own
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Queue
from amqpspec.wire.amqp_0_10.values import Packed

_RESERVED = "amq."


@executes("queue.declare")
def declare(session: Session, order: Order) -> None:
    """Create a queue, or find the one of that name."""
    name = order["queue"]
    known = session.vhost.queues.get(name)
    if not name:
        session.refuse("queue/name/syntax", "a queue without a name", "queue")
    if known is not None:
        check_owner(session, known)
    if order["passive"]:
        _passive(session, order, known)
        return
    if name.startswith(_RESERVED):
        session.refuse("queue/declare/queue/reserved-prefix", f"{name!r} is reserved", "queue")
    _check_arguments(session, order)
    if known is not None:
        _check_same(session, order, known)
    else:
        _make(session, order)


def _passive(session: Session, order: Order, known: Queue | None) -> None:
    if known is None:
        if session.faulty("passive-declare-creates-queue"):
            _make(session, order)
        session.refuse("queue/declare/passive/passive", f"no queue {order['queue']!r}", "passive")
    elif session.faulty("passive-queue-declare-looks-at-all"):
        _check_arguments(session, order)
    elif session.faulty("passive-queue-declare-purges"):
        known.purge()


def _check_arguments(session: Session, order: Order) -> None:
    if arguments := plain(order["arguments"]):
        text = f"unknown arguments {sorted(arguments)}"
        session.refuse("queue/declare/arguments/unknown-argument", text, "arguments")
    alternate = order["alternate_exchange"] or ""
    if alternate not in session.vhost.exchanges:
        text = f"no exchange {alternate!r}"
        session.refuse("queue/declare/alternate-exchange/unknown-exchange", text, "alternate_exchange")


def _check_same(session: Session, order: Order, known: Queue) -> None:
    alternate = known.arguments.get(ORPHANS, "")
    known_already = alternate and session.faulty("alternate-exchanges-told-once")
    if alternate != (order["alternate_exchange"] or "") or known_already:
        text = f"the alternate exchange is {alternate!r}"
        session.refuse("queue/declare/alternate-exchange/pre-existing-exchange", text, "alternate_exchange")
    durable, auto_delete = bool(order["durable"]), bool(order["auto_delete"])
    if (known.durable != durable and session.faulty("queue-has-to-be-as-durable")) or (
        known.auto_delete != auto_delete and session.faulty("queue-has-to-be-as-auto-delete")
    ):
        session.core.refuse("queue/declare/alternate-exchange/pre-existing-exchange", "not declared as it is")


def _make(session: Session, order: Order) -> None:
    if session.faulty("two-hundred-queues-at-most") and len(session.vhost.queues) > 200:
        session.core.refuse("queue/declare/queue/reserved-prefix", "no room for another queue")
    alternate = order["alternate_exchange"]
    queue = session.vhost.declare_queue(
        order["queue"],
        durable=bool(order["durable"]) and not session.faulty("durable-queues-are-transient"),
        auto_delete=bool(order["auto_delete"]),
        arguments={ORPHANS: alternate} if alternate else {},
    )
    session.vhost.collect(queue)
    if order["exclusive"] and not session.faulty("no-queue-is-exclusive"):
        own(session, queue)


# --- delete, purge, query


@executes("queue.delete")
def delete(session: Session, order: Order) -> None:
    """Delete a queue."""
    queue = _named(session, order, "queue/delete/queue/queue-exists", "queue/delete/queue/empty-name")
    if queue is None:
        return
    once_used = queue.had_consumer and session.faulty("queue-once-used-is-in-use")
    if order["if_unused"] and (queue.consumers or once_used):
        text = f"{queue.name!r} has consumers"
        session.refuse("queue/delete/if-unused/if-unused-flag", text, "if_unused")
    if order["if_empty"] and queue.ready_count:
        session.refuse("queue/delete/if-empty/not-empty", f"{queue.name!r} has messages", "if_empty")
    if session.faulty("queue-deletion-ends-all-subscribers"):
        for consumer in [consumer for one in session.vhost.queues.values() for consumer in one.consumers]:
            consumer.taker.cancelled(consumer)
    if not session.faulty("delete-keeps-queues"):
        session.vhost.delete_queue(queue)


@executes("queue.purge")
def purge(session: Session, order: Order) -> None:
    """Drop the waiting messages of a queue."""
    queue = _named(session, order, "queue/purge/queue/queue-exists/refused", "queue/purge/queue/empty-name")
    if queue is None or session.faulty("purge-does-nothing"):
        return
    if session.faulty("purge-ends-subscriptions"):
        for consumer in tuple(queue.consumers):
            queue.consumers.remove(consumer)
            consumer.taker.cancelled(consumer)
    queue.purge()


def _named(session: Session, order: Order, missing: str, nameless: str) -> Queue | None:
    """The queue that a command names; a missing name, a missing queue, or another session's queue violates a rule."""
    queue = session.vhost.queues.get(order["queue"])
    if not order["queue"]:
        session.refuse(nameless, "no name of a queue", "queue")
    elif queue is None:
        session.refuse(missing, f"no queue {order['queue']!r}", "queue")
    else:
        check_owner(session, queue)
    return queue


@executes("queue.query")
def query(session: Session, order: Order) -> Packed:
    """Describe a queue and its contents."""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        result = {"queue": order["queue"]} if session.faulty("query-tells-of-unknown-queues") else {}
        return Packed("queue.queue-query-result", result)
    return Packed(
        "queue.queue-query-result",
        {
            "queue": queue.name,
            "alternate_exchange": queue.arguments.get(ORPHANS),
            "durable": queue.durable,
            "exclusive": queue.exclusive,
            "auto_delete": queue.auto_delete,
            "arguments": {},
            "message_count": queue.ready_count + session.faulty("query-counts-one-more"),
            "subscriber_count": 0 if session.faulty("query-counts-no-subscribers") else len(queue.consumers),
        },
    )


FAULTS = fault_table("""
passive-declare-creates-queue: a passive declare creates the queue and is refused [queue/declare/passive/no-create]
passive-queue-declare-looks-at-all: a passive declare checks the arguments [queue/declare/arguments/passive]
durable-queues-are-transient: no queue is durable
    [queue/declare/durable/types queue/declare/durable/restart queue/declare/durable/persistence]
passive-queue-declare-purges: a passive declare empties the queue [queue/declare/passive/passive]
two-hundred-queues-at-most: there is room for two hundred queues [queue/declare/minimum-queues]
queue-once-used-is-in-use: with if-unused, a queue that once had a consumer is not deleted
    [queue/delete/if-unused/if-unused-flag]
queue-deletion-ends-all-subscribers: when a queue is deleted, every session with a subscription ends
    [message/subscribe/queue-deletion]
delete-keeps-queues: a delete leaves the queue with its messages [queue/delete/messages]
no-queue-is-exclusive: every queue is shared [queue/declare/exclusive/types]
queue-has-to-be-as-durable: a second declare must repeat durable
    [queue/declare/durable/pre-existence]
queue-has-to-be-as-auto-delete: a second declare must repeat auto-delete
    [queue/declare/auto-delete/pre-existence]
purge-does-nothing: purge leaves everything as it is [queue/purge/empty]
purge-ends-subscriptions: purge cancels the subscriptions of the queue [queue/purge/subscribers]
query-tells-of-unknown-queues: a query for a queue that does not exist gives its name
    [queue/query/queue-query-result/unknown]
query-counts-one-more: a query counts a message that is not there
    [queue/query/queue-query-result/message-count/counts]
query-counts-no-subscribers: a query counts no subscribers
    [queue/query/queue-query-result/message-count/counts]
alternate-exchanges-told-once: a queue with an alternate exchange cannot be declared with that one again
    [queue/declare/alternate-exchange/pre-existing-exchange]
""")
