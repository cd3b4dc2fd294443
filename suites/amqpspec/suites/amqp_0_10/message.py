"""Class message: persistence, priorities, modes of acceptance and acquisition (amqp-0-10 class message).

Knows: what modes and priorities promise. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, NOT_ACQUIRED, Peer
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue
from amqpspec.suites.amqp_0_10._entities import after_restart, bodies, send
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

PERSISTENT = 2

# --- persistence


def _persistent(peer: Peer, queue: str, *contents: bytes) -> None:
    for body in contents:
        peer.publish(queue, body, delivery={"delivery_mode": PERSISTENT})
        peer.barrier()


@in_session(
    "message.persistent.restart",
    covers=[
        "message/persistent-message/storage",
        "message/persistent-message/respected",
        "message/delivery-mode/persistent/stored",
    ],
    restarts=True,
    budget_s=180.0,
)
def restart(peer: Peer) -> Verdict:
    """Persistent messages in durable queues survive a restart, in order and in their queues."""
    queues = [peer.queue(durable=True, exclusive=False) for _ in "12"]
    for queue, names in zip(queues, ((b"1", b"2"), (b"3",)), strict=True):
        _persistent(peer, queue, *names)
    after = after_restart(peer)
    after.claim("the persistent messages")
    return equals(after, [bodies(after, queue) for queue in queues], [[b"1", b"2"], [b"3"]], "bodies")


@in_session(
    "message.persistent.unaccepted",
    covers=["message/delivery-mode/persistent/stored"],
    restarts=True,
    budget_s=180.0,
)
def restart_with_a_delivery(peer: Peer) -> Verdict:
    """A persistent message that was delivered but not accepted survives a restart; an accepted one does not."""
    queue = peer.queue(durable=True, exclusive=False)
    _persistent(peer, queue, b"accepted", b"pending", b"waiting")
    peer.subscribe(queue, messages=2)
    peer.accept(peer.transfers(2)[:1])
    after = after_restart(peer)
    after.claim("the messages that were not accepted")
    return equals(after, sorted(contents(after.drain(queue))), [b"pending", b"waiting"], "bodies")


@in_session(
    "message.persistent.more-than-once",
    covers=["message/delivery-mode/persistent/more-than-once"],
    restarts=True,
    budget_s=180.0,
)
def delivered_over_again(peer: Peer) -> Verdict:
    """A persistent message that was delivered but not accepted may be delivered again after a restart."""
    queue = peer.queue(durable=True, exclusive=False)
    _persistent(peer, queue, b"pending")
    peer.subscribe(queue, messages=1)
    peer.transfer()
    after = after_restart(peer)
    after.claim("the message again, or not")
    again = bodies(after, queue)
    if again not in ([], [b"pending"]):
        return equals(after, again, [b"pending"], "bodies")
    return observed_either_way(after, "delivered once more" if again else "not delivered once more")


@on_queue("message.non-persistent.once", covers=["message/delivery-mode/non-persistent/at-most-once"])
def at_most_once(peer: Peer, queue: str) -> Verdict:
    """Each non-persistent message is delivered once, to one of two subscribers."""
    consumers = [peer.subscribe(queue) for _ in "12"]
    fill(peer, queue, b"1", b"2", b"3")
    peer.claim("each message once")
    found = peer.transfers(3)
    peer.accept(found)
    rest = [transfer for name in consumers for transfer in flushed(peer, name)]
    told = (sorted(contents(found)), contents(rest), count_of(peer, queue))
    return equals(peer, told, ([b"1", b"2", b"3"], [], 0), "bodies, again, left")


# --- priorities


def _by_priority(peer: Peer, priorities: list[int]) -> list[int]:
    """The places of messages of these priorities in the order in which they come out of a queue."""
    queue = peer.queue()
    for place, priority in enumerate(priorities):
        peer.publish(queue, b"%d" % place, delivery={"priority": priority})
    peer.barrier()
    return [int(body or b"-1") for body in bodies(peer, queue)]


@in_session("message.priority.two", covers=["message/min-priority-levels"])
def two_priorities(peer: Peer) -> Verdict:
    """Messages of priority 9 are delivered before those of priority 0."""
    peer.claim("priority 9 before priority 0, each in order")
    return equals(peer, _by_priority(peer, [0, 9, 0, 9]), [1, 3, 0, 2], "order")


@in_session("message.priority.levels", covers=["message/priority-level-implementation"])
def levels_of_priority(peer: Peer) -> Verdict:
    """Any number of priority levels is centred on the middle of the ten priorities."""
    priorities = [3, 8, 0, 5, 9, 4, 1, 7, 2, 6]
    found = _by_priority(peer, priorities)
    orders = {levels: _in_levels(priorities, levels) for levels in range(2, 11)}
    told = [levels for levels, order in orders.items() if order == found]
    observed = f"{told[0]} levels" if told else f"priorities {[priorities[place] for place in found]}"
    return holds(peer, bool(told), observed, "the order of two to ten levels, arranged by the rule")


def _in_levels(priorities: list[int], levels: int) -> list[int]:
    """The order for this many levels: the lowest ends at 5 - ceiling(n/2), the highest begins at 4 + floor(n/2)."""
    low, high = 5 - (levels + 1) // 2, 4 + levels // 2
    return sorted(range(len(priorities)), key=lambda place: -min(max(priorities[place], low), high))


@on_queue("message.priority.order", covers=["message/priority-delivery"])
def order_of_one_priority(peer: Peer, queue: str) -> Verdict:
    """Messages of the same priority keep their order, whether or not they are persistent."""
    for number, mode in enumerate((1, 2, 2, 1, 2, 1)):
        peer.publish(queue, b"%d" % number, delivery={"delivery_mode": mode})
    peer.barrier()
    peer.claim("the order in which they were published")
    return equals(peer, bodies(peer, queue), [b"%d" % number for number in range(6)], "bodies")


@in_session("message.priority.higher", covers=["message/delivery-properties/priority/order"])
def higher_priority(peer: Peer) -> Verdict:
    """A message of priority 5 may overtake one of priority 4."""
    peer.claim("both messages, in either order")
    found = _by_priority(peer, [4, 5])
    if sorted(found) != [0, 1]:
        return equals(peer, found, [1, 0], "order")
    return observed_either_way(peer, "overtakes" if found == [1, 0] else "waits its turn")


# --- accept-mode


@in_two_sessions("message.accept-mode.explicit", covers=["message/accept-mode/explicit"])
def explicit(peer: Peer) -> Verdict:
    """In explicit mode, a message that was delivered but not accepted is available after its session ends."""
    queue = fill(peer, peer.queue(exclusive=False), b"accepted", b"pending")
    peer.subscribe(queue)
    peer.accept(peer.transfers(2)[:1])
    peer.claim("the message that was not accepted")
    peer.detach()
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"pending"], "bodies")


@in_session("message.accept-mode.none", covers=["message/accept-mode/none"])
def none_and_shown(peer: Peer) -> Verdict:
    """Messages browsed with accept-mode none cannot be acquired and remain; in explicit mode they can be acquired."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    shown = looked_at(peer, queue, accept_mode=NONE)
    peer.claim("two messages shown, none of them acquired, both in the queue")
    if not shown:
        return equals(peer, contents(shown), [b"1", b"2"], "shown")
    found = (contents(shown), acquired(peer, shown), count_of(peer, queue))
    if found != ([b"1", b"2"], (), 2):
        return equals(peer, found, ([b"1", b"2"], (), 2), "shown, acquired, left")
    free = looked_at(peer, queue)
    return equals(peer, acquired(peer, free[:1]), ids(free[:1]), "acquired in explicit mode")


