"""The exchange class.

Knows: what the ledger asks of names and types. Must not know: how a refusal is said.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.model import EXCHANGE_TYPES, Binding
from amqpspec.wire.amqp_0_10.values import Map


@executes("exchange.declare")
def declare(session: Session, order: Order) -> None:
    """Create an exchange, or find the one of that name."""
    name, known = order["exchange"], session.vhost.exchanges.get(order["exchange"])
    if known is None and order["passive"]:
        session.refuse("exchange/declare/passive/not-found", f"no exchange {name!r}", "passive")
        return
    if order["type"] not in EXCHANGE_TYPES:
        session.refuse("exchange/declare/type/exchange-type-not-found", f"no type {order['type']!r}", "type")
        return
    session.vhost.declare_exchange(
        name, order["type"], durable=bool(order["durable"]), auto_delete=bool(order["auto_delete"])
    )


@executes("exchange.delete")
def delete(session: Session, order: Order) -> None:
    """Delete an exchange."""
    exchange = session.vhost.exchanges.get(order["exchange"])
    if exchange is None:
        session.refuse("exchange/delete/exchange/exists", f"no exchange {order['exchange']!r}", "exchange")
    else:
        session.vhost.delete_exchange(exchange)


@executes("exchange.bind")
def bind(session: Session, order: Order) -> None:
    """Bind a queue to an exchange."""
    queue, exchange = session.vhost.queues.get(order["queue"]), session.vhost.exchanges.get(order["exchange"])
    if queue is None:
        session.refuse("exchange/bind/queue/queue-existence", f"no queue {order['queue']!r}", "queue")
    elif exchange is None:
        session.refuse(
            "exchange/bind/exchange/exchange-existence", f"no exchange {order['exchange']!r}", "exchange"
        )
    else:
        arguments = order["arguments"]
        plain = arguments.plain() if isinstance(arguments, Map) else {}
        session.vhost.bind(exchange, Binding(queue, order["binding_key"], plain))
