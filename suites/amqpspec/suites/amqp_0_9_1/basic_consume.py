"""Consumers: how long they live, their tags, exclusive access, cancelling (amqp-0-9-1 class basic)."""

from __future__ import annotations

from amqpspec.peer.context import CLIENT_PROPERTIES
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import first_of, settled, witness
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import awaited, bodies, reopened, send, sent_ahead

# amqp-0-9-1 basic/consume/minimum-consumers.
_CONSUMERS = 16
# 2.5 MB: more than servers hand to a socket in one go.
_LARGE, _LARGE_BODY = 40, b"x" * (64 << 10)


@on_queue("basic.consume.lasts", covers=["basic/consume"])
def consumer_lasts(peer: Peer, queue: str) -> Verdict:
    """A consumer continues to receive messages while other consumers start and end on its channel."""
    peer.claim("two deliveries to one consumer")
    tag = peer.consume(queue)
    send(peer, queue, (b"one",))
    first = peer.delivery()
    peer.send("basic.ack", delivery_tag=first["delivery_tag"])
    peer.consume(peer.queue())
    peer.call("basic.cancel", consumer_tag=peer.consume(peer.queue()))
    send(peer, queue, (b"two",))
    second = peer.delivery()
    got = [(m["consumer_tag"], m.body) for m in (first, second)]
    return equals(peer, got, [(tag, b"one"), (tag, b"two")], "deliveries")


@on_queue("basic.consume.all-at-once", covers=["basic/consume"])
def consumer_gets_many_octets(peer: Peer, queue: str) -> Verdict:
    """A consumer receives all of several megabytes that wait for it, although the client sends nothing more."""
    for _ in range(_LARGE):
        peer.publish(queue, _LARGE_BODY)
    peer.barrier(queue=queue)
    peer.claim(f"{_LARGE} messages of {len(_LARGE_BODY)} octets")
    peer.consume(queue, no_ack=True)
    return equals(peer, len(awaited(peer, _LARGE)), _LARGE, "deliveries")


@on_queue("basic.consume.ends-with-channel", covers=["basic/consume"])
def consumer_ends_with_its_channel(peer: Peer, queue: str) -> Verdict:
    """A consumer ends with its channel and receives no more messages, even if the channel is opened again."""
    peer.claim("no consumer once its channel was closed")
    peer.consume(queue, no_ack=True)
    reopened(peer)
    send(peer, queue, (b"for nobody",))
    reported = peer.call("queue.declare", queue=queue, passive=True)
    left = reported["consumer_count"], reported["message_count"], len(peer.pending("basic.deliver"))
    return equals(peer, left, (0, 1, 0), "consumers, messages waiting, deliveries")


@on_channel("basic.consume.tag.used-again", covers=["basic/consume/consumer-tag/duplicate", "basic/cancel"])
def cancelled_tag_is_free(peer: Peer) -> Verdict:
    """The tag of a cancelled consumer can be reused, and then identifies only the new consumer."""
    first, second = peer.queue(), peer.queue()
    peer.consume(first, no_ack=True, consumer_tag="again")
    peer.consume(first, no_ack=True, consumer_tag="other")
    peer.call("basic.cancel", consumer_tag="again")
    peer.claim("a second consumer with the tag of the first one")
    peer.consume(second, no_ack=True, consumer_tag="again")
    for queue in (first, second):
        peer.publish(queue, queue.encode())
    got = sorted((delivery["consumer_tag"], delivery.body.decode()) for delivery in peer.deliveries(2))
    return equals(peer, got, [("again", second), ("other", first)], "deliveries by tag")


@on_shared_queue("basic.consume.round-robin", covers=["wire/queue/round-robin"])
def consumers_take_turns(peer: Peer, queue: str) -> Verdict:
    """The messages of a shared queue are distributed evenly: each of three idle consumers receives a third."""
    tags = [peer.consume(queue, no_ack=True) for _ in range(2)]
    other = peer.another().open_channel()
    other.consume(queue, no_ack=True)
    peer.claim("three of nine messages at each of three consumers")
    counts = [0, 0, 0]
    for number in range(9):
        peer.publish(queue, b"%d" % number)
        # One at a time, so that all three are idle whenever there is one.
        (where, _), delivery = first_of((peer, 1), (other, 1))
        counts[tags.index(delivery["consumer_tag"]) if where is peer else 2] += 1
    return equals(peer, counts, [3, 3, 3], "messages by consumer")


