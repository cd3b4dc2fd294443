"""The message class: transfers in both directions, subscriptions and their credit.

Knows: what a transfer needs to be routed, what a subscription may be sent. Must not know: how a refusal is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amqpspec.reference.amqp_0_10 import damage
from amqpspec.reference.amqp_0_10.exchanges import alternate_of
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.owning import check_owner
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry, Exchange, Message, Queue, Routed
from amqpspec.wire.amqp_0_10.instructions import decode_header
from amqpspec.wire.amqp_0_10.serial import SerialSet
from amqpspec.wire.amqp_0_10.values import Map, Packed

_DELIVERY, _MESSAGE = "message.delivery-properties", "message.message-properties"
_UNLIMITED = 0xFFFFFFFF
_EXPLICIT, _CREDIT, _MESSAGES = 0, 0, 0


@dataclass(slots=True, eq=False)
class Subscription:
    """One subscription: what it may be sent, in messages and octets; a credit of all ones has no end."""

    session: Session
    destination: str
    accept_mode: int
    consumer: Consumer | None = None
    messages: int = 0
    octets: int = 0

    def admits(self, size_octets: int) -> bool:
        """Whether there is credit for one more message."""
        return self.messages > 0 and self.octets >= size_octets

    def spend(self, size_octets: int) -> None:
        """One more message was sent."""
        self.messages -= self.messages != _UNLIMITED
        self.octets -= 0 if self.octets == _UNLIMITED else size_octets


class Taker:
    """What the queues of the model see of a session."""

    def __init__(self, session: Session) -> None:
        self.session, self.key = session, session.key
        self.owner: object = session
        self.subscriptions: dict[str, Subscription] = {}
        self.held: dict[int, tuple[Queue, Entry]] = {}
        """Transfers by id that are neither accepted nor given back."""
        session.at_end.append(self.release)

    @property
    def flowing(self) -> bool:
        """Whether transfers can go out just now."""
        return self.session.carrier is not None

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether credit and the socket allow one more message."""
        carrier = self.session.carrier
        starving = self.session.faulty("busy-channel-starves-others")
        if carrier is None or (carrier.congested and not starving):
            return False
        return self.subscriptions[consumer.tag].admits(message.size_octets) or self.session.faulty(
            "credit-ignored"
        )

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a message."""
        subscription = self.subscriptions[consumer.tag]
        subscription.spend(entry.message.size_octets)
        number = self.session.command(
            "message.transfer",
            header=damage.header(_header(entry.message, redelivered), self.session.faulty),
            body=damage.body(entry.message.body, self.session.faulty),
            destination=subscription.destination,
            accept_mode=subscription.accept_mode,
            acquire_mode=0,
        )
        if subscription.accept_mode == _EXPLICIT:
            self.held[number] = (consumer.queue, entry)

    def queues(self) -> list[Queue]:
        """The queues of its subscriptions."""
        return [s.consumer.queue for s in self.subscriptions.values() if s.consumer is not None]

    def cancelled(self, consumer: Consumer) -> None:
        """A subscription's queue is gone."""
        self.subscriptions.pop(consumer.tag, None)

    def release(self) -> None:
        """Give back everything: first leave the queues, then return what was not accepted."""
        subscriptions, self.subscriptions = list(self.subscriptions.values()), {}
        for subscription in subscriptions:
            assert subscription.consumer is not None
            self.session.vhost.remove_consumer(subscription.consumer)
        held, self.held = self.held, {}
        for queue, entry in held.values():
            queue.requeue([entry])
        for queue in {id(queue): queue for queue, _ in held.values()}.values():
            queue.dispatch()


def taker_of(session: Session) -> Taker:
    """What the session holds of messages; made on first use."""
    if session.taker is None:
        session.taker = Taker(session)
    assert isinstance(session.taker, Taker)
    return session.taker


def _header(message: Message, redelivered: bool) -> list[Any]:
    """The header segment as it came, with what the broker adds."""
    entries: list[Any] = []
    for entry in decode_header(message.header):
        if isinstance(entry, Packed) and entry.name == _DELIVERY:
            entry = Packed(
                entry.name, {**entry.fields, "redelivered": redelivered, "exchange": message.exchange}
            )
        entries.append(entry)
    return entries


@executes("message.transfer")
def transfer(session: Session, order: Order) -> None:
    """Route a message."""
    name = order["destination"] or ""
    exchange = session.vhost.exchanges.get(name)
    if exchange is None:
        session.refuse(
            "message/transfer/destination/nonexistent-exchange", f"no exchange {name!r}", "destination"
        )
        return
    delivery, properties = order.struct(_DELIVERY), order.struct(_MESSAGE)
    headers = properties.get("application_headers")
    message = Message(
        name,
        delivery.get("routing_key", ""),
        order.header_octets,
        order.body or b"",
        delivery.get("priority", 4),
        delivery.get("delivery_mode") == 2,
        headers.plain() if isinstance(headers, Map) else {},
        session,
    )
    if session.vhost.publish(exchange, message) is Routed.UNROUTABLE:
        _unroutable(session, order, exchange, message)
    if order["accept_mode"] == _EXPLICIT:
        session.command("message.accept", transfers=((order.id, order.id),))