@in_two_sessions("message.accept-mode.none.taken", covers=["message/accept-mode/none"])
def none_and_taken(peer: Peer) -> Verdict:
    """With accept-mode none and acquire-mode pre-acquired, a delivered message is removed from its queue."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2")
    peer.subscribe(queue, messages=1, accept_mode=NONE)
    found = peer.transfer().body
    peer.claim("the first message delivered and deleted with its session; the second one in its queue")
    peer.detach()
    return equals(peer, (found, bodies(peer, queue, 1)), (b"1", [b"2"]), "sent, left")


# --- acquire-mode


@in_session("message.acquire-mode.pre-acquired", covers=["message/acquire-mode/pre-acquired"])
def pre_acquired(peer: Peer) -> Verdict:
    """In pre-acquired mode, a message belongs to its recipient: no other client receives it."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    peer.subscribe(queue, messages=1)
    mine = peer.transfer()
    peer.claim("the first message for the first subscriber only")
    left = count_of(peer, queue)
    others = contents(looked_at(peer, queue))
    answer(peer, "accept", [mine])
    found = (mine.body, mine["acquire_mode"], left, others, count_of(peer, queue))
    return equals(
        peer, found, (b"1", 0, 1, [b"2"], 1), "sent, mode, left, visible to others, left after the accept"
    )