@on_queue("basic.consume.sixteen", covers=["basic/consume/minimum-consumers"])
def sixteen_consumers(peer: Peer, queue: str) -> Verdict:
    """A queue supports 16 consumers."""
    peer.claim("16 consumers on one queue")
    tags = {peer.consume(queue) for _ in range(_CONSUMERS)}
    count = peer.call("queue.declare", queue=queue, passive=True)["consumer_count"]
    return equals(peer, (len(tags), count), (_CONSUMERS, _CONSUMERS), "tags, consumers of the queue")


@on_channel("basic.consume.tag.generated", covers=["basic/consume/consumer-tag/generated"])
def blank_tag_is_generated(peer: Peer) -> Verdict:
    """The server generates a tag for a consumer without one, and its deliveries contain it."""
    queues = peer.queue(), peer.queue()
    peer.claim("a different tag for each consumer")
    tags = [peer.consume(queue, consumer_tag="", no_ack=True) for queue in queues]
    got = []
    for queue in queues:
        peer.publish(queue, b"body")
        got.append(peer.delivery()["consumer_tag"])
    fine = got == tags and len(set(tags)) == 2 and all(tags)
    return holds(peer, fine, f"tags {tags}, tags of the deliveries {got}")


@on_channel("basic.consume.tag.duplicate", covers=["basic/consume/consumer-tag/duplicate"])
def tag_in_use_is_refused(peer: Peer) -> Verdict:
    """A tag in use on a channel is refused for a second consumer on it."""
    tag = peer.consume(peer.queue(), consumer_tag=peer.name("tag"))
    peer.send("basic.consume", queue=peer.queue(), consumer_tag=tag)
    return rejects_violation(peer)


@on_channel("basic.consume.tag.duplicate-longest", covers=["basic/consume/consumer-tag/duplicate"])
def longest_tag_in_use_is_refused(peer: Peer) -> Verdict:
    """A tag of 255 octets that is in use is refused, although it does not fit into a reply text."""
    tag = peer.consume(peer.queue(), consumer_tag="t" * 255)
    peer.send("basic.consume", queue=peer.queue(), consumer_tag=tag)
    return rejects_violation(peer)


@case("basic.consume.tag.other-channel", covers=["basic/consume/consumer-tag/channel-local"])
def tag_means_nothing_elsewhere(peer: Peer) -> Verdict:
    """A tag cannot be used on a channel other than that of its consumer."""
    peer.open_channel().open_channel(2)
    queue = peer.queue()
    tag = peer.consume(queue, consumer_tag=peer.name("tag"))
    # Channel 2 has a consumer as well: the tag is wrong, not the channel.
    peer.consume(queue, 2, consumer_tag=peer.name("tag"))
    peer.send("basic.cancel", channel=2, consumer_tag=tag)
    return rejects_violation(peer, 2)


@on_shared_queue("basic.consume.exclusive.in-use", covers=["basic/consume/exclusive/in-use"])
def no_exclusive_access_next_to_others(peer: Peer, queue: str) -> Verdict:
    """If a queue has a consumer, another connection cannot obtain exclusive access."""
    peer.consume(queue)
    other = peer.another().open_channel()
    other.send("basic.consume", queue=queue, consumer_tag=peer.name("tag"), exclusive=True)
    return rejects_violation(other)


@on_shared_queue("basic.consume.exclusive.second-consumer", covers=["basic/consume/exclusive/alone"])
def no_consumer_next_to_an_exclusive_one(peer: Peer, queue: str) -> Verdict:
    """If a queue has an exclusive consumer, no other client can consume from it."""
    peer.consume(queue, exclusive=True)
    other = peer.another().open_channel()
    other.send("basic.consume", queue=queue, consumer_tag=peer.name("tag"))
    return rejects_violation(other)


@on_shared_queue("basic.consume.exclusive.get", covers=["basic/consume/exclusive/alone"])
def no_get_next_to_an_exclusive_consumer(peer: Peer, queue: str) -> Verdict:
    """If a queue has an exclusive consumer, no other client can get messages from it."""
    peer.consume(queue, exclusive=True)
    other = peer.another().open_channel()
    other.send("basic.get", queue=queue)
    return rejects_violation(other)


@on_shared_queue("basic.consume.exclusive.ends", covers=["basic/consume/exclusive/alone"])
def exclusive_access_ends_with_its_consumer(peer: Peer, queue: str) -> Verdict:
    """After its exclusive consumer is cancelled, a queue is available to other clients."""
    tag = peer.consume(queue, exclusive=True)
    other = peer.another().open_channel()
    peer.claim("a consumer of another connection")
    peer.call("basic.cancel", consumer_tag=tag)
    other.send("basic.consume", queue=queue)
    return allows(other)


