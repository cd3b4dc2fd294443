"""Class message: subscribe and cancel (amqp-0-10 message.subscribe).

Knows: destinations, exclusive subscriptions, what a cancel leaves. Must not know: targets.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_0_10.peer import UNLIMITED, Peer
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_10._entities import bodies, bound_to, has_queue, send, soon
from amqpspec.suites.amqp_0_10._messages import (
    acquired,
    answer,
    bodies_soon,
    contents,
    count_of,
    deliveries,
    fill,
    flushed,
    ids,
    looked_at,
)

_ROOM = 16


def _subscribers(peer: Peer, queue: str, channel: int = 0) -> int:
    return int(peer.call("queue.query", channel, queue=queue).fields.get("subscriber_count") or 0)


def _subscribe(peer: Peer, queue: str, channel: int = 0, destination: str = "d", **args: Any) -> None:
    given: dict[str, Any] = {"accept_mode": 0, "acquire_mode": 0, **args}
    peer.send("message.subscribe", channel, queue=queue, destination=destination, **given)


# --- how long, how many


@in_two_sessions("message.subscribe.lifetime", covers=["message/subscribe/lifetime"])
def lifetime(peer: Peer) -> Verdict:
    """A subscription delivers messages until its session ends, and no longer."""
    queue = peer.queue(exclusive=False)
    peer.subscribe(queue)
    peer.subscribe(queue, 1, messages=None)
    peer.claim("three messages one by one; then only the subscription of the other session")
    found = []
    for body in (b"1", b"2", b"3"):
        fill(peer, queue, body)
        transfer = peer.transfer()
        peer.accept([transfer])
        found.append(transfer.body)
    before = _subscribers(peer, queue, 1)
    peer.detach()
    told = (found, before, soon(peer, lambda: _subscribers(peer, queue, 1) == 1))
    return equals(peer, told, ([b"1", b"2", b"3"], 2, True), "bodies, subscribers before, one after")


@on_queue("message.subscribe.sixteen", covers=["message/subscribe/simultaneous-subscriptions"])
def sixteen(peer: Peer, queue: str) -> Verdict:
    """A queue supports 16 subscriptions, and each of them receives a message."""
    peer.claim("16 subscriptions, a message for each")
    names = [peer.subscribe(queue, messages=1) for _ in range(_ROOM)]
    fill(peer, queue, *(b"%d" % number for number in range(_ROOM)))
    found = {transfer["destination"] for transfer in peer.transfers(_ROOM)}
    return equals(
        peer, (found == set(names), _subscribers(peer, queue)), (True, _ROOM), "all served, subscribers"
    )


@in_session("message.subscribe.initial-credit", covers=["message/subscribe/initial-credit"])
def initial_credit(peer: Peer) -> Verdict:
    """A new subscription has no credit: nothing arrives before both credits are granted."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    names = [peer.subscribe(queue, messages=None, octets=None) for _ in "123"]
    peer.flow(names[1], messages=UNLIMITED)
    peer.flow(names[2], octets=UNLIMITED)
    peer.claim("nothing for any of the three subscriptions")
    found = [contents(flushed(peer, name)) for name in names]
    return equals(peer, (found, count_of(peer, queue)), ([[]] * 3, 2), "bodies, left")


@in_session("message.subscribe.default-flow-mode", covers=["message/subscribe/default-flow-mode"])
def window_by_default(peer: Peer) -> Verdict:
    """A new subscription is in window mode: each completed message allows one more."""
    queue = fill(peer, peer.queue(), b"1", b"2", b"3")
    destination = peer.subscribe(queue, messages=1)
    first = peer.transfer()
    peer.claim("the second message after the first one is complete, and no further one")
    peer.complete([first.id or 0])
    second = peer.transfer()
    found = (second.body, contents(flushed(peer, destination)), count_of(peer, queue))
    return equals(peer, found, (b"2", [], 1), "second, further, left")


# --- queues that are not there, or not any more


@in_session("message.subscribe.no-queue", covers=["message/subscribe/queue-not-found"])
def missing_queue(peer: Peer) -> Verdict:
    """A subscription to a queue that does not exist is refused."""
    _subscribe(peer, peer.name("missing"))
    return rejects_violation(peer)


@in_two_sessions("message.subscribe.queue-deleted", covers=["message/subscribe/queue-deletion"])
def deleted_queue(peer: Peer) -> Verdict:
    """The delete of its queue closes the session of a subscription."""
    queue = peer.queue(exclusive=False)
    peer.subscribe(queue, 1)
    peer.call("queue.delete", queue=queue)
    return rejects_violation(peer, 1, barrier=False, within_s=peer.patience_s)


