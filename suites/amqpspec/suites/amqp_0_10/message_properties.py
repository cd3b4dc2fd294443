"""Class message: delivery-properties and message-properties (amqp-0-10 message.delivery-properties).

Knows: what a broker makes of properties, and what it leaves alone. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, PRE_ACQUIRED, Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Scope
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue
from amqpspec.suites.amqp_0_10._entities import bodies, bound_to, send
from amqpspec.suites.amqp_0_10._messages import (
    answer,
    bodies_soon,
    contents,
    count_of,
    fill,
    has_on_offer_soon,
)
from amqpspec.wire.amqp_0_10.values import Packed

_HOUR_MS = 3_600_000
_IDS = (UUID(int=0x1234_5678), UUID(int=0x9ABC_DEF0))


def _passed(
    peer: Peer, delivery: Mapping[str, Any] | None = None, message: Mapping[str, Any] | None = None
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The properties with which a message comes out of a queue; raises Unmet."""
    queue = peer.queue()
    peer.publish(queue, b"m", delivery=delivery, message=message)
    peer.barrier()
    peer.subscribe(queue)
    found = peer.transfer()
    return found.delivery, found.message


# --- discard-unroutable, immediate


@in_session("message.discard-unroutable.set", covers=["message/delivery-properties/discard-unroutable/set"])
def discarded(peer: Peer) -> Verdict:
    """With discard-unroutable, an unroutable message may be dropped or rejected; the session continues."""
    missing = peer.name("missing")
    peer.publish(missing, b"lost", accept_mode=EXPLICIT, delivery={"discard_unroutable": True})
    peer.claim("dropped or rejected, and no other refusal")
    reaction = peer.reaction()
    if reaction.refusal is not None and reaction.refusal.scope is not Scope.DELIVERY:
        return holds(peer, False, reaction)
    return observed_either_way(peer, "dropped" if reaction.refusal is None else "rejected")


@in_session(
    "message.discard-unroutable.unset", covers=["message/delivery-properties/discard-unroutable/unset"]
)
def not_discarded(peer: Peer) -> Verdict:
    """In explicit mode without discard-unroutable, an unroutable message is rejected."""
    exchange = peer.exchange("direct")
    bound_to(peer, exchange, ["k"])
    peer.publish("nowhere", b"lost", exchange=exchange, accept_mode=EXPLICIT)
    return rejects_violation(peer)


@in_session(
    "message.discard-unroutable.alternate", covers=["message/delivery-properties/discard-unroutable/unset"]
)
def sent_to_the_alternate(peer: Peer) -> Verdict:
    """In mode none without discard-unroutable, an unroutable message goes to the alternate exchange."""
    alternate = peer.exchange("fanout")
    (orphans,) = bound_to(peer, alternate, [""])
    exchange = peer.exchange("direct", alternate_exchange=alternate)
    peer.claim("the message at the alternate exchange")
    send(peer, exchange, "nowhere", b"orphan")
    return equals(peer, bodies(peer, orphans), [b"orphan"], "bodies")


@in_session("message.immediate.one-unable", covers=["message/delivery-properties/immediate/unroutable"])
def one_queue_without_a_subscriber(peer: Peer) -> Verdict:
    """An immediate message is rejected if one of its two queues has no subscriber."""
    exchange = peer.exchange("fanout")
    able, _ = bound_to(peer, exchange, ["k", "k"])
    peer.subscribe(able)
    peer.publish("k", b"m", exchange=exchange, accept_mode=EXPLICIT, delivery={"immediate": True})
    return rejects_violation(peer)


@in_session("message.immediate.nowhere", covers=["message/delivery-properties/immediate/unroutable"])
def delivered_to_no_queue(peer: Peer) -> Verdict:
    """If one of its queues has no subscriber with credit, an immediate message is delivered to no queue."""
    exchange = peer.exchange("fanout")
    queues = bound_to(peer, exchange, ["k", "k"])
    peer.subscribe(queues[0])
    peer.subscribe(queues[1], messages=None)
    peer.claim("the immediate message in no queue, the other one in both")
    for immediate in (True, False):
        body = b"at once" if immediate else b"later"
        peer.publish("k", body, exchange=exchange, delivery={"immediate": immediate})
    found = [peer.transfer().body, *bodies(peer, queues[1])]
    return equals(peer, found, [b"later", b"later"], "bodies")


