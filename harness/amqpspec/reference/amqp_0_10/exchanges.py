"""The exchange class: exchanges, and bindings of queues to them.

Knows: the rules for names, types and bindings. Must not know: how a refusal is sent.

The name of an alternate exchange is kept among the arguments, under a key that no client can send: arguments that a
client sends are unknown, except for those of bindings to exchanges of type headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.owning import check_owner
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import EXCHANGE_TYPES, Binding, Exchange, Queue
from amqpspec.wire.amqp_0_10.values import Map, Packed

ALTERNATE = "\0alternate"
"""Key in an exchange's arguments: the alternate exchange for unroutable messages."""
ORPHANS = "x-dead-letter-exchange"
"""Key in a queue's arguments: the alternate exchange for rejected messages and those of a deleted queue."""
_RESERVED = "amq."
_STANDARD = 6
"""The number of predeclared exchanges."""


def plain(arguments: object) -> Mapping[str, Any]:
    """Arguments as values; none if they are left out."""
    return arguments.plain() if isinstance(arguments, Map) else {}


# --- declare


@executes("exchange.declare")
def declare(session: Session, order: Order) -> None:
    """Create an exchange, or find the one of that name."""
    name = order["exchange"]
    known = session.vhost.exchanges.get(name)
    if not name:
        session.refuse("exchange/declare/exchange/exchange-name-required", "no name", "exchange")
    if order["passive"]:
        _passive(session, order, known)
        return
    _check_new(session, order)
    if known is None:
        _make(session, order, name.lower() if session.faulty("exchange-names-without-case") else name)
        return
    _check_same(session, order, known)
    if session.faulty("second-declare-makes-it-anew"):
        session.vhost.delete_exchange(known)
        _make(session, order, name)


def _passive(session: Session, order: Order, known: Exchange | None) -> None:
    if known is None:
        if session.faulty("passive-declare-creates-exchange"):
            _make(session, order, order["exchange"])
        session.refuse("exchange/declare/passive/not-found", f"no exchange {order['exchange']!r}", "passive")
    elif session.faulty("passive-exchange-declare-looks-at-all"):
        _check_new(session, order)


def _make(session: Session, order: Order, name: str) -> None:
    if session.faulty("fifteen-exchanges-at-most") and len(session.vhost.exchanges) - _STANDARD >= 15:
        session.core.refuse("exchange/declare/exchange/reserved-names", "no room for another exchange")
    if order["type"] in EXCHANGE_TYPES:
        session.vhost.declare_exchange(
            name,
            order["type"],
            durable=bool(order["durable"]) and not session.faulty("durable-exchanges-are-transient"),
            auto_delete=bool(order["auto_delete"]),
            arguments={ALTERNATE: order["alternate_exchange"]} if order["alternate_exchange"] else {},
        )


def _check_new(session: Session, order: Order) -> None:
    if order["exchange"].startswith(_RESERVED):
        text = f"{order['exchange']!r} is reserved"
        session.refuse("exchange/declare/exchange/reserved-names", text, "exchange")
    if plain(order["arguments"]):
        text = f"unknown arguments {sorted(plain(order['arguments']))}"
        session.refuse("exchange/declare/arguments/unknown-argument", text, "arguments")
    lacking = order["type"] in ("topic", "headers") and session.faulty("only-types-that-are-required")
    if order["type"] not in EXCHANGE_TYPES or lacking:
        session.refuse("exchange/declare/type/exchange-type-not-found", f"no type {order['type']!r}", "type")


def _check_same(session: Session, order: Order, known: Exchange) -> None:
    if known.type != order["type"]:
        session.refuse("exchange/declare/type/typed", f"{known.name!r} is of type {known.type}", "type")
    if alternate_of(known) != (order["alternate_exchange"] or ""):
        text = f"the alternate exchange is {alternate_of(known)!r}"
        session.refuse(
            "exchange/declare/alternate-exchange/pre-existing-exchange", text, "alternate_exchange"
        )
    durable, auto_delete = bool(order["durable"]), bool(order["auto_delete"])
    if (known.durable != durable and session.faulty("exchange-has-to-be-as-durable")) or (
        known.auto_delete != auto_delete and session.faulty("exchange-has-to-be-as-auto-delete")
    ):
        session.core.refuse("exchange/declare/type/typed", f"{known.name!r} is not declared as it is")


