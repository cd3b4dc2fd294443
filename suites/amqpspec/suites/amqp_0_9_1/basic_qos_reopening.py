"""Quality of service: what makes room in a window (amqp-0-9-1 class basic, method qos)."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._messages import awaited, bodies, send

_THREE = (b"1", b"2", b"3")


@case("basic.qos.connection.reopens", covers=["basic/qos/global", "basic/qos/prefetch-count"])
def global_window_opens_for_other_channels(peer: Peer) -> Verdict:
    """If channels share a window, an acknowledgement on one lets a message be delivered on another."""
    return _opens_elsewhere(peer, prefetch_count=1)


@case("basic.qos.connection.reopens-in-octets", covers=["basic/qos/global", "basic/qos/prefetch-size"])
def global_window_in_octets_opens_for_other_channels(peer: Peer) -> Verdict:
    """If channels share a window in octets, an acknowledgement on one lets a message be delivered on another."""
    # Each message has 60 octets: one fits, two do not.
    return _opens_elsewhere(peer, prefetch_size=100)


@case("basic.qos.prefetch-count.reopens", covers=["basic/qos/prefetch-count"])
def acknowledgement_opens_the_window(peer: Peer) -> Verdict:
    """An acknowledgement reopens the window for the next message."""
    return _opens(peer, "basic.ack")


@case("basic.qos.prefetch-count.reopens-by-reject", covers=["basic/qos/prefetch-count"])
def rejection_opens_the_window(peer: Peer) -> Verdict:
    """A reject without requeue reopens the window for the next message."""
    return _opens(peer, "basic.reject", requeue=False)


@case("basic.qos.prefetch-count.reopens-by-nack", covers=["basic/qos/prefetch-count"], needs=["nack"])
def rejection_by_nack_opens_the_window(peer: Peer) -> Verdict:
    """A nack without requeue reopens the window for the next message."""
    return _opens(peer, "basic.nack", requeue=False)


@on_channel("basic.qos.prefetch-count.reopens-by-requeue", covers=["basic/qos/prefetch-count"])
def requeuing_opens_the_window(peer: Peer) -> Verdict:
    """A reject with requeue reopens the window for a message of another queue."""
    queues = peer.queue(), peer.queue()
    for queue in queues:
        send(peer, queue, (queue.encode(),))
    peer.claim("the message of the second queue, after that of the first one is requeued")
    peer.call("basic.qos", prefetch_count=1)
    tag = peer.consume(queues[0])
    held = peer.delivery()
    peer.consume(queues[1])
    # Without its consumer, the rejected message cannot come in place of the other one.
    peer.call("basic.cancel", consumer_tag=tag)
    peer.send("basic.reject", delivery_tag=held["delivery_tag"], requeue=True)
    return equals(peer, bodies(awaited(peer, 1)), [queues[1].encode()], "deliveries")


@on_queue(
    "basic.qos.prefetch-count.reopens-by-commit",
    covers=["basic/qos/prefetch-count", "tx/commit"],
    needs=["tx"],
)
def commit_opens_the_window(peer: Peer, queue: str) -> Verdict:
    """An acknowledgement reopens the window for the next message no later than its commit, each time."""
    send(peer, queue, _THREE)
    peer.call("tx.select")
    peer.claim("one message after each commit")
    peer.call("basic.qos", prefetch_count=1)
    peer.consume(queue)
    got = []
    for _ in _THREE:
        delivery = peer.delivery()
        got.append(delivery.body)
        peer.send("basic.ack", delivery_tag=delivery["delivery_tag"])
        peer.call("tx.commit")
    return equals(peer, got, [*_THREE], "deliveries")


# --- steps of this module


def _opens(peer: Peer, method: str, **args: bool) -> Verdict:
    """Settle each of three messages under a window of one; judge whether the next one comes each time."""
    peer.open_channel()
    queue = peer.queue()
    send(peer, queue, _THREE)
    peer.claim(f"one message after each {method}")
    peer.call("basic.qos", prefetch_count=1)
    peer.consume(queue)
    got = []
    for _ in _THREE:
        delivery = peer.delivery()
        got.append(delivery.body)
        peer.send(method, delivery_tag=delivery["delivery_tag"], **args)
    return equals(peer, got, [*_THREE], "deliveries")


def _opens_elsewhere(peer: Peer, **window: int) -> Verdict:
    """Two channels under one window for one message: judge whether both get theirs, each with its acknowledgement.

    By the extension each channel has a window of its own, and both get theirs at once.
    """
    peer.open_channel().open_channel(2)
    queues = {1: peer.queue(), 2: peer.queue()}
    wanted = [b"a" * 60, b"b" * 60]
    for queue, body in zip(queues.values(), wanted, strict=True):
        send(peer, queue, (body,))
    peer.claim("the message of each channel, the second one after an acknowledgement at the latest")
    peer.send("basic.qos", **window, **{"global": True})
    answer = peer.reaction(barrier=False, within_s=peer.patience_s).arrivals[-1]
    if not isinstance(answer, MethodArrived) or answer.name != "basic.qos-ok":
        return does_not_apply(peer, "such a window is refused")
    for channel, queue in queues.items():
        peer.consume(queue, channel)
    got = []
    for delivery in (peer.deliveries(1, None) for _ in queues):
        got += bodies(delivery)
        peer.send("basic.ack", delivery[0].channel, delivery_tag=delivery[0]["delivery_tag"])
    return equals(peer, sorted(got), wanted, "deliveries")
