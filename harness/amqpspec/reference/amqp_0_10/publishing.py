"""Transfers from clients: routed, deferred until a transaction commits, or refused individually.

Knows: the properties that the broker sets, the destination of unroutable messages. Must not know: how fragments
become a message, subscriptions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10 import fragments
from amqpspec.reference.amqp_0_10.exchanges import alternate_of
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import DELIVERY, EXPLICIT, FRAGMENT, MESSAGE, taker_of
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Exchange, Message, Routed
from amqpspec.reference.model.exchanges import route
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_0_10.instructions import encode_header
from amqpspec.wire.amqp_0_10.values import Map, Packed

_REJECT_CODES = {c.name: int(c.value) for c in DIALECT.choices("message.reject-code")}
_LONGEST_TTL_MS = 86_400_000
_PLAIN = {"priority": 4, "delivery_mode": 1}


@executes("message.transfer")
def transfer(session: Session, order: Order) -> None:
    """Receive a message, or a fragment of one."""
    name = order["destination"] or ""
    if order["destination"] == "" and session.faulty("blank-destination-refused"):
        session.core.refuse("message/transfer/destination/nonexistent-exchange", "no destination")
    if name not in session.vhost.exchanges:
        rule = "message/transfer/destination/nonexistent-exchange"
        session.refuse(rule, f"no exchange {name!r}", "destination")
        return
    _check_user(session, order)
    whole = fragments.joined(session, order)
    if whole is None:
        _accept(session, order)
        return
    publish = partial(_publish, session, order, whole, time.time())
    work = taker_of(session).work
    if work is None or session.faulty("publishing-is-not-transacted"):
        publish()
    else:
        work.publishes.append(publish)
        if session.faulty("transacted-transfers-stay-open"):
            session.deferred[order.id] = order


def _check_user(session: Session, order: Order) -> None:
    user = order.struct(MESSAGE).get("user_id")
    own = b"" if session.faulty("user-ids-refused") else session.user.name.encode()
    if user is not None and user != own:
        session.refuse("message/message-properties/user-id/authentication", f"user-id {user!r}")


def _accept(session: Session, order: Order) -> None:
    if order["accept_mode"] == EXPLICIT and not session.faulty("transfers-not-accepted"):
        session.command("message.accept", transfers=((order.id, order.id),))


def _publish(session: Session, order: Order, whole: fragments.Whole, arrived_s: float) -> None:
    """Route a message; it is accepted, or refused individually."""
    exchange = session.vhost.exchanges.get(order["destination"] or "")
    if exchange is None:
        return
    message = _message(session, order, whole, int(arrived_s))
    session.core.room.take(message.size_octets)
    if session.faulty("duplicates-refused") and _is_duplicate(
        session, whole.struct(MESSAGE).get("message_id")
    ):
        return
    delivery = whole.struct(DELIVERY)
    try:
        _route(session, order, exchange, message, delivery)
    except RefusedError as refused:
        if refused.refusal is None or refused.refusal.scope is not Scope.DELIVERY:
            raise
        _reject(session, order, refused)
        return
    _accept(session, order)
    if "ttl" in delivery and delivery["ttl"] <= _LONGEST_TTL_MS and not session.faulty("ttl-ignored"):
        delay_s = delivery["ttl"] / 1000
        asyncio.get_running_loop().call_later(delay_s, _expire, session, message)


def _route(session: Session, order: Order, exchange: Exchange, message: Message, delivery: Any) -> None:
    vhost, faulty = session.vhost, session.faulty
    if faulty("transfers-go-to-the-last-exchange"):
        exchange = tuple(vhost.exchanges.values())[-1]
    if delivery.get("immediate") and not faulty("immediate-means-nothing"):
        queues = route(exchange, message, vhost.exchanges, session.core.on)
        able = [queue for queue in queues if queue.can_deliver_now(message)]
        if faulty("immediate-never-delivered"):
            able = []
        if queues and len(able) < (1 if faulty("one-able-subscriber-is-enough") else len(queues)):
            rule = "message/reject-code/immediate"
            _unroutable(session, order, exchange, message, rule)
            return
    if vhost.publish(exchange, message) is Routed.UNROUTABLE:
        _unroutable(session, order, exchange, message, "message/reject-code/unroutable")


def _unroutable(session: Session, order: Order, exchange: Exchange, message: Message, rule: str) -> None:
    """An unroutable message is rejected in explicit mode; otherwise it goes to the alternate exchange.

    If the alternate exchange cannot route it either, it is dropped.
    """
    delivery = order.struct(DELIVERY)
    discard = delivery.get("discard_unroutable") and not session.faulty("alternate-gets-all")
    explicit = order["accept_mode"] == EXPLICIT
    if not discard and (explicit or session.faulty("unroutable-always-rejected")):
        session.refuse(rule, "no queue takes it")
    if discard and session.faulty("discarding-ends-the-session"):
        session.core.refuse("execution/error-code/not-found", "discard-unroutable is not served here")
    if discard:
        return
    vhost = session.vhost
    alternate = vhost.exchanges.get(alternate_of(exchange) or exchange.name)
    if alternate is None or alternate is exchange or session.faulty("alternate-exchange-ignored"):
        return
    outcome = vhost.publish(alternate, message)
    second = vhost.exchanges.get(alternate_of(alternate))
    if outcome is Routed.UNROUTABLE and second is not None and session.faulty("alternate-of-the-alternate"):
        vhost.publish(second, message)


def _reject(session: Session, order: Order, refused: RefusedError) -> None:
    """Refuse a single transfer."""
    assert refused.refusal is not None
    code = _REJECT_CODES[str(refused.refusal.code)]
    ids = ((order.id, order.id),)
    session.command("message.reject", transfers=ids, code=code, text=refused.text[:255])


# --- properties set by the broker


def _message(session: Session, order: Order, whole: fragments.Whole, arrived_s: int) -> Message:
    delivery, properties = whole.struct(DELIVERY), whole.struct(MESSAGE)
    headers = properties.get("application_headers")
    name = order["destination"] or ""
    return Message(
        name,
        delivery.get("routing_key", ""),
        encode_header(_stamped(session, whole.header, name, arrived_s)),
        whole.body,
        delivery.get("priority", 4),
        delivery.get("delivery_mode") == 2,
        headers.plain() if isinstance(headers, Map) else {},
        session,
    )


def _stamped(session: Session, header: Iterable[Any], exchange: str, arrived_s: int) -> list[Any]:
    """The received structs, with the exchange, the time of arrival and the expiration added."""
    entries = [_changed(session, entry) for entry in header if getattr(entry, "name", "") != FRAGMENT]
    if not any(isinstance(entry, Packed) and entry.name == DELIVERY for entry in entries):
        entries.insert(0, Packed(DELIVERY, _PLAIN))
    return [
        Packed(DELIVERY, _with_marks(session, dict(entry.fields), exchange, arrived_s))
        if isinstance(entry, Packed) and entry.name == DELIVERY
        else entry
        for entry in entries
    ]


def _with_marks(session: Session, fields: dict[str, Any], exchange: str, arrived_s: int) -> dict[str, Any]:
    if not session.faulty("origin-not-told"):
        fields["exchange"] = exchange
    if not session.faulty("arrivals-not-stamped"):
        kept = fields.get("timestamp") if session.faulty("publishers-set-timestamps") else None
        fields["timestamp"] = arrived_s if kept is None else kept
    if "ttl" in fields and not session.faulty("expiration-not-set"):
        fields["expiration"] = min(arrived_s + fields["ttl"] // 1000, (1 << 64) - 1)
    return fields


def _changed(session: Session, entry: Any) -> Any:
    """A fault: changes properties that the broker must not change."""
    if not isinstance(entry, Packed) or entry.name != MESSAGE:
        return entry
    fields = dict(entry.fields)
    if "message_id" in fields and session.faulty("message-ids-assigned-anew"):
        fields["message_id"] = type(fields["message_id"])(int=next(session.core.numbers))
    if session.faulty("correlation-ids-dropped"):
        fields.pop("correlation_id", None)
    return Packed(entry.name, fields)


_SEEN: WeakKeyDictionary[Core, set[Any]] = WeakKeyDictionary()


def _is_duplicate(session: Session, message_id: Any) -> bool:
    """A fault: whether a message with this id arrived before; it is dropped silently."""
    seen = _SEEN.setdefault(session.core, set())
    known = message_id is not None and message_id in seen
    seen.add(message_id)
    return known


# --- time


def _expire(session: Session, message: Message) -> None:
    """The ttl of a message has elapsed: remove it from its queue."""
    for queue in tuple(session.vhost.queues.values()):
        for entry in [entry for entry in queue.ready() if entry.message is message]:
            queue.take(entry, keep=False)
            if session.faulty("expiry-takes-neighbours"):
                queue.purge()
    session.core.flush()


FAULTS = fault_table("""
alternate-gets-all: the alternate exchange receives messages that should be discarded
    [exchange/declare/alternate-exchange/when]
