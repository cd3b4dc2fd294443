"""Queues: purging and deleting them (amqp-0-9-1 queue.purge, queue.delete)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import arrive, contents, counts, exists, fill, hold

# --- purge


@on_queue("queue.purge.empties", covers=["queue/purge"])
def purge_empties_a_queue(peer: Peer, queue: str) -> Verdict:
    """Purge removes all messages, and the queue then works as before."""
    fill(peer, queue, 3)
    peer.claim("only what was published after the purge")
    peer.call("queue.purge", queue=queue)
    peer.publish(queue, b"later")
    return equals(peer, contents(peer, queue), [b"later"], "messages")


@on_queue("queue.purge-ok.message-count", covers=["queue/purge-ok/message-count"])
def purge_ok_counts(peer: Peer, queue: str) -> Verdict:
    """purge-ok reports the number of purged messages, and zero for an empty queue."""
    fill(peer, queue, 3)
    peer.claim("the number of messages purged, first of three and then of none")
    purged = [peer.call("queue.purge", queue=queue)["message_count"] for _ in range(2)]
    return equals(peer, purged, [3, 0], "message counts")


@on_queue("queue.purge.unacknowledged", covers=["queue/purge/unacknowledged", "queue/purge"])
def purge_spares_the_unacknowledged(peer: Peer, queue: str) -> Verdict:
    """An unacknowledged message is not purged, and is redelivered after its channel was closed."""
    first, *_ = fill(peer, queue, 3)
    # Fetched and not acknowledged: out of the queue, yet not gone.
    peer.call("basic.get", queue=queue)
    peer.open_channel(2)
    peer.claim("the unacknowledged message, and no other")
    peer.call("queue.purge", channel=2, queue=queue)
    peer.call("channel.close", reply_code=200, reply_text="done")
    again = hold(peer, queue, channel=2, no_ack=True).body
    left = counts(peer, queue, channel=2)
    return equals(peer, (again, left), (first, (0, 1)), "message, then messages left and consumers")


@on_queue(
    "queue.purge-ok.not-the-unacknowledged",
    covers=["queue/purge-ok/message-count", "queue/purge/unacknowledged"],
)
def purge_ok_does_not_count_the_unacknowledged(peer: Peer, queue: str) -> Verdict:
    """purge-ok does not count unacknowledged messages."""
    fill(peer, queue, 3)
    peer.call("basic.get", queue=queue)
    peer.claim("the number of messages purged")
    return equals(peer, peer.call("queue.purge", queue=queue)["message_count"], 2, "message count")


@on_channel("queue.purge.queue.unnamed", covers=["queue/purge/queue/queue-known"])
def purge_without_a_queue(peer: Peer) -> Verdict:
    """A purge without a queue name is refused on a channel that has declared no queue."""
    peer.send("queue.purge")
    return rejects_violation(peer)


@on_channel("queue.purge.queue.missing", covers=["queue/purge/queue/must-exist"])
def purge_a_missing_queue(peer: Peer) -> Verdict:
    """Purging a missing queue is refused."""
    peer.send("queue.purge", queue=peer.name("q"))
    return rejects_violation(peer)


# --- delete


@on_queue("queue.delete.removes", covers=["queue/delete"])
def delete_removes_a_queue(peer: Peer, queue: str) -> Verdict:
    """A deleted queue no longer exists, and a new one with its name is empty."""
    fill(peer, queue, 2)
    peer.claim("no queue after delete-ok, and no message in its successor")
    peer.call("queue.delete", queue=queue)
    there = exists(peer, queue)
    peer.queue(queue=queue)
    left = contents(peer, queue)
    return holds(peer, not there and not left, f"a queue: {there}, messages in its successor: {left}")


@on_queue("queue.delete.ends-consumers", covers=["queue/delete"])
def delete_ends_consumers(peer: Peer, queue: str) -> Verdict:
    """A consumer of a deleted queue receives nothing from a new queue of that name."""
    peer.consume(queue, no_ack=True, consumer_tag="old")
    peer.claim("no consumer at the new queue, which keeps its message")
    peer.call("queue.delete", queue=queue)
    # A consumer that is tied to the name, not to the queue, would wake up here.
    peer.queue(queue=queue)
    peer.publish(queue, b"not for the old")
    arrive(peer, queue, 1)
    taken = len(peer.pending("basic.deliver"))
    return equals(peer, (taken, counts(peer, queue)), (0, (1, 0)), "deliveries, then messages and consumers")


@on_channel("queue.delete.queue.unnamed", covers=["queue/delete/queue/queue-known"])
def delete_without_a_queue(peer: Peer) -> Verdict:
    """A delete without a queue name is refused on a channel that has declared no queue."""
    peer.send("queue.delete")
    return rejects_violation(peer)


@on_channel("queue.delete.queue.missing", covers=["queue/delete/queue/must-exist"])
def delete_a_missing_queue(peer: Peer) -> Verdict:
    """Deleting a missing queue is refused."""
    peer.send("queue.delete", queue=peer.name("q"))
    return rejects_violation(peer)


@on_queue("queue.delete.if-unused.in-use", covers=["queue/delete/if-unused/in-use"])
def delete_refused_while_in_use(peer: Peer, queue: str) -> Verdict:
    """With if-unused, deleting a queue that has a consumer is refused."""
    peer.consume(queue)
    peer.send("queue.delete", queue=queue, if_unused=True)
    return rejects_violation(peer)


@on_queue("queue.delete.if-unused.stays", covers=["queue/delete/if-unused/in-use"])
def queue_in_use_stays(peer: Peer, queue: str) -> Verdict:
    """With if-unused, a queue with a consumer and a message is not deleted."""
    bodies = fill(peer, queue, 1)
    # Its consumer is at work: the message that it holds returns if the queue survives.
    hold(peer, queue)
    peer.open_channel(2)
    peer.claim("the queue with its message after the delete")
    peer.send("queue.delete", channel=2, queue=queue, if_unused=True)
    peer.arrival("queue.delete-ok", channel=2)
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(3)
    return equals(peer, hold(peer, queue, channel=3).body, bodies[0], "message")


@on_queue("queue.delete.if-unused.unused", covers=["queue/delete/if-unused/in-use"])
def unused_queue_goes(peer: Peer, queue: str) -> Verdict:
    """With if-unused, a queue without consumers is deleted, even if it has messages."""
    fill(peer, queue, 1)
    peer.claim("delete-ok, and no queue")
    peer.call("queue.delete", queue=queue, if_unused=True)
    return _gone(peer, queue)


@on_queue("queue.delete.if-empty.not-empty", covers=["queue/delete/if-empty/not-empty"])
def delete_refused_while_not_empty(peer: Peer, queue: str) -> Verdict:
    """With if-empty, deleting a queue that has a message is refused."""
    fill(peer, queue, 1)
    peer.send("queue.delete", queue=queue, if_empty=True)
    return rejects_violation(peer)


@on_queue("queue.delete.if-empty.stays", covers=["queue/delete/if-empty/not-empty"])
def queue_with_messages_stays(peer: Peer, queue: str) -> Verdict:
    """With if-empty, a queue with messages is not deleted and keeps them."""
    bodies = fill(peer, queue, 2)
    peer.claim("the queue with its messages after the delete")
    peer.send("queue.delete", queue=queue, if_empty=True)
    peer.arrival("queue.delete-ok")
    peer.open_channel(2)
    return equals(peer, contents(peer, queue, channel=2), bodies, "messages")


@on_queue("queue.delete.if-empty.empty", covers=["queue/delete/if-empty/not-empty"])
def empty_queue_goes(peer: Peer, queue: str) -> Verdict:
    """With if-empty, a queue without messages is deleted, even if it has a consumer."""
    peer.consume(queue)
    peer.claim("delete-ok, and no queue")
    peer.call("queue.delete", queue=queue, if_empty=True)
    return _gone(peer, queue)


@on_channel("queue.delete-ok.message-count", covers=["queue/delete-ok/message-count"])
def delete_ok_counts(peer: Peer) -> Verdict:
    """delete-ok reports the number of messages deleted with the queue (tested with three and none)."""
    full, empty = peer.queue(), peer.queue()
    fill(peer, full, 3)
    peer.claim("the number of messages deleted")
    deleted = [peer.call("queue.delete", queue=queue)["message_count"] for queue in (full, empty)]
    return equals(peer, deleted, [3, 0], "message counts")


# --- steps


def _gone(peer: Peer, queue: str) -> Verdict:
    there = exists(peer, queue)
    return holds(
        peer, not there, "delete-ok, and the queue still there" if there else "delete-ok, and no queue"
    )
