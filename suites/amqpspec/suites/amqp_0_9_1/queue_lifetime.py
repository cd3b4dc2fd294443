"""Queues: how long they exist and who may use them: durable, exclusive, auto-delete (amqp-0-9-1 queue.declare)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import equals, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._queues import contents, exists, fill, owned_by_another, vanishes

PERSISTENT = {"delivery_mode": 2}

# --- durable


@on_channel(
    "queue.declare.durable.restart", covers=["queue/declare/durable/restart"], restarts=True, budget_s=180
)
def durable_queue_outlives_restart(peer: Peer) -> Verdict:
    """After a restart of the server, a durable queue exists, and a transient one is deleted or empty."""
    durable, transient = peer.queue(durable=True), peer.queue(exclusive=False)
    # Persistent: what is lost is lost because the queue is transient, not the message.
    peer.publish(transient, b"old", properties=PERSISTENT)
    peer.barrier(queue=transient)
    peer.context.restart()
    peer.claim("the durable queue exists, the transient one does not or is empty")
    late = peer.another().open_channel()
    # Transient queues are said to be purged: gone and empty are both right (amqp-0-9-1
    # queue/declare/durable/restart).
    kept, left = exists(late, durable), exists(late, transient) and contents(late, transient)
    return holds(peer, kept and not left, f"durable queue: {kept}, transient queue: {left}")


@on_channel(
    "queue.declare.durable.persistence",
    covers=["queue/declare/durable/persistence"],
    restarts=True,
    budget_s=180,
)
def durable_queue_works_after_restart(peer: Peer) -> Verdict:
    """A durable queue receives and delivers messages after a restart of the server."""
    queue = peer.queue(durable=True)
    peer.context.restart()
    peer.claim("a message through the durable queue")
    late = peer.another().open_channel()
    late.publish(queue, b"new")
    return equals(peer, contents(late, queue), [b"new"], "messages")


@on_channel("queue.declare.durable.types", covers=["queue/declare/durable/types"])
def durable_and_transient_queues(peer: Peer) -> Verdict:
    """Durable and transient queues can both be declared and used."""
    peer.claim("a durable and a transient queue")
    queues = [peer.queue(durable=True), peer.queue(exclusive=False)]
    sent = [fill(peer, queue, 1) for queue in queues]
    return equals(peer, [contents(peer, queue) for queue in queues], sent, "messages")


# --- exclusive


@on_channel("queue.declare.exclusive.other-channel", covers=["queue/declare/exclusive/lifetime"])
def exclusive_queue_serves_its_connection(peer: Peer) -> Verdict:
    """An exclusive queue serves every channel of the connection that declared it."""
    queue = peer.queue(exclusive=True)
    bodies = fill(peer, queue, 1)
    peer.claim("the message on another channel of the connection")
    peer.open_channel(2)
    return equals(peer, contents(peer, queue, channel=2), bodies, "messages")


@on_channel("queue.declare.exclusive.channel-closed", covers=["queue/declare/exclusive/lifetime"])
def exclusive_queue_outlives_its_channel(peer: Peer) -> Verdict:
    """An exclusive queue is not deleted when the channel that declared it is closed."""
    queue = peer.queue(exclusive=True)
    bodies = fill(peer, queue, 1)
    peer.claim("the queue and its message after the channel was closed")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(2)
    return equals(peer, contents(peer, queue, channel=2), bodies, "messages")


@case("queue.declare.exclusive.connection-closed", covers=["queue/declare/exclusive/lifetime"])
def exclusive_queue_ends_with_its_connection(peer: Peer) -> Verdict:
    """An exclusive queue is deleted when its connection is closed."""
    queue, other = owned_by_another(peer)
    peer.claim("the queue no longer exists")
    peer.close()
    peer.hang_up()
    return _gone(other, queue)


@case("queue.declare.exclusive.connection-lost", covers=["queue/declare/exclusive/lifetime"])
def exclusive_queue_ends_with_its_socket(peer: Peer) -> Verdict:
    """An exclusive queue is deleted when its connection is lost without a close."""
    queue, other = owned_by_another(peer)
    peer.claim("the queue no longer exists")
    peer.hang_up()
    return _gone(other, queue)


@case("queue.declare.exclusive.passive", covers=["queue/declare/exclusive/passive"])
def exclusive_queue_is_not_shown_to_others(peer: Peer) -> Verdict:
    """Another connection cannot declare an exclusive queue, even passively."""
    # A passive declare takes nothing from another client, and is still forbidden.
    queue, other = owned_by_another(peer)
    other.send("queue.declare", queue=queue, passive=True)
    return rejects_violation(other)


@on_channel("queue.declare.exclusive.types", covers=["queue/declare/exclusive/types"])
def exclusive_and_shared_queues(peer: Peer) -> Verdict:
    """Exclusive queues and shared queues can both be declared and used."""
    peer.claim("the messages of an exclusive queue here, and of a shared one on a second connection")
    exclusive, shared = peer.queue(exclusive=True), peer.queue(exclusive=False)
    sent = [fill(peer, exclusive, 1), fill(peer, shared, 1)]
    other = peer.another().open_channel()
    return equals(peer, [contents(peer, exclusive), contents(other, shared)], sent, "messages")


@case("queue.declare.exclusive.other-declares", covers=["queue/declare/exclusive/exclusive"])
def other_connection_declares(peer: Peer) -> Verdict:
    """Another connection cannot declare an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("queue.declare", queue=queue, exclusive=True)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-binds", covers=["queue/declare/exclusive/exclusive"])