alternate-exchange-ignored: unroutable messages do not go to the alternate exchange
    [exchange/declare/alternate-exchange/when message/delivery-properties/discard-unroutable/unset]
alternate-of-the-alternate: what the alternate exchange cannot route goes to its own alternate exchange
    [exchange/declare/alternate-exchange/double-failure/no-second]
unroutable-always-rejected: unroutable messages are rejected in accept mode none, too
    [exchange/declare/alternate-exchange/empty-name]
discarding-ends-the-session: an unroutable message with discard-unroutable ends the session
    [message/delivery-properties/discard-unroutable/set]
immediate-means-nothing: an immediate message waits for a subscriber
    [message/delivery-properties/immediate/unroutable]
immediate-never-delivered: an immediate message is never delivered
    [message/delivery-properties/immediate/unroutable]
one-able-subscriber-is-enough: an immediate message is delivered if one of its queues has an able subscriber
    [message/delivery-properties/immediate/unroutable message/reject-code/immediate]
publishing-is-not-transacted: messages published in a transaction are available at once
    [message/transfer/transactional-publish tx/rollback/effect dtx/rollback/effect]
transfers-not-accepted: a transfer in explicit mode is not answered by accept
    [message/message-properties/message-id/duplicate-accepted message/accept-mode/explicit]
