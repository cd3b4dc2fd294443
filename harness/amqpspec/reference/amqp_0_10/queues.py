"""The queue class.

Knows: what the ledger asks of names and flags. Must not know: how a refusal is said.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.wire.amqp_0_10.values import Packed


@executes("queue.declare")
def declare(session: Session, order: Order) -> None:
    """Create a queue, or find the one of that name."""
    name, known = order["queue"], session.vhost.queues.get(order["queue"])
    if known is None and order["passive"]:
        session.refuse("queue/declare/passive/passive", f"no queue {name!r}", "passive")
    session.vhost.declare_queue(
        name,
        durable=bool(order["durable"]),
        auto_delete=bool(order["auto_delete"]),
        owner=session if order["exclusive"] else None,
    )


@executes("queue.delete")
def delete(session: Session, order: Order) -> None:
    """Delete a queue."""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        session.refuse("queue/delete/queue/queue-exists", f"no queue {order['queue']!r}", "queue")
    else:
        session.vhost.delete_queue(queue)


@executes("queue.query")
def query(session: Session, order: Order) -> Packed:
    """Tell what a queue is and holds."""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        return Packed("queue.queue-query-result", {})
    return Packed(
        "queue.queue-query-result",
        {
            "queue": queue.name,
            "durable": queue.durable,
            "exclusive": queue.exclusive,
            "auto_delete": queue.auto_delete,
            "arguments": dict(queue.arguments),
            "message_count": queue.ready_count,
            "subscriber_count": len(queue.consumers),
        },
    )