@in_two_sessions("message.subscribe.queue-deleted.others", covers=["message/subscribe/queue-deletion"])
def deleted_queue_of_others(peer: Peer) -> Verdict:
    """The delete of a queue does not affect sessions without a subscription to it."""
    gone, stays = peer.queue(exclusive=False), peer.queue(exclusive=False)
    peer.subscribe(stays, 1)
    peer.call("message.cancel", 1, destination=peer.subscribe(gone, 1))
    peer.claim("the message of the other queue, and both sessions continue to work")
    peer.call("queue.delete", queue=gone)
    fill(peer, stays, b"m")
    found = peer.transfer(1).body
    peer.barrier(1)
    return equals(peer, (found, has_queue(peer, stays)), (b"m", True), "body, queue there")


# --- destinations


@in_session(
    "message.subscribe.destination.taken",
    covers=["message/subscribe/destination/unique-subscriber-destination"],
)
def destination_in_use(peer: Peer) -> Verdict:
    """A destination in use by a subscription of the session cannot be used for a second one, on any queue."""
    queue, other = peer.queue(), peer.queue()
    destination = peer.subscribe(queue)
    _subscribe(peer, other, destination=destination)
    return rejects_violation(peer)


@in_session(
    "message.subscribe.destination.free",
    covers=["message/subscribe/destination/unique-subscriber-destination"],
)
def destination_behind_cancel(peer: Peer) -> Verdict:
    """A destination can be used again after its subscription is cancelled."""
    queues = [fill(peer, peer.queue(), body) for body in (b"1", b"2")]
    peer.claim("the message of the second queue, with the same destination")
    destination = peer.subscribe(queues[0], messages=None)
    peer.call("message.cancel", destination=destination)
    peer.subscribe(queues[1], destination=destination)
    found = peer.transfer()
    told = (found["destination"] == destination, found.body, bodies(peer, queues[0]))
    return equals(peer, told, (True, b"2", [b"1"]), "destination, body, left")


@in_two_sessions(
    "message.subscribe.destination.session", covers=["message/subscribe/destination/session-local"]
)
def destination_of_a_session(peer: Peer) -> Verdict:
    """Two sessions can use the same destination, with independent messages and cancels."""
    queues = [peer.queue(channel) for channel in (0, 1)]
    peer.claim("each session its own messages; after the cancel of one, the other one continues")
    for channel, queue in enumerate(queues):
        peer.subscribe(queue, channel, destination="d")
    for channel, queue in enumerate(queues):
        send(peer, None, queue, b"%d" % channel, channel)
    found = [peer.transfer(channel).body for channel in (0, 1)]
    peer.call("message.cancel", destination="d")
    send(peer, None, queues[1], b"more", 1)
    return equals(peer, [*found, peer.transfer(1).body], [b"0", b"1", b"more"], "bodies")


# --- exclusive subscriptions


def _refused_second(peer: Peer, row: str, first: bool, second: bool, channel: int = 1) -> Verdict:
    """What a second subscription to a queue is met with, by whether each of them is exclusive."""
    peer.open_session()
    if channel:
        peer.open_session(channel)
    queue = peer.queue(exclusive=False)
    peer.subscribe(queue, exclusive=first)
    _subscribe(peer, queue, channel, exclusive=second)
    return rejects_violation(peer, channel, row=row)


_ALONE, _IN_USE = "message/subscribe/exclusive/alone", "message/subscribe/exclusive/in-use"


@case("message.subscribe.exclusive.alone", covers=[_ALONE])
def next_to_an_exclusive_one(peer: Peer) -> Verdict:
    """If a queue has an exclusive subscription, other sessions cannot subscribe to it."""
    return _refused_second(peer, _ALONE, first=True, second=False)


@case("message.subscribe.exclusive.own-session", covers=[_ALONE])
def next_to_ones_own(peer: Peer) -> Verdict:
    """If a queue has an exclusive subscription, its own session cannot subscribe to it again."""
    return _refused_second(peer, _ALONE, first=True, second=False, channel=0)


@case("message.subscribe.exclusive.in-use", covers=[_IN_USE])
def exclusive_where_others_are(peer: Peer) -> Verdict:
    """An exclusive subscription to a queue that has a subscription is refused."""
    return _refused_second(peer, _IN_USE, first=False, second=True)