duplicates-refused: a message with a known id is dropped and not accepted
    [message/message-properties/message-id/duplicate-accepted message/message-properties/message-id/duplicate]
blank-destination-refused: a transfer to the blank destination ends the session
    [message/transfer/destination/blank-destination]
transfers-go-to-the-last-exchange: a transfer is routed by the exchange that was declared last
    [message/transfer/routing]
transacted-transfers-stay-open: a transfer within a transaction is never completed
    [tx/commit/completion tx/rollback/completion]
user-ids-refused: every user-id is refused [message/message-properties/user-id/authentication]
ttl-ignored: ttl is ignored [message/delivery-properties/ttl/expired]
expiry-takes-neighbours: an expired message takes all others of its queue with it
    [message/delivery-properties/ttl/expired]
origin-not-told: deliveries do not name the exchange [message/delivery-properties/exchange/by-broker]
arrivals-not-stamped: no timestamp is set [message/delivery-properties/timestamp/by-broker]
publishers-set-timestamps: a publisher's timestamp is not replaced [message/delivery-properties/timestamp/by-broker]
expiration-not-set: no expiration is set [message/delivery-properties/expiration/by-broker]
message-ids-assigned-anew: messages get other ids [message/message-properties/message-id/immutable]
correlation-ids-dropped: correlation-id is not passed on [message/message-properties/correlation-id/ignored]
""")