@in_session("message.acquire-mode.not-acquired", covers=["message/acquire-mode/not-acquired"])
def not_acquired(peer: Peer) -> Verdict:
    """In not-acquired mode, two subscribers see a message, and the first one to acquire it gets it."""
    queue = fill(peer, peer.queue(), b"1", b"2")
    shown, again = looked_at(peer, queue), looked_at(peer, queue)
    peer.claim("both messages shown twice, and each acquired once")
    seen = (contents(shown), contents(again), {one["acquire_mode"] for one in shown}, count_of(peer, queue))
    first = acquired(peer, shown[:1]) == ids(shown[:1])
    second = acquired(peer, again) == ids(again[1:])
    both = [b"1", b"2"]
    wanted = (both, both, {NOT_ACQUIRED}, 2, True, True, 0)
    return equals(peer, (*seen, first, second, count_of(peer, queue)), wanted, "seen, acquired, left")


@in_session("message.acquire-mode.not-acquired.later", covers=["message/acquire-mode/not-acquired"])
def shown_as_they_come(peer: Peer) -> Verdict:
    """A not-acquired subscription receives later messages too, within its credit."""
    queue = fill(peer, peer.queue(), b"1")
    destination = peer.subscribe(queue, messages=2, acquire_mode=NOT_ACQUIRED)
    peer.claim("two messages shown, and the third one with more credit; all of them still in the queue")
    first = peer.transfer()
    fill(peer, queue, b"2", b"3")
    found = [first.body, peer.transfer().body]
    more = deliveries(peer, destination)
    peer.flow(destination, messages=1)
    found.append(peer.transfer().body)
    told = (found, contents(more), count_of(peer, queue))
    return equals(peer, told, ([b"1", b"2", b"3"], [], 3), "shown, without credit, left")


# --- reject codes


@in_session(
    "message.reject-code.unroutable",
    covers=["message/reject-code/unroutable", "message/delivery-properties/discard-unroutable/unset"],
)
def unroutable(peer: Peer) -> Verdict:
    """In explicit mode, a message that cannot be routed to a queue is rejected as unroutable."""
    peer.publish(peer.name("missing"), b"lost", accept_mode=EXPLICIT)
    return _rejected(peer, "message/delivery-properties/discard-unroutable/unset")


@on_queue(
    "message.reject-code.which",
    covers=["message/delivery-properties/discard-unroutable/unset", "message/reject-code/unroutable"],
)
def the_unroutable_one(peer: Peer, queue: str) -> Verdict:
    """Of two messages, only the unroutable one is rejected, and the session continues."""
    lost = peer.publish(peer.name("missing"), b"lost", accept_mode=EXPLICIT, sync=True)
    kept = peer.publish(queue, b"kept", accept_mode=EXPLICIT, sync=True)
    peer.claim("a reject of the first message, and both complete")
    rejected = peer.expect("message.reject")["transfers"]
    peer.completion(lost)
    peer.completion(kept)
    found = (rejected, peer.pending("message.reject"), bodies(peer, queue))
    return equals(peer, found, (((lost, lost),), [], [b"kept"]), "rejected, more, bodies")


def _rejected(peer: Peer, should: str) -> Verdict:
    """That a message is rejected at all is what another row asks for; by which code is the row's of the case."""
    reaction = peer.reaction()
    return judge_reaction(peer, reaction, should if reaction.refusal is None else "")


@on_queue(
    "message.reject-code.immediate",
    covers=["message/reject-code/immediate", "message/delivery-properties/immediate/unroutable"],
)
def immediate(peer: Peer, queue: str) -> Verdict:
    """In explicit mode, an immediate message to a queue without a subscriber is rejected."""
    send(peer, None, queue, b"waiting")
    peer.publish(queue, b"at once", accept_mode=EXPLICIT, delivery={"immediate": True})
    return _rejected(peer, "message/delivery-properties/immediate/unroutable")


@in_two_sessions("message.accept.order", covers=["message/accept-mode/explicit"])
def accepted_out_of_order(peer: Peer) -> Verdict:
    """If only the second of three transfers is accepted, the others return in order."""
    queue = fill(peer, peer.queue(exclusive=False), b"1", b"2", b"3")
    peer.subscribe(queue)
    found = peer.transfers(3)
    peer.claim("the first and the third message")
    answer(peer, "accept", found[1:2])
    peer.detach()
    return equals(peer, sorted(bodies_soon(peer, queue, 2, 1)), [b"1", b"3"], "bodies")
