"""Domains: what tags, counts, blank names and the flags common to several methods mean (amqp-0-9-1 domains)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import settled, witness
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import bodies, gathered, left_unacknowledged, sent_ahead
from amqpspec.suites.amqp_0_9_1._queues import arrive, contents, counts, exists, fill, hold

# --- consumer-tag


@on_channel("domain.consumer-tag.two-channels", covers=["domain/consumer-tag"])
def same_tag_on_two_channels(peer: Peer) -> Verdict:
    """Two channels of a connection can use the same consumer tag for separate consumers."""
    peer.open_channel(2)
    queues = [peer.queue(), peer.queue()]
    peer.claim("each channel's consumer with its own queue")
    for channel, queue in enumerate(queues, start=1):
        peer.consume(queue, channel=channel, consumer_tag="tag", no_ack=True)
        peer.publish(queue, queue.encode())
    received = [peer.delivery(channel=channel).body.decode() for channel in (1, 2)]
    return equals(peer, received, queues, "queues served on channels 1 and 2")


@on_channel("domain.consumer-tag.cancelled-on-one", covers=["domain/consumer-tag"])
def tag_cancelled_on_one_channel(peer: Peer) -> Verdict:
    """Cancelling a tag on one channel does not affect the consumer with that tag on another channel."""
    peer.open_channel(2)
    queues = [peer.queue(), peer.queue()]
    for channel, queue in enumerate(queues, start=1):
        peer.consume(queue, channel=channel, consumer_tag="tag", no_ack=True)
    peer.claim("a delivery to the consumer on the first channel")
    peer.call("basic.cancel", channel=2, consumer_tag="tag")
    peer.publish(queues[0], b"for channel 1")
    return equals(peer, peer.delivery(channel=1).body, b"for channel 1", "delivered body")


@on_queue("domain.consumer-tag.twice", covers=["domain/consumer-tag", "basic/consume/consumer-tag/duplicate"])
def same_tag_on_one_channel(peer: Peer, queue: str) -> Verdict:
    """A consumer tag in use on a channel is refused for another consumer there."""
    peer.consume(queue, consumer_tag="tag")
    peer.send("basic.consume", queue=queue, consumer_tag="tag")
    return rejects_violation(peer)


# --- delivery-tag


@on_queue("domain.delivery-tag.other-channel", covers=["domain/delivery-tag/channel-local"])
def acknowledged_on_another_channel(peer: Peer, queue: str) -> Verdict:
    """A message delivered on one channel cannot be acknowledged on another."""
    fill(peer, queue, 1)
    tag = hold(peer, queue)["delivery_tag"]
    peer.open_channel(2)
    peer.send("basic.ack", channel=2, delivery_tag=tag)
    return rejects_violation(peer, channel=2)


@on_queue("domain.delivery-tag.other-channel-harmless", covers=["domain/delivery-tag/channel-local"])
def message_of_another_channel_stays(peer: Peer, queue: str) -> Verdict:
    """Acknowledging a tag on the wrong channel does not acknowledge the message on the right one."""
    bodies = fill(peer, queue, 1)
    tag = hold(peer, queue)["delivery_tag"]
    peer.open_channel(2)
    peer.send("basic.ack", channel=2, delivery_tag=tag)
    # The refusal itself belongs to the case above; it closes channel 2 only (406 is soft).
    peer.reaction(channel=2)
    peer.claim("the message again, after its channel was closed")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(3)
    return equals(peer, hold(peer, queue, channel=3).body, bodies[0], "message")


@on_queue("domain.delivery-tag.non-zero", covers=["domain/delivery-tag/non-zero"])
def delivery_tags_are_not_zero(peer: Peer, queue: str) -> Verdict:
    """Neither deliveries nor get-ok have the tag zero."""
    fill(peer, queue, 4)
    peer.claim("tags other than zero")
    tags = [peer.call("basic.get", queue=queue)["delivery_tag"] for _ in range(2)]
    peer.open_channel(2)
    peer.consume(queue, channel=2)
    for _ in range(2):
        tags.append(peer.delivery(2)["delivery_tag"])
        peer.send("basic.ack", channel=2, delivery_tag=tags[-1])
    return holds(peer, all(tags), f"tags {tags}")


# --- no-ack, no-local


@on_queue("domain.no-ack.consumed", covers=["domain/no-ack"])
def no_ack_consumer_takes_for_good(peer: Peer, queue: str) -> Verdict:
    """A message sent to a consumer with no-ack is not redelivered when its channel is closed."""
    fill(peer, queue, 2)
    tag = peer.consume(queue, no_ack=True)
    peer.deliveries(2)
    peer.call("basic.cancel", consumer_tag=tag)
    kept = left_unacknowledged(peer, queue)
    peer.claim("only the message that was fetched to be acknowledged")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(2)
    return equals(peer, bodies(gathered(peer, queue, 1, 2)), [kept], "messages")


@on_queue("domain.no-ack.got", covers=["domain/no-ack"])
def no_ack_get_takes_for_good(peer: Peer, queue: str) -> Verdict:
    """A message fetched with no-ack is not redelivered when its channel is closed."""
    (first,) = fill(peer, queue, 1)
    got = peer.call("basic.get", queue=queue, no_ack=True).body
    kept = left_unacknowledged(peer, queue)
    peer.claim("only the message that was fetched to be acknowledged")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(2)
    left = bodies(gathered(peer, queue, 1, 2))
    return equals(peer, (got, left), (first, [kept]), "message fetched, then left")


@on_channel("domain.no-local.own", covers=["domain/no-local"])
def no_local_keeps_own_messages_away(peer: Peer) -> Verdict:
    """A consumer with no-local receives nothing that its own connection published, on any channel."""
    peer.open_channel(2)
    queue = peer.queue(exclusive=False)
    peer.consume(queue, no_local=True, no_ack=True)
    peer.claim("no delivery")
    peer.publish(queue, b"same channel")
    peer.publish(queue, b"other channel", channel=2)
    # A barrier for each channel that published: order holds on each by itself.
    peer.barrier(channel=2, queue=queue)
    peer.barrier(queue=queue)
    own = settled(queue, (peer, 1), witness(peer, queue))[0]
    return equals(peer, sorted(bodies(own)), [], "deliveries")


@on_shared_queue("domain.no-local.others", covers=["domain/no-local"])
def no_local_lets_others_through(peer: Peer, queue: str) -> Verdict:
    """A consumer with no-local receives messages of another connection, also after one of its own connection."""
    peer.consume(queue, no_local=True, no_ack=True)
    peer.publish(queue, b"own")
    peer.barrier(queue=queue)
    peer.claim("the other connection's message")
    peer.another().open_channel().publish(queue, b"from elsewhere")
    body = peer.delivery().body
    # Whether the own message stays away is another case's matter.
    if body == b"own":
        body = peer.delivery().body
    return equals(peer, body, b"from elsewhere", "delivered body")


# --- queue-name


@on_channel("domain.queue-name.purge", covers=["domain/queue-name/current"])
def blank_name_in_purge(peer: Peer) -> Verdict:
    """A purge without a queue name empties the queue declared last on the channel."""
    # Here and below two queues: a server that takes the first, or any, is detected.
    first, last = peer.queue(), peer.queue()
    bodies = [fill(peer, queue, 1) for queue in (first, last)]
    peer.claim("an empty last queue, and the first one unchanged")
    peer.call("queue.purge")
    return equals(peer, [contents(peer, first), contents(peer, last)], [bodies[0], []], "messages")


@on_channel("domain.queue-name.delete", covers=["domain/queue-name/current"])
def blank_name_in_delete(peer: Peer) -> Verdict:
    """A delete without a queue name deletes the queue declared last on the channel."""
    first, last = peer.queue(), peer.queue()
    peer.claim("the first queue, and no last one")
    peer.call("queue.delete")
    return equals(peer, [exists(peer, first), exists(peer, last)], [True, False], "queues there")


@on_channel("domain.queue-name.consume", covers=["domain/queue-name/current"])
def blank_name_in_consume(peer: Peer) -> Verdict:
    """A consume without a queue name starts a consumer on the queue declared last on the channel."""
    first, last = peer.queue(), peer.queue()
    peer.claim("the last queue's message")
    peer.call("basic.consume", no_ack=True)
    peer.publish(first, b"first")
    peer.publish(last, b"last")
    return equals(peer, peer.delivery().body, b"last", "delivered body")


@on_channel("domain.queue-name.get", covers=["domain/queue-name/current"])
def blank_name_in_get(peer: Peer) -> Verdict:
    """A get without a queue name fetches from the queue declared last on the channel."""
    for queue in (peer.queue(), peer.queue()):
        peer.publish(queue, queue.encode())
    arrive(peer, queue, 1)
    peer.claim("the last queue's message")
    return equals(peer, peer.call("basic.get", no_ack=True).body, queue.encode(), "body")


@on_channel("domain.queue-name.generated", covers=["domain/queue-name/current"])
def blank_name_of_a_generated_queue(peer: Peer) -> Verdict:
    """The queue declared last may have a name that the server generated."""
    peer.queue()
    name = peer.call("queue.declare", exclusive=True)["queue"]
    fill(peer, name, 1)
    peer.claim("the message of the queue with the generated name")
    return equals(peer, peer.call("queue.purge")["message_count"], 1, "messages purged")


@on_channel("domain.queue-name.other-channel", covers=["domain/queue-name/unknown"])
def blank_name_is_of_its_channel(peer: Peer) -> Verdict:
    """An empty queue name does not refer to a queue declared on another channel."""
    peer.queue()
    peer.open_channel(2)
    peer.send("basic.consume", channel=2)
    return rejects_violation(peer, channel=2)


@on_channel("domain.queue-name.unknown-in-consume", covers=["domain/queue-name/unknown"])
def blank_name_means_nothing_in_consume(peer: Peer) -> Verdict:
    """A consume without a queue name is refused on a channel that has declared none."""
    peer.send("basic.consume")
    return rejects_violation(peer)


@on_channel("domain.queue-name.unknown-in-get", covers=["domain/queue-name/unknown"])
def blank_name_means_nothing_in_get(peer: Peer) -> Verdict:
    """A get without a queue name is refused on a channel that has declared none."""
    peer.send("basic.get")
    return rejects_violation(peer)


# --- redelivered


@on_shared_queue("domain.redelivered.reconnected", covers=["domain/redelivered/implementation-flag"])
def redelivered_after_reconnecting(peer: Peer, queue: str) -> Verdict:
    """A message that a lost connection had not acknowledged is marked redelivered, and was not marked before."""
    fill(peer, queue, 1)
    peer.claim("redelivered not set at first, and set the second time")
    first = hold(peer, queue)["redelivered"]
    # Closed cleanly, so that the server knows of it before the other connection asks.
    peer.close()
    peer.hang_up()
    later = hold(peer.another().open_channel(), queue)["redelivered"]
    return equals(peer, (first, later), (False, True), "redelivered")


@on_queue("domain.redelivered.requeued", covers=["domain/redelivered/implementation-flag"])
def redelivered_after_requeueing(peer: Peer, queue: str) -> Verdict:
    """A message fetched with get and requeued by closing the channel is marked redelivered."""
    fill(peer, queue, 2)
    first = peer.call("basic.get", queue=queue)["redelivered"]
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.open_channel(2)
    peer.claim("redelivered not set at first, then set, and not set for the next message")
    peer.consume(queue, channel=2, no_ack=True)
    later = [delivery["redelivered"] for delivery in peer.deliveries(2, channel=2)]
    # Sorted: where in the queue the message returns is not judged here.
    return equals(peer, (first, sorted(later)), (False, [False, True]), "redelivered")


@on_shared_queue("domain.redelivered.recipient", covers=["domain/redelivered/implementation-recipient"])
def redelivered_to_the_first_recipient(peer: Peer, queue: str) -> Verdict:
    """Messages that are redelivered without requeue are delivered to their original recipient."""
    bodies = fill(peer, queue, 2)
    peer.consume(queue)
    sent_ahead(peer, 2)
    peer.another().open_channel().consume(queue)
    peer.claim("both messages again, to their previous consumer")
    # Without requeue: with it, recover leaves the recipient open.
    peer.call("basic.recover", requeue=False)
    again = sorted(delivery.body for delivery in peer.deliveries(2))
    return equals(peer, again, bodies, "messages")


# --- message-count


@on_channel("domain.message-count.new", covers=["domain/message-count"])
def new_queue_has_no_messages(peer: Peer) -> Verdict:
    """The message count of a newly declared queue is zero."""
    name = peer.name("q")
    peer.claim("a count of zero")
    reported = peer.call("queue.declare", queue=name, exclusive=True)["message_count"]
    return equals(peer, reported, 0, "message count")


@on_queue("domain.message-count.unacknowledged", covers=["domain/message-count"])
def unacknowledged_messages_do_not_count(peer: Peer, queue: str) -> Verdict:
    """The message count does not include unacknowledged messages."""
    fill(peer, queue, 3)
    peer.claim("a count of the messages that are left")
    reported = peer.call("basic.get", queue=queue)["message_count"]
    return equals(peer, (reported, counts(peer, queue)[0]), (2, 2), "message counts in get-ok and declare-ok")


@on_queue("domain.message-count.uncommitted", covers=["domain/message-count"], needs=("tx",))
def uncommitted_messages_do_not_count(peer: Peer, queue: str) -> Verdict:
    """The message count includes messages of a transaction only after commit."""
    peer.call("tx.select")
    peer.claim("a count of zero before the commit, and of two after it")
    peer.publish(queue, b"one")
    peer.publish(queue, b"two")
    before = counts(peer, queue)[0]
    peer.call("tx.commit")
    arrive(peer, queue, 2)
    return equals(peer, (before, counts(peer, queue)[0]), (0, 2), "message counts")