@in_session("message.immediate.able", covers=["message/delivery-properties/immediate/unroutable"])
def both_queues_with_subscribers(peer: Peer) -> Verdict:
    """An immediate message is delivered if each of its queues has a subscriber with credit."""
    exchange = peer.exchange("fanout")
    for queue in bound_to(peer, exchange, ["k", "k"]):
        peer.subscribe(queue, messages=1)
    peer.claim("the message twice, and no reject")
    peer.publish("k", b"m", exchange=exchange, accept_mode=EXPLICIT, delivery={"immediate": True})
    found = contents(peer.transfers(2))
    peer.barrier()
    return equals(peer, (found, peer.pending("message.reject")), ([b"m", b"m"], []), "bodies, rejected")


# --- redelivered


@in_session(
    "message.redelivered.flag", covers=["message/delivery-properties/redelivered/implementation/flag"]
)
def redelivered(peer: Peer) -> Verdict:
    """Messages that a session received but did not accept are redelivered with the flag set; others are not."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    peer.subscribe(queue, messages=1)
    first = bool(peer.transfer().delivery.get("redelivered"))
    peer.open_session(1)
    peer.claim("redelivered for the first message only, and only the second time")
    peer.detach()
    has_on_offer_soon(peer, queue, 2, 1)
    again = {transfer.body: bool(transfer.delivery.get("redelivered")) for transfer in peer.drain(queue, 1)}
    return equals(peer, (first, again), (False, {b"1": True, b"2": False}), "redelivered")


@in_session(
    "message.redelivered.waiting", covers=["message/delivery-properties/redelivered/implementation/flag"]
)
def redelivered_to_who_waits(peer: Peer) -> Verdict:
    """An unaccepted message of an ended session is redelivered to a waiting subscription, with the flag set."""
    queue = fill(peer, peer.queue(exclusive=False), b"1")
    peer.subscribe(queue, messages=1)
    peer.transfer()
    peer.open_session(1)
    peer.subscribe(queue, 1, messages=1)
    peer.claim("the message, with redelivered set")
    peer.detach()
    again = peer.transfer(1)
    return equals(
        peer, (again.body, bool(again.delivery.get("redelivered"))), (b"1", True), "body, redelivered"
    )


@in_two_sessions(
    "message.redelivered.recipient",
    covers=["message/delivery-properties/redelivered/implementation/recipient"],
)
def first_recipient(peer: Peer) -> Verdict:
    """Messages that a recipient releases are delivered to it again, even if another subscriber waits."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    peer.subscribe(queue)
    found = peer.transfers(2)
    peer.subscribe(queue, 1)
    peer.claim("both messages again for the first recipient")
    answer(peer, "release", found, set_redelivered=True)
    return equals(peer, sorted(contents(peer.transfers(2))), [b"1", b"2"], "bodies")


@on_queue("message.redelivered.published", covers=["message/delivery-properties/redelivered/kept"])
def published_as_redelivered(peer: Peer, queue: str) -> Verdict:
    """Messages published as redelivered are delivered as redelivered, and no others are."""
    flags = [True, False, True]
    for flag in flags:
        peer.publish(queue, b"m", delivery={"redelivered": flag})
    peer.barrier()
    peer.claim("the flags as they were published")
    found = [bool(transfer.delivery.get("redelivered")) for transfer in peer.drain(queue)]
    return equals(peer, found, flags, "redelivered")


# --- time