def alternate_of(exchange: Exchange) -> str:
    """The name of an exchange's alternate; empty for none."""
    return str(exchange.arguments.get(ALTERNATE, ""))


# --- delete, query


@executes("exchange.delete")
def delete(session: Session, order: Order) -> None:
    """Delete an exchange."""
    exchange = _named(
        session, order, "exchange/delete/exchange/exists", "exchange/delete/exchange/exchange-name-required"
    )
    if exchange is None:
        return
    if _serves_as_alternate(session, exchange.name):
        text = f"{exchange.name!r} is an alternate exchange"
        session.refuse("exchange/delete/exchange/used-as-alternate", text, "exchange")
    if order["if_unused"] and (exchange.bindings or session.faulty("if-unused-never-deletes-exchanges")):
        if session.faulty("used-exchange-deleted-though-refused"):
            session.vhost.delete_exchange(exchange)
        text = f"{exchange.name!r} has bindings"
        session.refuse("exchange/delete/if-unused/exchange-in-use/refused", text, "if_unused")
    session.vhost.delete_exchange(exchange)


def _named(session: Session, order: Order, missing: str, nameless: str) -> Exchange | None:
    """The exchange that a command names; a missing name or exchange violates a rule."""
    name = order["exchange"]
    exchange = session.vhost.exchanges.get(name)
    if not name:
        session.refuse(nameless, "no name of an exchange", "exchange")
        return None
    if exchange is None:
        session.refuse(missing, f"no exchange {name!r}", "exchange")
    return exchange


def _serves_as_alternate(session: Session, name: str) -> bool:
    vhost = session.vhost
    return any(alternate_of(exchange) == name for exchange in vhost.exchanges.values()) or any(
        queue.arguments.get(ORPHANS) == name for queue in vhost.queues.values()
    )


@executes("exchange.query")
def query(session: Session, order: Order) -> Packed:
    """Describe an exchange; without a name, the default one."""
    name = order["name"] or ""
    exchange = session.vhost.exchanges.get(name)
    if not name and session.faulty("query-without-name-finds-nothing"):
        exchange = None
    if exchange is None:
        return Packed(
            "exchange.exchange-query-result", {"not_found": not session.faulty("query-always-finds")}
        )
    durable = exchange.durable and not session.faulty("query-tells-nothing-of-durability")
    return Packed(
        "exchange.exchange-query-result", {"type": exchange.type, "durable": durable, "arguments": {}}
    )


# --- bindings


@executes("exchange.bind")
def bind(session: Session, order: Order) -> None:
    """Bind a queue to an exchange."""
    if not order["queue"]:
        session.refuse("exchange/bind/queue/empty-queue", "no name of a queue", "queue")
        return
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        session.refuse("exchange/bind/queue/queue-existence", f"no queue {order['queue']!r}", "queue")
    exchange = _named(
        session,
        order,
        "exchange/bind/exchange/exchange-existence",
        "exchange/bind/exchange/exchange-name-required",
    )
    if queue is None or exchange is None:
        return
    check_owner(session, queue)
    arguments = plain(order["arguments"])
    if arguments and exchange.type != "headers":
        text = f"unknown arguments {sorted(arguments)}"
        session.refuse("exchange/bind/arguments/unknown-argument", text, "arguments")
    binding = Binding(queue, order["binding_key"], arguments)
    if (known := _binding(exchange, queue, order["binding_key"])) is not None:
        if not session.faulty("second-bind-changes-arguments"):
            return
        session.vhost.unbind(exchange, known)
    session.vhost.bind(exchange, binding)


def _binding(exchange: Exchange, queue: Queue, key: str) -> Binding | None:
    """The binding between an exchange and a queue by a key: there is one only, whatever its arguments."""
    found = (b for b in exchange.bindings.values() if b.destination is queue and b.routing_key == key)
    return next(found, None)