def other_connection_binds(peer: Peer) -> Verdict:
    """Another connection cannot bind an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("queue.bind", queue=queue, exchange="amq.direct", routing_key=queue)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-unbinds", covers=["queue/declare/exclusive/exclusive"])
def other_connection_unbinds(peer: Peer) -> Verdict:
    """Another connection cannot unbind an exclusive queue."""
    queue, other = owned_by_another(peer)
    peer.call("queue.bind", queue=queue, exchange="amq.direct", routing_key=queue)
    other.send("queue.unbind", queue=queue, exchange="amq.direct", routing_key=queue)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-consumes", covers=["queue/declare/exclusive/exclusive"])
def other_connection_consumes(peer: Peer) -> Verdict:
    """Another connection cannot consume from an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("basic.consume", queue=queue)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-gets", covers=["queue/declare/exclusive/exclusive"])
def other_connection_gets(peer: Peer) -> Verdict:
    """Another connection cannot get from an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("basic.get", queue=queue, no_ack=True)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-purges", covers=["queue/declare/exclusive/exclusive"])
def other_connection_purges(peer: Peer) -> Verdict:
    """Another connection cannot purge an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("queue.purge", queue=queue)
    return rejects_violation(other)


@case("queue.declare.exclusive.other-deletes", covers=["queue/declare/exclusive/exclusive"])
def other_connection_deletes(peer: Peer) -> Verdict:
    """Another connection cannot delete an exclusive queue."""
    queue, other = owned_by_another(peer)
    other.send("queue.delete", queue=queue)
    return rejects_violation(other)


# --- auto-delete


@on_channel("queue.declare.auto-delete.cancelled", covers=["queue/declare/auto-delete/last-consumer"])
def auto_delete_after_cancel(peer: Peer) -> Verdict:
    """An auto-delete queue is deleted after its only consumer was cancelled."""
    queue = peer.queue(auto_delete=True)
    tag = peer.consume(queue)
    peer.claim("the queue no longer exists")
    peer.call("basic.cancel", consumer_tag=tag)
    return _gone_politely(peer, queue)


@on_channel("queue.declare.auto-delete.channel-closed", covers=["queue/declare/auto-delete/last-consumer"])
def auto_delete_after_channel_close(peer: Peer) -> Verdict:
    """An auto-delete queue is deleted after the channel of its only consumer was closed."""
    queue = peer.queue(auto_delete=True)
    peer.consume(queue)
    peer.claim("the queue no longer exists")
    peer.call("channel.close", reply_code=200, reply_text="done")
    return _gone_politely(peer, queue)