@on_queue("message.ttl", covers=["message/delivery-properties/ttl/expired"])
def too_old(peer: Peer, queue: str) -> Verdict:
    """A message is not delivered after its ttl; messages with a long ttl or without one are."""
    for body, delivery in ((b"plain", {}), (b"short", {"ttl": 50}), (b"long", {"ttl": _HOUR_MS})):
        peer.publish(queue, body, delivery=delivery)
    peer.barrier()
    peer.claim("the two messages that have not expired")
    return equals(peer, bodies_soon(peer, queue, 2), [b"plain", b"long"], "bodies")


@in_session("message.timestamp", covers=["message/delivery-properties/timestamp/by-broker"])
def timestamp(peer: Peer) -> Verdict:
    """The broker sets the timestamp of a message, whatever the publisher sent."""
    peer.claim("a timestamp from the broker for both messages")
    given: tuple[Mapping[str, Any], ...] = ({}, {"timestamp": 1})
    found = [_passed(peer, delivery)[0].get("timestamp", -1) for delivery in given]
    close = found[0] > 1 and 0 <= found[1] - found[0] <= peer.patience_s
    return holds(
        peer, close, "as claimed" if close else "no timestamp" if -1 in found else "another timestamp"
    )


@in_session("message.expiration", covers=["message/delivery-properties/expiration/by-broker"])
def expiration(peer: Peer) -> Verdict:
    """The broker sets expiration to the timestamp plus the ttl, in seconds."""
    peer.claim("timestamp plus ttl, within one second")
    right = []
    for hours in (1, 5):
        delivery, _ = _passed(peer, {"ttl": hours * _HOUR_MS})
        if "timestamp" not in delivery or "expiration" not in delivery:
            return holds(peer, False, f"{len(delivery)} properties, and not both of these")
        right.append(abs(delivery["expiration"] - delivery["timestamp"] - hours * 3600) <= 1)
    return equals(peer, right, [True, True], "as claimed")


# --- where it came from, where it goes


@in_session("message.exchange", covers=["message/delivery-properties/exchange/by-broker"])
def origin(peer: Peer) -> Verdict:
    """A delivery names the exchange that the message was published to, whatever the publisher sent."""
    names = [peer.exchange(type) for type in ("fanout", "direct")]
    queues = [bound_to(peer, name, ["k"])[0] for name in names]
    for name, lie in zip(names, ({}, {"exchange": names[0]}), strict=True):
        peer.publish("k", b"m", exchange=name, delivery=lie)
    peer.barrier()
    peer.claim("each message with its exchange")
    found = [transfer.delivery.get("exchange") for queue in queues for transfer in peer.drain(queue)]
    return equals(peer, found, names, "exchanges")


@in_session("message.exchange.bare", covers=["message/delivery-properties/exchange/by-broker"])
def origin_of_a_bare_message(peer: Peer) -> Verdict:
    """A delivery names its exchange, even if the publisher sent no delivery properties."""
    name = peer.exchange("fanout")
    (queue,) = bound_to(peer, name, [""])
    properties = Packed("message.message-properties", {"content_type": "text/plain"})
    peer.send(
        "message.transfer",
        header=[properties],
        body=b"m",
        destination=name,
        accept_mode=NONE,
        acquire_mode=PRE_ACQUIRED,
    )
    peer.barrier()
    peer.claim("the message with its exchange")
    found = [transfer.delivery.get("exchange") for transfer in peer.drain(queue)]
    return equals(peer, found, [name], "exchanges")


@in_session("message.routing-key", covers=["message/delivery-properties/routing-key/direct"])
def routing_key(peer: Peer) -> Verdict:
    """A direct exchange routes by the exact key, to every queue bound with it, and passes the key on."""
    exchange = peer.exchange("direct")
    queues = bound_to(peer, exchange, ["key", "key", "Key", "key.more"])
    peer.claim("the message in both queues that are bound with its key, and in no other")
    send(peer, exchange, "key", b"m")
    found = [[one.delivery.get("routing_key") for one in peer.drain(queue)] for queue in queues]
    return equals(peer, found, [["key"], ["key"], [], []], "keys")