@on_shared_queue("basic.cancel.stops", covers=["basic/cancel"])
def cancelled_consumer_gets_nothing(peer: Peer, queue: str) -> Verdict:
    """After cancel-ok the consumer receives no more deliveries, and the messages remain for another consumer."""
    tag = peer.consume(queue, no_ack=True)
    peer.claim("no delivery after cancel-ok")
    peer.call("basic.cancel", consumer_tag=tag)
    send(peer, queue, (b"late",))
    received = [bodies(got) for got in settled(queue, (peer, 1), witness(peer, queue))]
    return equals(peer, received, [[], [b"late"]], "deliveries to this consumer, and to a later one")


@on_queue("basic.cancel.one-of-two", covers=["basic/cancel"])
def cancel_ends_one_consumer(peer: Peer, queue: str) -> Verdict:
    """Cancel ends only the consumer that it names, and no other on the channel."""
    tags = [peer.consume(queue, no_ack=True) for _ in range(2)]
    peer.claim("all messages for the consumer that was not cancelled")
    peer.call("basic.cancel", consumer_tag=tags[0])
    send(peer, queue, (b"1", b"2"))
    got = {delivery["consumer_tag"] for delivery in awaited(peer, 2)}
    return equals(peer, got, {tags[1]}, "consumers that got messages")


@case("basic.cancel.delivered-stays", covers=["basic/cancel"])
def delivered_messages_outlive_the_consumer(peer: Peer) -> Verdict:
    """Cancel does not requeue messages delivered before it, and they can still be acknowledged."""
    peer.open_channel(1).open_channel(2)
    queue = peer.queue()
    tag = peer.consume(queue)
    send(peer, queue, (b"early", b"unacknowledged"))
    early, _ = sent_ahead(peer, 2)
    peer.claim("an acknowledgement after cancel-ok is accepted")
    peer.call("basic.cancel", consumer_tag=tag)
    # A second consumer receives whatever is given back, and so tells when it was.
    peer.consume(queue, channel=2, no_ack=True)
    by_cancel = bodies(settled(queue, (peer, 2))[0])
    peer.send("basic.ack", delivery_tag=early["delivery_tag"])
    peer.call("channel.close", reply_code=200, reply_text="done")
    by_end = bodies(awaited(peer, 1, 2) + settled(queue, (peer, 2))[0])
    got = (by_cancel, by_end)
    return equals(peer, got, ([], [b"unacknowledged"]), "given back by cancel, and by the end")


@on_queue("basic.cancel.queue-gone", covers=["basic/cancel/queue-gone"])
def cancel_without_a_queue(peer: Peer, queue: str) -> Verdict:
    """Cancel succeeds for a consumer whose queue no longer exists."""
    tag = peer.consume(queue)
    peer.call("queue.delete", queue=queue)
    peer.claim("no exception: basic.cancel-ok with the tag of the consumer, or silence")
    peer.send("basic.cancel", consumer_tag=tag)
    reaction = peer.reaction()
    last = reaction.arrivals[-1]
    answered = isinstance(last, MethodArrived) and reaction.refusal is None
    # To ignore such a cancel can mean cancel-ok or silence; only an exception is ruled out (amqp-0-9-1
    # basic/cancel/queue-gone).
    if isinstance(last, MethodArrived) and last.name == "basic.cancel-ok":
        return equals(peer, last["consumer_tag"], tag, "consumer tag")
    return holds(peer, answered, reaction)


@case("basic.cancel.by-server", covers=["basic/cancel/by-server"], needs=["consumer-cancel-notify"])
def server_tells_of_a_lost_consumer(peer: Peer) -> Verdict:
    """A server may notify a client that supports it that a consumer ended with its queue."""
    capabilities = {"consumer_cancel_notify": True}
    peer.open_channel(properties={**CLIENT_PROPERTIES, "capabilities": capabilities})
    queue = peer.queue(exclusive=False)
    tag = peer.consume(queue)
    # Deleted by another connection: the client that deletes a queue need not be notified.
    peer.another().open_channel().call("queue.delete", queue=queue)
    peer.claim("basic.cancel for the consumer, or nothing")
    arrival = peer.arrival("basic.cancel")
    if (
        isinstance(arrival, MethodArrived)
        and arrival.name == "basic.cancel"
        and arrival["consumer_tag"] == tag
    ):
        return observed_either_way(peer, "basic.cancel with the tag of the consumer")
    return observed_either_way(peer, "no basic.cancel for the consumer", arrival)