def _unroutable(session: Session, order: Order, exchange: Exchange, message: Message) -> None:
    """No queue takes a message: it is rejected where acceptance is explicit, else its alternate exchange may take it.

    There is one try only: what the alternate exchange cannot route is dropped, without its own alternate exchange.
    """
    discard = order.struct(_DELIVERY).get("discard_unroutable") and not session.faulty("alternate-gets-all")
    explicit = order["accept_mode"] == _EXPLICIT
    if not discard and (explicit or session.faulty("unroutable-always-rejected")):
        session.refuse("message/reject-code/unroutable", "no queue takes it")
    if discard or explicit:
        return
    vhost = session.vhost
    alternate = vhost.exchanges.get(alternate_of(exchange) or exchange.name)
    if alternate is None or alternate is exchange or session.faulty("alternate-exchange-ignored"):
        return
    outcome = vhost.publish(alternate, message)
    second = vhost.exchanges.get(alternate_of(alternate))
    if outcome is Routed.UNROUTABLE and second is not None and session.faulty("alternate-of-the-alternate"):
        vhost.publish(second, message)


@executes("message.subscribe")
def subscribe(session: Session, order: Order) -> None:
    """Begin a subscription; it has no credit yet."""
    taker, name = taker_of(session), order["destination"] or ""
    queue = session.vhost.queues.get(order["queue"])
    if queue is None:
        session.refuse("message/subscribe/queue-not-found", f"no queue {order['queue']!r}", "queue")
        return
    check_owner(session, queue)
    if name in taker.subscriptions:
        session.refuse(
            "message/subscribe/destination/unique-subscriber-destination", f"{name!r} is taken", "destination"
        )
        return
    subscription = Subscription(session, name, order["accept_mode"])
    no_ack = order["accept_mode"] != _EXPLICIT
    subscription.consumer = Consumer(name, queue, taker, no_ack=no_ack, exclusive=bool(order["exclusive"]))
    taker.subscriptions[name] = subscription
    session.vhost.add_consumer(subscription.consumer)


@executes("message.cancel")
def cancel(session: Session, order: Order) -> None:
    """End a subscription."""
    subscription = _subscription(session, order, "message/cancel/destination/subscription-not-found")
    if subscription is not None and subscription.consumer is not None:
        del taker_of(session).subscriptions[subscription.destination]
        session.vhost.remove_consumer(subscription.consumer)


def _subscription(session: Session, order: Order, rule: str) -> Subscription | None:
    name = order["destination"] or ""
    found = taker_of(session).subscriptions.get(name)
    if found is None:
        session.refuse(rule, f"no subscription {name!r}", "destination")
    return found


@executes("message.flow")
def flow(session: Session, order: Order) -> None:
    """Give credit."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is None or subscription.consumer is None:
        return
    value = order["value"] or 0
    if order["unit"] == _MESSAGES:
        subscription.messages = min(subscription.messages + value, _UNLIMITED)
    else:
        subscription.octets = min(subscription.octets + value, _UNLIMITED)
    subscription.consumer.queue.dispatch()


@executes("message.flush")
def flush(session: Session, order: Order) -> None:
    """Everything that can go out has gone out already: only credit remains to be taken back."""
    subscription = _subscription(session, order, "execution/error-code/not-found")
    if subscription is not None:
        subscription.messages = subscription.octets = 0


@executes("message.accept")
def accept(session: Session, order: Order) -> None:
    """Transfers are taken over."""
    for number in _held(session, order):
        queue, entry = taker_of(session).held.pop(number)
        queue.settle(entry)


@executes("message.reject")
def reject(session: Session, order: Order) -> None:
    """Transfers are refused: they leave their queue for its alternate exchange."""
    for number in _held(session, order):
        queue, entry = taker_of(session).held.pop(number)
        if session.faulty("rejected-message-stays"):
            queue.give_back([entry])
        else:
            queue.discard(entry)


def _held(session: Session, order: Order) -> list[int]:
    ids = SerialSet.of(order["transfers"])
    return [number for number in taker_of(session).held if number in ids]


FAULTS = fault_table("""
alternate-gets-all: the alternate exchange gets what was to be discarded
    [exchange/declare/alternate-exchange/when]
alternate-exchange-ignored: what no queue gets never goes to the alternate exchange
    [exchange/declare/alternate-exchange/when]
alternate-of-the-alternate: what the alternate exchange cannot route goes to its own alternate exchange
    [exchange/declare/alternate-exchange/double-failure/no-second]
unroutable-always-rejected: what no queue gets is rejected in mode none, too
    [exchange/declare/alternate-exchange/empty-name]
rejected-message-stays: what is rejected goes back to its queue
    [queue/declare/alternate-exchange/removed queue/declare/alternate-exchange/routed]
busy-channel-starves-others: a channel that delivers goes on until all is sent [transport/channels/fair]
credit-ignored: a subscription is sent messages without credit [message/subscribe/initial-credit]
""")
