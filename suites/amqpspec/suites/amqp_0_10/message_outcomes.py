"""Class message: transfer, accept, reject, release, acquire (amqp-0-10 class message).

Knows: the states of a transfer. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import EXPLICIT, Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, observed_either_way, without_effect
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue
from amqpspec.suites.amqp_0_10._entities import bodies, bound_to, send
from amqpspec.suites.amqp_0_10._messages import (
    acquired,
    answer,
    bodies_soon,
    contents,
    count_of,
    fill,
    flushed,
    has_on_offer_soon,
    ids,
    looked_at,
)

# --- transfer


@in_session("message.transfer.routing", covers=["message/transfer/routing"])
def routing(peer: Peer) -> Verdict:
    """A transfer is routed by the exchange that it names, and by no other."""
    exchanges = [peer.exchange("direct") for _ in "12"]
    queues = [bound_to(peer, name, ["k"])[0] for name in exchanges]
    peer.claim("each message in the queue of its exchange")
    for exchange, body in zip(exchanges, (b"1", b"2"), strict=True):
        send(peer, exchange, "k", body)
    return equals(peer, [bodies(peer, queue) for queue in queues], [[b"1"], [b"2"]], "bodies")


@in_session("message.transfer.subscription", covers=["message/transfer/subscription"])
def destinations(peer: Peer) -> Verdict:
    """Messages of a subscription contain its destination."""
    queues = [fill(peer, peer.queue(), body) for body in (b"1", b"2")]
    peer.claim("each message with the destination of its subscription")
    names = {peer.subscribe(queue): body for queue, body in zip(queues, (b"1", b"2"), strict=True)}
    found = {transfer["destination"]: transfer.body for transfer in peer.transfers(2)}
    return equals(peer, found, names, "bodies by destination")


@in_session("message.transfer.blank-destination", covers=["message/transfer/destination/blank-destination"])
def blank_destination(peer: Peer) -> Verdict:
    """A transfer with a blank destination, or with none, uses the default exchange."""
    queue, other = peer.queue(), peer.queue()
    peer.claim("both messages in the queue that the key names")
    send(peer, "", queue, b"blank")
    send(peer, None, queue, b"none")
    found = [bodies(peer, name) for name in (queue, other)]
    return equals(peer, found, [[b"blank", b"none"], []], "bodies")


@in_session("message.transfer.no-exchange", covers=["message/transfer/destination/nonexistent-exchange"])
def missing_exchange(peer: Peer) -> Verdict:
    """The server rejects a transfer to an exchange that does not exist."""
    peer.publish("k", b"m", exchange=peer.name("missing"))
    return rejects_violation(peer)


@in_two_sessions("message.transfer.transaction", covers=["message/transfer/transactional-publish"])
def transacted(peer: Peer) -> Verdict:
    """Messages published in a transaction reach their queue at commit; those of another session do so at once."""
    queue = peer.queue(exclusive=False)
    peer.call("tx.select")
    fill(peer, queue, b"transacted")
    send(peer, None, queue, b"plain", 1)
    peer.claim("the plain message, and the other one after commit")
    before = bodies(peer, queue, 1)
    peer.call("tx.commit")
    return equals(
        peer, (before, bodies_soon(peer, queue, 1, 1)), ([b"plain"], [b"transacted"]), "before, after"
    )


# --- accept


@in_session("message.accept.not-acquired", covers=["message/accept/acquisition"])
def accept_without_acquiring(peer: Peer) -> Verdict:
    """An accept of a message that was not acquired does not remove it from its queue."""
    other = peer.another()
    other.open_session()
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    shown = looked_at(peer, queue)
    peer.send("message.accept", transfers=ids(shown[:1]))
    reaction = peer.reaction()
    left = bodies(other, queue)
    effect = "" if left == [b"1", b"2"] else f"left: {left}"
    return without_effect(peer, reaction, effect)


@in_two_sessions("message.accept.acquired", covers=["message/accept/acquisition"])
def accept_behind_acquire(peer: Peer) -> Verdict:
    """Acquired messages can be accepted and are then removed; messages that were only browsed are not."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    shown = looked_at(peer, queue)
    peer.claim("the first message removed by its accept")
    took = acquired(peer, shown[:1]) == ids(shown[:1])
    answer(peer, "accept", shown[:1])
    peer.detach()
    return equals(peer, (took, bodies(peer, queue, 1)), (True, [b"2"]), "acquired, left")


