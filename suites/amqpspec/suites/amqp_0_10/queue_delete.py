"""Class queue: delete, purge, query (amqp-0-10 class queue).

Knows: what is deleted with a queue, what a purge leaves, what a query reports. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue
from amqpspec.suites.amqp_0_10._entities import bodies, bound_to, counts_soon, has_queue, send

# --- delete


@in_session("queue.delete.messages", covers=["queue/delete/messages"])
def messages_of_a_deleted_queue(peer: Peer) -> Verdict:
    """The messages of a deleted queue go to its alternate exchange, in order."""
    alternate = peer.exchange("fanout")
    (orphans,) = bound_to(peer, alternate, [""])
    queue, other = (peer.queue(alternate_exchange=alternate) for _ in "12")
    for name, body in ((queue, b"1"), (other, b"other"), (queue, b"2")):
        send(peer, None, name, body)
    peer.claim("the messages of the deleted queue at the alternate exchange")
    peer.call("queue.delete", queue=queue)
    found = [bodies(peer, name) for name in (orphans, other)]
    return equals(peer, found, [[b"1", b"2"], [b"other"]], "bodies")


@on_queue("queue.delete.messages.vanish", covers=["queue/delete/messages"])
def messages_without_an_alternate(peer: Peer, queue: str) -> Verdict:
    """Without an alternate exchange, the messages of a deleted queue are lost."""
    send(peer, None, queue, b"lost")
    peer.claim("an empty queue of the same name")
    peer.call("queue.delete", queue=queue)
    gone = not has_queue(peer, queue)
    peer.call("queue.declare", queue=queue, exclusive=True)
    return equals(peer, (gone, bodies(peer, queue)), (True, []), "deleted, bodies")


@in_session("queue.delete.empty-name", covers=["queue/delete/queue/empty-name"])
def delete_without_a_name(peer: Peer) -> Verdict:
    """A delete without a queue name is refused."""
    return rejects(peer, "queue.delete", queue="")


@in_session("queue.delete.missing", covers=["queue/delete/queue/queue-exists"])
def delete_of_nothing(peer: Peer) -> Verdict:
    """A queue that does not exist cannot be deleted."""
    return rejects(peer, "queue.delete", queue=peer.name("missing"))


@on_queue("queue.delete.if-unused", covers=["queue/delete/if-unused/if-unused-flag"])
def delete_if_unused(peer: Peer, queue: str) -> Verdict:
    """With if-unused, the delete of a queue with a consumer is refused."""
    peer.subscribe(queue)
    return rejects(peer, "queue.delete", queue=queue, if_unused=True)


@on_queue("queue.delete.unused", covers=["queue/delete/if-unused/if-unused-flag"])
def delete_of_an_unused_queue(peer: Peer, queue: str) -> Verdict:
    """With if-unused, a queue without consumers is deleted, even if it holds messages."""
    peer.call("message.cancel", destination=peer.subscribe(queue))
    send(peer, None, queue, b"waiting")
    peer.claim("the queue is deleted")
    peer.call("queue.delete", queue=queue, if_unused=True)
    return equals(peer, has_queue(peer, queue), False, "queue there")


@on_queue("queue.delete.if-empty", covers=["queue/delete/if-empty/not-empty"])
def delete_if_empty(peer: Peer, queue: str) -> Verdict:
    """With if-empty, the delete of a queue with a message is refused."""
    send(peer, None, queue, b"waiting")
    return rejects(peer, "queue.delete", queue=queue, if_empty=True)


@in_session("queue.delete.if-empty.stays", covers=["queue/delete/if-empty/not-empty"])
def full_queue_stays(peer: Peer) -> Verdict:
    """With if-empty, a queue with a message remains unchanged, and an empty one is deleted."""
    full, empty = (peer.queue(exclusive=False) for _ in "12")
    send(peer, None, full, b"kept")
    peer.claim("the queue with its message; the empty one deleted")
    peer.call("queue.delete", queue=empty, if_empty=True)
    peer.send("queue.delete", queue=full, if_empty=True)
    peer.reaction()
    peer.open_session(1)
    found = (has_queue(peer, empty, 1), bodies(peer, full, 1) if has_queue(peer, full, 1) else None)
    return equals(peer, found, (False, [b"kept"]), "empty one there, bodies")


# --- purge


@in_session("queue.purge", covers=["queue/purge/empty"])
def purge(peer: Peer) -> Verdict:
    """Purge empties a queue and does not affect other queues."""
    queue, other = peer.queue(), peer.queue()
    for name in (queue, queue, other):
        send(peer, None, name, b"waiting")
    peer.claim("nothing in the purged queue, the message in the other one")
    peer.call("queue.purge", queue=queue)
    return equals(peer, [bodies(peer, name) for name in (queue, other)], [[], [b"waiting"]], "bodies")


@on_queue("queue.purge.subscribers", covers=["queue/purge/subscribers"])
def purge_and_subscribers(peer: Peer, queue: str) -> Verdict:
    """Purge cancels no subscription: the next message is delivered."""
    destination = peer.subscribe(queue, messages=0)
    send(peer, None, queue, b"purged")
    peer.claim("the message after the purge, on the same subscription")
    peer.call("queue.purge", queue=queue)
    peer.flow(destination, messages=2)
    send(peer, None, queue, b"next")
    transfer = peer.transfer()
    found = (transfer["destination"], transfer.body)
    return equals(peer, found, (destination, b"next"), "destination and body")


@in_two_sessions("queue.purge.pending-messages", covers=["queue/purge/pending-messages"])
def purge_and_pending_messages(peer: Peer) -> Verdict:
    """Purge does not remove delivered, unaccepted messages: they return when the session closes."""
    queue = peer.queue(exclusive=False)
    peer.subscribe(queue, messages=1)
    for body in (b"pending", b"purged"):
        send(peer, None, queue, body)
    peer.transfer()
    peer.claim("the unaccepted message, after its session closes")
    peer.call("queue.purge", 1, queue=queue)
    peer.detach()
    counts_soon(peer, queue, 1, channel=1)
    return equals(peer, bodies(peer, queue, 1), [b"pending"], "bodies")


@in_session("queue.purge.empty-name", covers=["queue/purge/queue/empty-name"])
def purge_without_a_name(peer: Peer) -> Verdict:
    """A purge without a name is refused."""
    return rejects(peer, "queue.purge", queue="")


@in_session(
    "queue.purge.missing",
    covers=["queue/purge/queue/queue-exists/refused", "queue/purge/queue/queue-exists/known"],
)
def purge_of_nothing(peer: Peer) -> Verdict:
    """A queue that does not exist cannot be purged."""
    return rejects(peer, "queue.purge", queue=peer.name("missing"))


# --- query


@on_queue("queue.query.unknown", covers=["queue/query/queue-query-result/unknown"])
def query_of_nothing(peer: Peer, queue: str) -> Verdict:
    """A query for a queue that does not exist has a result without fields."""
    peer.claim("no field for a queue that does not exist, the name of one that does")
    rows = [peer.call("queue.query", queue=name).fields for name in (peer.name("missing"), queue)]
    empty = not any(value for value in rows[0].values())
    return holds(peer, empty and rows[1].get("queue") == queue, f"{dict(rows[0])}, {rows[1].get('queue')!r}")


@in_session("queue.query.counts", covers=["queue/query/queue-query-result/message-count/counts"])
def query_counts(peer: Peer) -> Verdict:
    """A query returns the number of waiting messages and of subscribers."""
    full, busy, idle = (peer.queue() for _ in "123")
    for _ in "12":
        send(peer, None, full, b"waiting")
        peer.subscribe(busy)
    peer.claim("two messages, two subscribers, and neither")
    rows = [peer.call("queue.query", queue=name).fields for name in (full, busy, idle)]
    found = [(row.get("message_count") or 0, row.get("subscriber_count") or 0) for row in rows]
    return equals(peer, found, [(2, 0), (0, 2), (0, 0)], "messages and subscribers")


@in_two_sessions("queue.delete.name-again", covers=["queue/declare/auto-delete/exclusive"])
def name_of_a_deleted_queue(peer: Peer) -> Verdict:
    """The end of a session that deleted its queue does not affect a later queue of that name."""
    queue = peer.queue(auto_delete=True)
    peer.call("queue.delete", queue=queue)
    peer.queue(1, queue=queue, exclusive=False)
    peer.claim("the queue of the other session")
    peer.detach()
    peer.barrier(1)
    gone = not has_queue(peer, queue, 1)
    return holds(peer, not gone, "the queue does not exist" if gone else "the queue exists")