@executes("exchange.unbind")
def unbind(session: Session, order: Order) -> None:
    """Remove a binding."""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        session.refuse("exchange/unbind/queue/non-existent-queue", f"no queue {order['queue']!r}", "queue")
    exchange = _named(
        session, order,
        "exchange/unbind/exchange/non-existent-exchange", "exchange/unbind/exchange/exchange-name-required",
    )  # fmt: skip
    if queue is None or exchange is None:
        return
    binding = _binding(exchange, queue, order["binding_key"])
    if binding is None:
        text = f"no binding by key {order['binding_key']!r}"
        session.refuse("exchange/unbind/binding-key/non-existent-binding-key", text, "binding_key")
    elif session.faulty("unbind-takes-all-keys"):
        exchange.forget(queue)
    else:
        session.vhost.unbind(exchange, binding)


@executes("exchange.bound")
def bound(session: Session, order: Order) -> Packed:
    """Report which parts of a binding do not exist; omitted parts match any value."""
    name = order["exchange"] or ""
    exchange, queue = session.vhost.exchanges.get(name), session.vhost.queues.get(order["queue"])
    if not name and session.faulty("bound-without-exchange-finds-nothing"):
        exchange = None
    found = list(exchange.bindings.values()) if exchange is not None else []
    mine = [binding for binding in found if binding.destination is queue]
    key, arguments = order["binding_key"], plain(order["arguments"])
    if key is None and session.faulty("bound-without-key-is-the-empty-key"):
        key = ""
    fitting = [binding for binding in mine if key is None or binding.routing_key == key]
    flags = {
        "exchange_not_found": exchange is None,
        "queue_not_found": queue is None,
        "queue_not_matched": exchange is not None and queue is not None and not mine,
        "key_not_matched": bool(mine) and not fitting,
        "args_not_matched": bool(fitting and arguments)
        and not any(dict(binding.arguments) == dict(arguments) for binding in fitting),
    }
    if session.faulty("bound-tells-of-exchanges-only"):
        flags = {"exchange_not_found": exchange is None}
    return Packed("exchange.exchange-bound-result", flags)


FAULTS = fault_table("""
passive-declare-creates-exchange: a passive declare creates the exchange [exchange/declare/passive/no-create]
passive-exchange-declare-looks-at-all: a passive declare checks its arguments
    [exchange/declare/arguments/passive exchange/declare/exchange/reserved-names]
only-types-that-are-required: exchanges are of type direct or fanout [exchange/recommended-types]
exchange-names-without-case: exchange names are converted to lower case [exchange/name/syntax]
second-declare-makes-it-anew: a second declare leaves an exchange without bindings [exchange/declare/type/typed]
fifteen-exchanges-at-most: there is room for fifteen exchanges [exchange/declare/minimum]
if-unused-never-deletes-exchanges: with if-unused every exchange counts as in use
    [exchange/delete/if-unused/exchange-in-use/refused]
durable-exchanges-are-transient: no exchange is durable
    [exchange/declare/durable/support exchange/query/exchange-query-result/type/fields]
exchange-has-to-be-as-durable: a second declare must repeat durable
    [exchange/declare/durable/sticky]
exchange-has-to-be-as-auto-delete: a second declare must repeat auto-delete
    [exchange/declare/auto-delete/sticky]
used-exchange-deleted-though-refused: deleting an exchange with bindings is refused, but done
    [exchange/delete/if-unused/exchange-in-use/stays]
query-without-name-finds-nothing: a query does not find the default exchange [exchange/query/name/default]
query-always-finds: a query does not report that an exchange does not exist
    [exchange/query/exchange-query-result/type/fields]
query-tells-nothing-of-durability: a query never reports durable
    [exchange/query/exchange-query-result/type/fields exchange/declare/durable/support]
second-bind-changes-arguments: a second bind by the same key changes the arguments
    [exchange/bind/duplicates/arguments]
unbind-takes-all-keys: unbind removes all bindings of the queue [exchange/bind/binding-key/identity]
bound-without-exchange-finds-nothing: bound does not know the default exchange [exchange/bound/exchange/default]
bound-without-key-is-the-empty-key: bound reads an absent key as an empty one
    [exchange/bound/binding-key/unset]
bound-tells-of-exchanges-only: bound only reports whether the exchange exists
    [exchange/bound/exchange-bound-result/exchange-not-found/flags]
""")