def _left_behind(peer: Peer, first: str, then: str) -> list[bytes]:
    """What is in a queue when one of two transfers was answered twice, in either order of things refused."""
    peer.open_session()
    peer.open_session(1)
    queue = fill(peer, peer.queue(exclusive=False), b"answered", b"pending")
    peer.subscribe(queue)
    found = peer.transfers(2)
    answer(peer, first, found[:1])
    peer.claim("only the other message, whatever the answer to the second outcome")
    peer.send(f"message.{then}", transfers=ids(found[:1]))
    peer.reaction()
    if peer.sessions[0].attached:
        peer.detach()
    return bodies_soon(peer, queue, 1, 1)


@case("message.accept.reference", covers=["message/accept/reference"])
def release_behind_accept(peer: Peer) -> Verdict:
    """Accepted messages can no longer be released."""
    return equals(peer, _left_behind(peer, "accept", "release"), [b"pending"], "bodies")


# --- reject


@case("message.reject.reference", covers=["message/reject/reference"])
def release_behind_reject(peer: Peer) -> Verdict:
    """Rejected messages can no longer be released."""
    return equals(peer, _left_behind(peer, "reject", "release"), [b"pending"], "bodies")


@in_session("message.reject.alternate-exchange", covers=["message/reject/alternate-exchange/delivered"])
def rejected_to_the_alternate(peer: Peer) -> Verdict:
    """Rejected messages go to the alternate exchange of their queue, with any code."""
    alternates = [peer.exchange("fanout") for _ in "12"]
    orphans = [bound_to(peer, name, [""])[0] for name in alternates]
    queues = [peer.queue(alternate_exchange=name) for name in alternates]
    for queue, names in zip(queues, ((b"1", b"2"), (b"3",)), strict=True):
        fill(peer, queue, *names)
        peer.subscribe(queue)
    found = sorted(peer.transfers(3), key=lambda transfer: transfer.body)
    peer.claim("each rejected message at the alternate exchange of its queue")
    for transfer, code in zip(found, (0, 1, 2), strict=True):
        answer(peer, "reject", [transfer], code=code, text="no")
    return equals(peer, [bodies(peer, name) for name in orphans], [[b"1", b"2"], [b"3"]], "bodies")


@in_session(
    "message.reject.not-acquired",
    covers=["message/reject/acquisition/ignored", "message/reject/acquisition/required"],
)
def reject_without_acquiring(peer: Peer) -> Verdict:
    """A reject of a message that was not acquired is ignored: messages and session remain."""
    alternate = peer.exchange("fanout")
    (orphans,) = bound_to(peer, alternate, [""])
    queue = fill(peer, peer.queue(alternate_exchange=alternate), b"1", b"2")
    shown = looked_at(peer, queue)
    peer.claim("both messages in their queue, none at the alternate exchange")
    answer(peer, "reject", shown[:1])
    return equals(peer, [bodies(peer, name) for name in (queue, orphans)], [[b"1", b"2"], []], "bodies")


# --- release


@in_two_sessions("message.release.available", covers=["message/release/available"])
def released(peer: Peer) -> Verdict:
    """Released messages are available to another session; others are not."""
    queue = fill(peer, peer.queue(exclusive=False), b"released", b"held")
    destination = peer.subscribe(queue)
    found = peer.transfers(2)
    peer.call("message.cancel", destination=destination)
    peer.claim("the message that was released")
    answer(peer, "release", found[:1])
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"released"], "bodies")