@on_channel("queue.declare.auto-delete.connection-lost", covers=["queue/declare/auto-delete/last-consumer"])
def auto_delete_after_connection_loss(peer: Peer) -> Verdict:
    """A shared auto-delete queue is deleted after the connection of its only consumer was lost."""
    queue = peer.queue(auto_delete=True, exclusive=False)
    peer.consume(queue)
    other = peer.another().open_channel()
    peer.claim("the queue no longer exists")
    peer.hang_up()
    return _gone_politely(other, queue)


@on_channel("queue.declare.auto-delete.one-of-two", covers=["queue/declare/auto-delete/last-consumer"])
def auto_delete_waits_for_the_last(peer: Peer) -> Verdict:
    """An auto-delete queue is not deleted as long as it has a consumer."""
    queue = peer.queue(auto_delete=True)
    first, second = peer.consume(queue, no_ack=True), peer.consume(queue, no_ack=True)
    peer.claim("the message for the consumer that is left")
    peer.call("basic.cancel", consumer_tag=first)
    peer.publish(queue, b"for the second")
    return equals(peer, peer.delivery()["consumer_tag"], second, "consumer")


@on_channel("queue.declare.auto-delete.never-consumed", covers=["queue/declare/auto-delete/never-consumed"])
def auto_delete_without_consumers(peer: Peer) -> Verdict:
    """An auto-delete queue that never had a consumer is not deleted when its channel is closed."""
    queue = peer.queue(auto_delete=True, exclusive=False)
    other = peer.another().open_channel()
    peer.claim("the queue still exists")
    fill(peer, queue, 1)
    # basic.get is no consumer. The connection stays, as PDF §4.5 would take the queue with it.
    peer.get(queue)
    peer.call("channel.close", reply_code=200, reply_text="done")
    other.barrier()
    return holds(peer, exists(other, queue), "passive declare of the queue")


@on_channel("queue.declare.auto-delete.not-cleared", covers=["queue/declare/auto-delete/pre-existence"])
def auto_delete_is_not_cleared(peer: Peer) -> Verdict:
    """A redeclare without auto-delete does not remove auto-delete from the queue."""
    queue = peer.queue(auto_delete=True)
    peer.claim("a queue that is deleted after its last consumer, or a refusal")
    peer.send("queue.declare", queue=queue, exclusive=True, auto_delete=False)
    reaction = peer.reaction()
    # One rule ignores the flag of a second declare, another one compares it: 406 and declare-ok are both
    # right, a changed flag is wrong (amqp-0-9-1 queue/declare/auto-delete/pre-existence).
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.call("basic.cancel", consumer_tag=peer.consume(queue))
    return _gone_politely(peer, queue)


@on_channel("queue.declare.auto-delete.not-set", covers=["queue/declare/auto-delete/pre-existence"])
def auto_delete_is_not_set(peer: Peer) -> Verdict:
    """A redeclare with auto-delete does not add auto-delete to the queue."""
    queue = peer.queue(exclusive=True)
    peer.claim("a queue that outlives its last consumer, or a refusal")
    peer.send("queue.declare", queue=queue, exclusive=True, auto_delete=True)
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.call("basic.cancel", consumer_tag=peer.consume(queue))
    peer.publish(queue, b"still here")
    peer.send("queue.declare", queue=queue, passive=True)
    return allows(peer)


# --- steps


def _gone_politely(peer: Peer, queue: str) -> Verdict:
    """Like ``_gone``, for a queue that is deleted when it is not used any more."""
    # PDF §2.2.7: a server may wait for "a polite time-out" first.
    return _gone(peer, queue, peer.context.patience.ending_s)


def _gone(peer: Peer, queue: str, within_s: float = 0.0) -> Verdict:
    gone = vanishes(peer, queue, within_s)
    return holds(peer, gone, "no queue" if gone else "the queue is still there")
