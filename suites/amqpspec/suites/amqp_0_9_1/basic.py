"""Messages in general: persistence, priority, order, the two ways of delivery (amqp-0-9-1 class basic, its rules)."""

from __future__ import annotations

from itertools import pairwise

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import (
    bodies,
    gathered,
    left_unacknowledged,
    reopened,
    send,
    sent_ahead,
    taken,
)
from amqpspec.suites.amqp_0_9_1._queues import arrive

_PERSISTENT, _TRANSIENT = 2, 1


@on_channel("basic.persistence.respected", covers=["basic/persistence/respected"], restarts=True)
def persistent_message_is_complete(peer: Peer) -> Verdict:
    """After a restart, a queue contains every persistent message with its properties, fetched or not."""
    queue = peer.queue(durable=True)
    texts = (b"fetched", b"waiting", b"last")
    sent = send(peer, queue, texts, delivery_mode=_PERSISTENT, message_id="m")
    # One of them is unacknowledged when the server stops: it has to return with the others.
    taken(peer, queue, 1)
    peer.context.restart()
    after = peer.another().open_channel()
    peer.claim("every persistent message with its properties after a restart")
    got = gathered(after, queue, len(sent))
    found = {(m.body, m.properties.get("delivery_mode"), m.properties.get("message_id")) for m in got}
    wanted = {(body, _PERSISTENT, "m") for body in sent}
    return equals(peer, sorted(found, key=str), sorted(wanted, key=str), "body, delivery-mode, message-id")


@on_channel("basic.persistence.storage", covers=["basic/persistence/storage"], restarts=True)
def persistent_message_survives(peer: Peer) -> Verdict:
    """A persistent message in a durable queue survives a restart of the server."""
    queue = peer.queue(durable=True)
    send(peer, queue, (b"transient",), delivery_mode=_TRANSIENT)
    send(peer, queue, (b"persistent",), delivery_mode=_PERSISTENT)
    peer.context.restart()
    after = peer.another().open_channel()
    peer.claim("the persistent message after a restart")
    got = bodies(gathered(after, queue, 1))
    return holds(peer, b"persistent" in got, f"{got}")


@on_channel("basic.priority.two-levels", covers=["basic/priority/two-levels"])
def high_goes_before_low(peer: Peer) -> Verdict:
    """A message of priority 9 is delivered before earlier messages of priority 0."""
    # Without arguments of a server's own, such as x-max-priority: the specification asks it of every queue.
    queue = peer.queue()
    _publish_priorities(peer, queue, (0, 0, 0, 9))
    peer.claim("the message of priority 9 first")
    # By basic.get, once all are in the queue: a consumer would be sent the first one
    # before the last has arrived.
    return equals(peer, bodies(peer.drain(queue)), [b"9", b"0", b"0", b"0"], "priorities as delivered")


@on_queue("basic.priority.boundary", covers=["basic/priority/two-levels"])
def five_goes_before_four(peer: Peer, queue: str) -> Verdict:
    """Messages of priorities 5 to 9 are delivered before messages of priorities 0 to 4."""
    _publish_priorities(peer, queue, range(10))
    peer.claim("priorities 5 to 9 in front")
    order = bodies(peer.drain(queue))
    # Two levels are the least: whether 9 goes before 5 is another row's matter.
    return holds(
        peer, sorted(order[:5]) == [b"5", b"6", b"7", b"8", b"9"], f"priorities as delivered {order}"
    )


@on_queue("basic.priority.levels", covers=["basic/priority/ten-levels"])
def levels_of_priority(peer: Peer, queue: str) -> Verdict:
    """A server may distinguish up to ten priority levels."""
    _publish_priorities(peer, queue, range(10))
    peer.claim("one to ten levels of priority")
    order = bodies(peer.drain(queue))
    levels = 1 + sum(later < earlier for earlier, later in pairwise(order))
    return observed_either_way(peer, f"{levels} of ten levels of priority")