# --- message-id, correlation-id, user-id


@on_queue("message.message-id.duplicate", covers=["message/message-properties/message-id/duplicate"])
def duplicates(peer: Peer, queue: str) -> Verdict:
    """The second message with the same message-id may be dropped; one with another id is not."""
    for body, message_id in ((b"1", _IDS[0]), (b"2", _IDS[0]), (b"3", _IDS[1])):
        peer.publish(queue, body, message={"message_id": message_id})
    peer.barrier()
    peer.claim("the first and the third message, and possibly the second one")
    found = bodies(peer, queue)
    if found not in ([b"1", b"2", b"3"], [b"1", b"3"]):
        return equals(peer, found, [b"1", b"2", b"3"], "bodies")
    return observed_either_way(peer, "delivered" if b"2" in found else "dropped")


@on_queue("message.message-id.accepted", covers=["message/message-properties/message-id/duplicate-accepted"])
def duplicates_are_accepted(peer: Peer, queue: str) -> Verdict:
    """In explicit mode, two messages with the same message-id are both accepted."""
    message = {"message_id": _IDS[0]}
    wanted = [peer.publish(queue, b"m", accept_mode=EXPLICIT, message=message) for _ in "12"]
    peer.claim("an accept for each of them")
    accepted: set[int] = set()
    while not accepted.issuperset(wanted):
        for lower, upper in peer.expect("message.accept")["transfers"]:
            accepted.update((lower, upper))
    return equals(peer, sorted(accepted), wanted, "accepted")


@in_session("message.message-id.immutable", covers=["message/message-properties/message-id/immutable"])
def message_id(peer: Peer) -> Verdict:
    """A message keeps its id in each of its queues, and when it is delivered again."""
    exchange = peer.exchange("fanout")
    queues = bound_to(peer, exchange, ["", ""])
    for number in _IDS:
        peer.publish("", b"m", exchange=exchange, message={"message_id": number})
    peer.barrier()
    destination = peer.subscribe(queues[0], messages=2)
    first = peer.transfers(2)
    peer.claim("both ids, each time")
    answer(peer, "release", first, set_redelivered=True)
    peer.call("message.cancel", destination=destination)
    has_on_offer_soon(peer, queues[0], 2)
    found = [[one.message.get("message_id") for one in took] for took in (first, *map(peer.drain, queues))]
    return equals(peer, found, [list(_IDS)] * 3, "ids")


@on_queue("message.correlation-id", covers=["message/message-properties/correlation-id/ignored"])
def correlation_id(peer: Peer, queue: str) -> Verdict:
    """A correlation-id is passed on unchanged, and messages with the same one are all delivered."""
    given = [b"c", b"c", b"\x00\xff", b""]
    for value in given:
        peer.publish(queue, b"m", message={"correlation_id": value})
    peer.barrier()
    peer.claim("every message with its correlation-id")
    return equals(peer, [one.message.get("correlation_id") for one in peer.drain(queue)], given, "ids")


@on_queue("message.user-id.foreign", covers=["message/message-properties/user-id/authentication"])
def foreign_user(peer: Peer, queue: str) -> Verdict:
    """A message with the user-id of another user is refused."""
    peer.publish(queue, b"m", message={"user_id": f"not-{peer.context.login.user}".encode()})
    return rejects_violation(peer)


@in_session("message.user-id.own", covers=["message/message-properties/user-id/authentication"])
def own_user(peer: Peer) -> Verdict:
    """A message with the user-id of its publisher is delivered, and so is one without a user-id."""
    queue, user = peer.queue(), peer.context.login.user.encode()
    peer.claim("both messages, with user-id unchanged")
    for message in ({"user_id": user}, {"app_id": b"a"}):
        peer.publish(queue, b"m", message=message)
    peer.barrier()
    found = [one.message.get("user_id") for one in peer.drain(queue)]
    return equals(peer, (found, count_of(peer, queue)), ([user, None], 0), "user-ids, left")