@on_shared_queue("message.subscribe.exclusive.other-connection", covers=[_IN_USE])
def exclusive_on_another_connection(peer: Peer, queue: str) -> Verdict:
    """An exclusive subscription is refused if another connection has subscribed to the queue."""
    peer.subscribe(queue)
    other = peer.another()
    other.open_session()
    _subscribe(other, queue, exclusive=True)
    return rejects_violation(other)


@in_session("message.subscribe.exclusive.free", covers=[_IN_USE, _ALONE])
def exclusive_behind_cancel(peer: Peer) -> Verdict:
    """After a cancel, a queue accepts an exclusive subscription, and after its cancel a shared one."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    peer.claim("a message for each subscription")
    found = []
    for exclusive in (False, True, False):
        destination = peer.subscribe(queue, messages=None, exclusive=exclusive)
        found.append(_subscribers(peer, queue))
        peer.call("message.cancel", destination=destination)
    return equals(peer, (found, bodies(peer, queue)), ([1, 1, 1], [b"1", b"2"]), "subscribers, bodies")


# --- cancel


@in_session("message.cancel.no-more", covers=["message/cancel/no-more"])
def cancelled(peer: Peer) -> Verdict:
    """After cancel completes, nothing more arrives for the subscription; another one continues."""
    queue, other = peer.queue(), peer.queue()
    first, second = peer.subscribe(queue), peer.subscribe(other)
    fill(peer, queue, b"before")
    before = peer.transfer()
    peer.claim("the message from before the cancel, and those of the other subscription")
    peer.call("message.cancel", destination=first)
    fill(peer, queue, b"behind")
    fill(peer, other, b"other")
    found = (before.body, contents(flushed(peer, second)), contents(deliveries(peer, first)))
    answer(peer, "accept", [before])
    told = (*found, bodies(peer, queue))
    return equals(peer, told, (b"before", [b"other"], [], [b"behind"]), "before, other, after, left")


@in_two_sessions(
    "message.cancel.pending", covers=["message/cancel/post-cancel-transfer-resolution/unaffected"]
)
def pending_behind_cancel(peer: Peer) -> Verdict:
    """After a cancel, unaccepted transfers stay with their recipient until its session ends."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2", b"3")
    destination = peer.subscribe(queue, messages=2)
    peer.transfers(2)
    peer.call("message.cancel", destination=destination)
    peer.claim("only the third message; the unaccepted ones after the session ends")
    found = bodies(peer, queue, 1)
    peer.detach()
    return equals(
        peer, (found, sorted(bodies_soon(peer, queue, 2, 1))), ([b"3"], [b"1", b"2"]), "before, after"
    )


@in_two_sessions(
    "message.cancel.resolved", covers=["message/cancel/post-cancel-transfer-resolution/resolvable"]
)
def resolved_behind_cancel(peer: Peer) -> Verdict:
    """Messages that arrived before a cancel can be accepted, rejected, released and acquired after it."""
    alternate = peer.exchange("fanout")
    (orphans,) = bound_to(peer, alternate, [""])
    queue = peer.queue(exclusive=False, alternate_exchange=alternate)
    fill(peer, queue, b"accepted", b"rejected", b"released", b"acquired")
    destination = peer.subscribe(queue, messages=3)
    found = peer.transfers(3)
    peer.call("message.cancel", destination=destination)
    shown = looked_at(peer, queue)
    peer.call("message.cancel", destination=shown[0]["destination"])
    peer.claim("each message where its outcome sends it")
    took = acquired(peer, shown) == ids(shown)
    for outcome, transfer in zip(("accept", "reject", "release"), found, strict=True):
        answer(peer, outcome, [transfer])
    answer(peer, "accept", shown)
    left, dead = bodies_soon(peer, queue, 1, 1), bodies(peer, orphans)
    peer.detach()
    told = (took, left, dead, count_of(peer, queue, 1))
    return equals(
        peer, told, (True, [b"released"], [b"rejected"], 0), "acquired, left, at the alternate exchange, then"
    )


@in_two_sessions("message.cancel.missing", covers=["message/cancel/destination/subscription-not-found"])
def cancel_of_nothing(peer: Peer) -> Verdict:
    """The cancel of a subscription of another session is refused."""
    destination = peer.subscribe(peer.queue(1), 1)
    return rejects(peer, "message.cancel", destination=destination)


@in_session("message.cancel.twice", covers=["message/cancel/destination/subscription-not-found"])
def cancel_once_more(peer: Peer) -> Verdict:
    """The second cancel of a subscription is refused."""
    destination = peer.subscribe(peer.queue())
    peer.call("message.cancel", destination=destination)
    return rejects(peer, "message.cancel", destination=destination)