@on_channel("basic.order.persistence", covers=["basic/priority/order"])
def order_ignores_persistence(peer: Peer) -> Verdict:
    """Messages of one priority, persistent or not, are delivered in the order of publishing."""
    queue = peer.queue(durable=True)
    wanted = [b"%d" % number for number in range(10)]
    method = peer.method_frame("basic.publish", routing_key=queue)
    modes = ({"delivery_mode": 1 + number % 2} for number in range(len(wanted)))
    contents = [peer.content_frames(b, properties=p) for b, p in zip(wanted, modes, strict=True)]
    # One write: persistent messages are stored while transient ones pass, if the server lets them.
    peer.send_octets(b"".join(method + content for content in contents))
    arrive(peer, queue, len(wanted))
    peer.claim("the order of publication")
    return equals(peer, bodies(peer.drain(queue)), wanted, "order")


@on_queue("basic.order.within-priority", covers=["basic/priority/order"])
def order_within_each_priority(peer: Peer, queue: str) -> Verdict:
    """Messages of one priority keep their order when they are mixed with messages of another priority."""
    for number in range(10):
        peer.publish(queue, b"%d" % number, properties={"priority": 9 * (number % 2)})
    arrive(peer, queue, 10)
    peer.claim("each priority in the order of publication")
    got = bodies(gathered(peer, queue, 10))
    low, high = [b"0", b"2", b"4", b"6", b"8"], [b"1", b"3", b"5", b"7", b"9"]
    kept = [b for b in got if b in low] == low and [b for b in got if b in high] == high
    return holds(peer, kept, f"order of delivery {got}")


@on_queue("basic.no-ack", covers=["basic/no-ack"])
def no_ack_needs_no_acknowledgement(peer: Peer, queue: str) -> Verdict:
    """Messages delivered to a consumer with no-ack are not redelivered."""
    peer.claim("each message once, without an acknowledgement")
    tag = peer.consume(queue, no_ack=True)
    sent = send(peer, queue, (b"one", b"two", b"three"))
    first = bodies(peer.deliveries(len(sent)))
    peer.call("basic.cancel", consumer_tag=tag)
    kept = left_unacknowledged(peer, queue)
    reopened(peer)
    again = bodies(gathered(peer, queue, 1))
    return equals(peer, (first, again), (list(sent), [kept]), "delivered at first, and again")


@on_shared_queue("basic.explicit-ack", covers=["basic/explicit-ack"])
def unacknowledged_comes_again(peer: Peer, queue: str) -> Verdict:
    """Messages that a consumer did not acknowledge, and only those, are available to the next connection."""
    send(peer, queue, (b"1", b"2", b"3", b"4"))
    peer.consume(queue)
    deliveries = sent_ahead(peer, 4)
    peer.claim("the messages that were not acknowledged, and no others")
    for delivery in deliveries:
        if delivery.body in (b"1", b"3"):
            peer.send("basic.ack", delivery_tag=delivery["delivery_tag"])
    # basic.ack has no reply: the barrier has them dealt with before the connection closes.
    peer.barrier(queue=queue)
    peer.close()
    after = peer.another().open_channel()
    again = sorted(bodies(gathered(after, queue, 2)))
    return equals(peer, again, [b"2", b"4"], "delivered after a reconnection")


@case("basic.explicit-ack.everywhere", covers=["basic/explicit-ack"])
def unacknowledged_comes_again_everywhere(peer: Peer) -> Verdict:
    """Unacknowledged messages of a connection are redelivered, from each of its channels and queues."""
    peer.open_channel().open_channel(2)
    queues = {peer.queue(exclusive=False): channel for channel in (1, 1, 2)}
    for queue, channel in queues.items():
        send(peer, queue, (queue.encode(),))
        peer.consume(queue, channel)
    sent_ahead(peer, 3, None)
    peer.claim("one message in each of three queues after a reconnection")
    peer.close()
    again = [bodies(gathered(peer.another().open_channel(), queue, 1)) for queue in queues]
    return equals(peer, again, [[queue.encode()] for queue in queues], "delivered after a reconnection")


def _publish_priorities(peer: Peer, queue: str, priorities: range | tuple[int, ...]) -> None:
    for priority in priorities:
        peer.publish(queue, b"%d" % priority, properties={"priority": priority})
    arrive(peer, queue, len(priorities))