@in_session("message.release.not-acquired", covers=["message/release/available"])
def released_unacquired(peer: Peer) -> Verdict:
    """A release of a message that was only browsed leaves it in its queue, and its id becomes invalid."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    shown = looked_at(peer, queue)
    peer.claim("each message once; the released one cannot be acquired")
    answer(peer, "release", shown[:1])
    took = acquired(peer, shown[:1])
    return equals(peer, (took, bodies(peer, queue)), ((), [b"1", b"2"]), "acquired, bodies")


def _order_behind_release(peer: Peer) -> list[bytes]:
    peer.open_session()
    queue = fill(peer, peer.queue(), b"1", b"2", b"3", b"4")
    destination = peer.subscribe(queue, messages=3)
    found = peer.transfers(3)
    peer.call("message.cancel", destination=destination)
    peer.claim("the released messages, before the messages after them")
    answer(peer, "release", [found[2], found[0]])
    return bodies_soon(peer, queue, 3)


@case("message.release.order", covers=["message/release/ordering/out-of-order"])
def order_behind_release(peer: Peer) -> Verdict:
    """Released messages are delivered again, in any order."""
    found = _order_behind_release(peer)
    if sorted(body or b"" for body in found) != [b"1", b"3", b"4"]:
        return equals(peer, found, [b"1", b"3", b"4"], "bodies")
    return observed_either_way(peer, "in order" if found == [b"1", b"3", b"4"] else "out of order")


@case("message.release.position", covers=["message/release/ordering/position"])
def position_behind_release(peer: Peer) -> Verdict:
    """Released messages keep their place in the queue."""
    return equals(peer, _order_behind_release(peer), [b"1", b"3", b"4"], "bodies")


def _flags_behind_release(peer: Peer, *flags: bool) -> list[bool]:
    """Whether the first of two messages comes as redelivered, at first and after each release."""
    peer.open_session()
    queue = fill(peer, peer.queue(), b"1", b"2")
    peer.claim("redelivered where the specification requires it")
    found = []
    for flag in (*flags, None):
        destination = peer.subscribe(queue, messages=1)
        (transfer,) = peer.transfers(1)
        found.append(bool(transfer.delivery.get("redelivered")) if transfer.body == b"1" else None)
        peer.call("message.cancel", destination=destination)
        if flag is not None:
            answer(peer, "release", [transfer], set_redelivered=flag)
            has_on_offer_soon(peer, queue, 2)
    peer.subscribe(queue, messages=1)
    found.append(bool(peer.transfer().delivery.get("redelivered")))
    return [bool(flag) for flag in found]


@case("message.release.set-redelivered", covers=["message/release/set-redelivered/set"])
def release_as_redelivered(peer: Peer) -> Verdict:
    """With set-redelivered, released messages are delivered again as redelivered; the message after them is not."""
    return equals(peer, _flags_behind_release(peer, True), [False, True, False], "redelivered")


@case("message.release.keep-redelivered", covers=["message/release/set-redelivered/unset"])
def release_as_it_was(peer: Peer) -> Verdict:
    """Without set-redelivered, released messages keep their flag, whether set or unset."""
    found = _flags_behind_release(peer, False, True, False)
    return equals(peer, found, [False, False, True, True, False], "redelivered")


# --- acquire


@in_session("message.acquire.one-to-one", covers=["message/acquire/one-to-one"])
def acquire(peer: Peer) -> Verdict:
    """Each acquire has one result, even if some or all of its messages cannot be acquired."""
    queue = fill(peer, peer.queue(), b"1", b"2", b"3")
    shown = looked_at(peer, queue)
    peer.claim("the ids that could be acquired, and an empty result")
    found = [acquired(peer, shown[:1]), acquired(peer, shown[:1]), acquired(peer, shown)]
    flat = [[number for lower, upper in one for number in range(lower, upper + 1)] for one in found]
    numbers = [transfer.id for transfer in shown]
    more = len(peer.pending("execution.result"))
    return equals(peer, (flat, more), ([numbers[:1], [], numbers[1:]], 0), "acquired, further results")


@in_two_sessions("message.acquire.released", covers=["message/release/available"])
def acquire_what_another_released(peer: Peer) -> Verdict:
    """A message that one session has acquired cannot be acquired by another until it is released."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    mine, other = looked_at(peer, queue), looked_at(peer, queue, 1)
    acquired(peer, mine[:1])
    peer.claim("nothing at first, then the message")
    before = acquired(peer, other[:1], 1)
    answer(peer, "release", mine[:1])
    has_on_offer_soon(peer, queue, 2, 1)
    found = (before, acquired(peer, other[:1], 1), count_of(peer, queue, 1))
    return equals(peer, found, ((), ids(other[:1]), 1), "acquired, then, left")


# --- what is not acquired is not kept from others


@on_queue("message.transfer.accepted", covers=["message/accept-mode/explicit", "message/transfer/routing"])
def accepted_by_the_broker(peer: Peer, queue: str) -> Verdict:
    """In explicit mode, the broker accepts each transfer that it has routed, by its id."""
    peer.claim("an accept for each transfer, and the messages")
    wanted = [peer.publish(queue, body, accept_mode=EXPLICIT) for body in (b"1", b"2")]
    accepted: list[int] = []
    while len(accepted) < len(wanted):
        for lower, upper in peer.expect("message.accept")["transfers"]:
            accepted.extend(range(lower, upper + 1))
    destination = peer.subscribe(queue)
    found = (sorted(accepted), contents(flushed(peer, destination)))
    return equals(peer, found, (wanted, [b"1", b"2"]), "accepted, bodies")
