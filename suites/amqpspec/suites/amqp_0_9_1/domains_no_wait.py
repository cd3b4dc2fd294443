"""The flag no-wait, common to many methods: no answer, and an exception where the method fails (amqp-0-9-1 no-wait)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import contents, counts, exists, fill, routed


@on_channel("domain.no-wait.exchange-declare", covers=["domain/no-wait"])
def exchange_declare_without_reply(peer: Peer) -> Verdict:
    """exchange.declare with no-wait is executed and not answered."""
    queue, exchange = peer.queue(), peer.will_clean("exchange", peer.name("x"))
    peer.claim("an exchange and no reply")
    peer.send("exchange.declare", exchange=exchange, type="fanout", no_wait=True)
    peer.call("queue.bind", queue=queue, exchange=exchange)
    return equals(peer, len(peer.pending("exchange.declare-ok")), 0, "replies")


@on_channel("domain.no-wait.exchange-delete", covers=["domain/no-wait"])
def exchange_delete_without_reply(peer: Peer) -> Verdict:
    """exchange.delete with no-wait is executed and not answered."""
    exchange = peer.exchange("fanout")
    peer.claim("another exchange of that name and no reply")
    peer.send("exchange.delete", exchange=exchange, no_wait=True)
    # The same name with another type: refused while the old exchange is there, so
    # declare-ok proves that it is gone.
    peer.call("exchange.declare", exchange=exchange, type="direct")
    return equals(peer, len(peer.pending("exchange.delete-ok")), 0, "replies")


@on_channel("domain.no-wait.queue-bind", covers=["domain/no-wait"])
def queue_bind_without_reply(peer: Peer) -> Verdict:
    """queue.bind with no-wait is executed and not answered."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.claim("a binding and no reply")
    peer.send("queue.bind", queue=queue, exchange=exchange, no_wait=True)
    peer.publish("", b"through", exchange=exchange)
    got = routed(peer, queue)
    return equals(peer, (got, len(peer.pending("queue.bind-ok"))), ([b"through"], 0), "messages, replies")


@on_queue("domain.no-wait.queue-purge", covers=["domain/no-wait"])
def queue_purge_without_reply(peer: Peer, queue: str) -> Verdict:
    """queue.purge with no-wait is executed and not answered."""
    fill(peer, queue, 2)
    peer.claim("an empty queue and no reply")
    peer.send("queue.purge", queue=queue, no_wait=True)
    got = contents(peer, queue)
    return equals(peer, (got, len(peer.pending("queue.purge-ok"))), ([], 0), "messages, replies")


@on_queue("domain.no-wait.queue-delete", covers=["domain/no-wait"])
def queue_delete_without_reply(peer: Peer, queue: str) -> Verdict:
    """queue.delete with no-wait is executed and not answered."""
    peer.claim("no queue and no reply")
    peer.send("queue.delete", queue=queue, no_wait=True)
    peer.barrier()
    there = exists(peer, queue)
    return equals(peer, (there, len(peer.pending("queue.delete-ok"))), (False, 0), "queue, replies")


@on_queue("domain.no-wait.basic-consume", covers=["domain/no-wait"])
def basic_consume_without_reply(peer: Peer, queue: str) -> Verdict:
    """basic.consume with no-wait is executed and not answered."""
    peer.claim("a delivery and no reply")
    peer.send("basic.consume", queue=queue, consumer_tag="tag", no_ack=True, no_wait=True)
    peer.publish(queue, b"through")
    tag = peer.delivery()["consumer_tag"]
    peer.barrier(queue=queue)
    return equals(peer, (tag, len(peer.pending("basic.consume-ok"))), ("tag", 0), "consumer tag, replies")


@on_queue("domain.no-wait.basic-cancel", covers=["domain/no-wait"])
def basic_cancel_without_reply(peer: Peer, queue: str) -> Verdict:
    """basic.cancel with no-wait is executed and not answered."""
    tag = peer.consume(queue)
    peer.claim("no consumer and no reply")
    peer.send("basic.cancel", consumer_tag=tag, no_wait=True)
    left = counts(peer, queue)
    return equals(
        peer, (left, len(peer.pending("basic.cancel-ok"))), ((0, 0), 0), "messages and consumers, replies"
    )


@on_channel("domain.no-wait.failure", covers=["domain/no-wait"])
def failure_without_reply(peer: Peer) -> Verdict:
    """A method with no-wait that fails raises an exception."""
    # The row leaves open which exception it is; the code is that of a missing queue, 404.
    peer.send("queue.bind", queue=peer.name("q"), exchange="amq.direct", no_wait=True)
    return rejects_violation(peer)
