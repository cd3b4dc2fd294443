"""Quality of service: windows in octets and in messages, and whose they are (amqp-0-9-1 class basic, method qos)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply, equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import dismiss, settled, witness
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import awaited, bodies, send, sent_ahead

_THREE = (b"1", b"2", b"3")
_PER_CONSUMER = "extension/per-consumer-qos"


@on_channel("basic.qos.channel", covers=["basic/qos/global", _PER_CONSUMER])
def window_is_shared_on_a_channel(peer: Peer) -> Verdict:
    """Without global, the consumers of a channel share one window, or each has its own if that is announced."""
    queues = peer.queue(exclusive=False), peer.queue(exclusive=False)
    for queue in queues:
        send(peer, queue, _THREE)
    extended = _is_per_consumer(peer)
    peer.claim(
        f"no more than 2 unacknowledged messages {'of each consumer' if extended else 'on the channel'}"
    )
    peer.call("basic.qos", prefetch_count=2, **{"global": False})
    tags = [peer.consume(queue) for queue in queues]
    ahead = _ahead(peer, queues, 4 if extended else 2)
    first, second = (sum(delivery["consumer_tag"] == tag for delivery in ahead) for tag in tags)
    seen = f"{first + second} unacknowledged messages with two consumers on the channel"
    if not extended:
        return holds(peer, first + second <= 2, seen)
    # A window of its own is not filled by what the other consumer has.
    own = 0 < first <= 2 and 0 < second <= 2
    return _by_extension(peer, own, seen, first + second <= 2)


@case("basic.qos.other-channel", covers=["basic/qos/global"])
def window_leaves_other_channels_alone(peer: Peer) -> Verdict:
    """Without global, a window does not affect the other channels of the connection.

    A server may send less ahead than it is allowed to: what it sends ahead without any window is checked first.
    """
    peer.open_channel().open_channel(2)
    before, queue = peer.queue(), peer.queue()
    send(peer, before, _THREE)
    peer.consume(before, 2)
    if (ahead := len(awaited(peer, 3, 2))) < 3:
        return does_not_apply(peer, f"{ahead} messages are sent ahead without a window")
    send(peer, queue, _THREE)
    peer.claim("3 unacknowledged messages on a channel without a window")
    peer.call("basic.qos", prefetch_count=1, **{"global": False})
    peer.consume(queue, 2)
    return equals(peer, bodies(awaited(peer, 3, 2)), [*_THREE], "unacknowledged on the other channel")


@case("basic.qos.connection", covers=["basic/qos/global", _PER_CONSUMER])
def global_window_spans_channels(peer: Peer) -> Verdict:
    """With global, the channels of the connection share a window; by the extension, the consumers of the channel."""
    peer.open_channel().open_channel(2)
    extended = _is_per_consumer(peer)
    # By the extension the window is that of all consumers of the channel, so there is another one on channel 1.
    consumers = [(channel, peer.queue(exclusive=False)) for channel in ((1, 2, 1) if extended else (1, 2))]
    for _, queue in consumers:
        send(peer, queue, _THREE)
    peer.claim(f"no more than 2 unacknowledged messages on the {'channel' if extended else 'connection'}")
    peer.call("basic.qos", prefetch_count=2, **{"global": True})
    for channel, queue in consumers:
        peer.consume(queue, channel)
    ahead = _ahead(peer, [queue for _, queue in consumers], 5 if extended else 2, (1, 2))
    counts = [sum(delivery.channel == channel for delivery in ahead) for channel in (1, 2)]
    seen = f"{counts} unacknowledged messages on two channels"
    if not extended:
        return holds(peer, sum(counts) <= 2, seen)
    return _by_extension(peer, counts[0] <= 2, seen, sum(counts) <= 2)


@on_queue("basic.qos.prefetch-size", covers=["basic/qos/prefetch-size"])
def octets_stay_within_the_window(peer: Peer, queue: str) -> Verdict:
    """Unacknowledged messages stay within the window in octets, and delivery continues when it reopens."""
    # 60 and 40 fill a window of 100 to the last octet; 30 more exceed it.
    sent = send(peer, queue, (b"a" * 60, b"b" * 40, b"c" * 30))
    peer.claim("no more than 100 octets unacknowledged, and the rest after an acknowledgement")
    if (refused := _window_in_octets(peer, 100)) is not None:
        return refused
    peer.consume(queue)
    first = awaited(peer, 2)
    # By the server's own count: what is neither waiting nor received is in flight.
    waiting = peer.call("queue.declare", queue=queue, passive=True)["message_count"]
    first += awaited(peer, len(sent) - len(first) - waiting)
    peer.send("basic.ack", delivery_tag=0, multiple=True)
    rest: list[MethodArrived] = []
    # How many go ahead each time is the server's choice: acknowledge one by one until all have arrived.
    while len(first + rest) < len(sent) and (more := awaited(peer, 1)):
        peer.send("basic.ack", delivery_tag=more[0]["delivery_tag"])
        rest += more
    octets = sum(len(body) for body in bodies(first))
    fine = 0 < octets <= 100 and len(first + rest) == len(sent)
    return holds(peer, fine, f"{octets} octets, then {len(rest)} messages")


@on_channel("basic.qos.prefetch-size.zero", covers=["basic/qos/prefetch-size"])
def zero_octets_is_no_limit(peer: Peer) -> Verdict:
    """A window of zero octets sets no limit, if the server sends messages in advance at all."""
    before, queue = peer.queue(), peer.queue()
    send(peer, before, _THREE)
    tag = peer.consume(before)
    # Staying below the window is allowed (amqp-0-9-1 basic/qos/prefetch-count/less). A server that never
    # sends three ahead cannot show the lack of a limit.
    if (ahead := len(awaited(peer, 3))) < 3:
        return does_not_apply(peer, f"{ahead} messages are sent ahead without a window")
    peer.call("basic.cancel", consumer_tag=tag)
    peer.send("basic.ack", delivery_tag=0, multiple=True)
    sent = send(peer, queue, (b"a" * 5000, b"b" * 5000, b"c" * 5000))
    peer.claim("3 unacknowledged messages")
    peer.call("basic.qos", prefetch_size=0, prefetch_count=10)
    peer.consume(queue)
    return equals(peer, len(awaited(peer, 3)), len(sent), "unacknowledged messages")


@on_queue("basic.qos.prefetch-size.no-ack", covers=["basic/qos/prefetch-size"])
def octets_do_not_limit_no_ack(peer: Peer, queue: str) -> Verdict:
    """A window in octets does not limit a consumer with no-ack."""
    sent = send(peer, queue, (b"a" * 50, b"b" * 50, b"c" * 50))
    peer.claim("all messages, without an acknowledgement")
    if (refused := _window_in_octets(peer, 60)) is not None:
        return refused
    peer.consume(queue, no_ack=True)
    return equals(peer, len(awaited(peer, 3)), len(sent), "deliveries")


@on_queue("basic.qos.prefetch-size.single", covers=["basic/qos/prefetch-size/single-message"])
def single_message_passes_the_window(peer: Peer, queue: str) -> Verdict:
    """A message larger than the window in octets is delivered, one at a time, to a client that holds no other."""
    send(peer, queue, (b"a" * 500, b"b" * 500))
    peer.claim("one large message, and the next after its acknowledgement")
    # 10 octets: no message fits, so each comes alone or never.
    if (refused := _window_in_octets(peer, 10)) is not None:
        return refused
    peer.consume(queue)
    peer.send("basic.ack", delivery_tag=peer.delivery()["delivery_tag"])
    return equals(peer, peer.delivery().body[:1], b"b", "second message")


@on_shared_queue(
    "basic.qos.prefetch-count.both", covers=["basic/qos/prefetch-size", "basic/qos/prefetch-count"]
)
def both_windows_have_to_allow(peer: Peer, queue: str) -> Verdict:
    """A free window in messages does not override a full window in octets."""
    send(peer, queue, (b"a" * 80, b"b" * 80, b"c" * 80))
    peer.claim("one unacknowledged message")
    if (refused := _window_in_octets(peer, 100, prefetch_count=3)) is not None:
        return refused
    peer.consume(queue)
    return equals(peer, len(_ahead(peer, [queue], 1)), 1, "unacknowledged messages")


@case("basic.qos.prefetch-count.channel-narrower", covers=["basic/qos/prefetch-count"])
def narrower_window_of_the_channel_counts(peer: Peer) -> Verdict:
    """A smaller window of the channel applies within a larger one of the connection."""
    return _two_windows(peer, ({"prefetch_count": 2, "global": False}, {"prefetch_count": 4, "global": True}))


@case("basic.qos.prefetch-count.connection-narrower", covers=["basic/qos/prefetch-count"])
def narrower_window_of_the_connection_counts(peer: Peer) -> Verdict:
    """A smaller window of the connection applies over a larger one of the channel."""
    return _two_windows(peer, ({"prefetch_count": 4, "global": False}, {"prefetch_count": 2, "global": True}))


@case("basic.qos.prefetch-count.connection-first", covers=["basic/qos/prefetch-count"])
def window_of_the_connection_stays(peer: Peer) -> Verdict:
    """A window with global stays in force after a later, larger one without global."""
    return _two_windows(peer, ({"prefetch_count": 2, "global": True}, {"prefetch_count": 4, "global": False}))


@on_queue("basic.qos.prefetch-count.no-ack", covers=["basic/qos/prefetch-count"])
def count_does_not_limit_no_ack(peer: Peer, queue: str) -> Verdict:
    """A window in messages does not limit a consumer with no-ack."""
    send(peer, queue, _THREE)
    peer.claim("all messages, without an acknowledgement")
    peer.call("basic.qos", prefetch_count=1)
    peer.consume(queue, no_ack=True)
    return equals(peer, bodies(awaited(peer, 3)), [*_THREE], "deliveries")


@on_queue("basic.qos.prefetch-count.less", covers=["basic/qos/prefetch-count/less"])
def server_may_stay_below(peer: Peer, queue: str) -> Verdict:
    """A server may send fewer messages in advance than the window allows."""
    send(peer, queue, _THREE)
    peer.claim("at most 3 unacknowledged messages")
    peer.call("basic.qos", prefetch_count=3)
    peer.consume(queue)
    return observed_either_way(peer, f"{len(awaited(peer, 3))} messages ahead where 3 are allowed")


@on_shared_queue("basic.qos.prefetch-count.no-more", covers=["basic/qos/prefetch-count/no-more"])
def never_beyond_the_window(peer: Peer, queue: str) -> Verdict:
    """A server never sends more messages in advance than the window allows, initially and after an acknowledgement."""
    send(peer, queue, [b"%d" % number for number in range(9)])
    peer.claim("no more than 3 unacknowledged messages at any time")
    peer.call("basic.qos", prefetch_count=3)
    peer.consume(queue)
    first = _ahead(peer, [queue], 3)
    send(peer, queue, _THREE)
    peer.send("basic.ack", delivery_tag=first[0]["delivery_tag"])
    unacknowledged = len(first), len(first) - 1 + len(_ahead(peer, [queue], 1))
    return holds(peer, max(unacknowledged) <= 3, f"{unacknowledged} unacknowledged, before and after one ack")


@on_shared_queue("basic.qos-ok.existing-consumer", covers=["basic/qos-ok", _PER_CONSUMER])
def qos_holds_for_existing_consumers(peer: Peer, queue: str) -> Verdict:
    """A window applies to an existing consumer; by the extension, to later ones."""
    peer.consume(queue)
    extended = _is_per_consumer(peer)
    peer.claim(f"no more than 1 unacknowledged message{' of a later consumer' if extended else ''}")
    peer.call("basic.qos", prefetch_count=1)
    send(peer, queue, _THREE)
    count = len(_ahead(peer, [queue], 3 if extended else 1))
    if not extended:
        return holds(peer, count <= 1, f"{count} unacknowledged messages")
    return _later_consumer(peer, f"{count} unacknowledged messages", count <= 1)


@on_shared_queue("basic.qos-ok.replaced", covers=["basic/qos-ok", _PER_CONSUMER])
def next_qos_replaces_the_last(peer: Peer, queue: str) -> Verdict:
    """A new qos replaces the previous one, also for an existing consumer; by the extension, for later ones."""
    peer.call("basic.qos", prefetch_count=3)
    peer.consume(queue)
    send(peer, queue, _THREE)
    last = sent_ahead(peer, 3)[-1]
    peer.claim("no more than 1 unacknowledged message once the window is 1")
    peer.call("basic.qos", prefetch_count=1)
    # All are acknowledged, so that the new window starts empty.
    peer.send("basic.ack", delivery_tag=last["delivery_tag"], multiple=True)
    send(peer, queue, _THREE)
    extended = _is_per_consumer(peer)
    count = len(_ahead(peer, [queue], 3 if extended else 1))
    seen = f"{count} unacknowledged messages"
    return _later_consumer(peer, seen, count <= 1) if extended else holds(peer, count <= 1, seen)


def _is_per_consumer(peer: Peer) -> bool:
    """Whether the target announces the other meaning that the extended XML gives to qos."""
    return peer.capabilities().get("per_consumer_qos") is True


def _later_consumer(peer: Peer, seen: str, base: bool) -> Verdict:
    """By the extension, the window of 1 asked for last is that of a consumer that begins now."""
    later = peer.queue(exclusive=False)
    send(peer, later, _THREE)
    peer.consume(later)
    count = len(_ahead(peer, [later], 1))
    return _by_extension(peer, count == 1, f"{seen}, {count} of a later consumer", base)


def _by_extension(peer: Peer, kept: bool, seen: str, base: bool) -> Verdict:
    """The extension's meaning is judged; whether the base text is kept as well is also reported."""
    told = f"{seen}; the text of the base is {'kept' if base else 'not kept'}"
    return holds(peer, kept, told, row=_PER_CONSUMER)


def _ahead(
    peer: Peer, queues: Iterable[str], owed: int, channels: Iterable[int] = (1,)
) -> list[MethodArrived]:
    """What windows let through to the consumers on some channels: waits for this many, the rest has gone elsewhere.

    A server may send less ahead than it is allowed to (amqp-0-9-1 basic/qos/prefetch-count/less).
    """
    got = awaited(peer, owed, None)
    at = [(peer, channel) for channel in channels]
    for queue in queues:
        other = witness(peer, queue)
        for messages in settled(queue, *at, other)[:-1]:
            got += messages
        dismiss(other)
    return got


def _two_windows(peer: Peer, windows: Iterable[Mapping[str, int]]) -> Verdict:
    """Request windows one after the other; judge whether no more than 2 messages go ahead."""
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    send(peer, queue, [b"%d" % number for number in range(6)])
    peer.claim("no more than 2 unacknowledged messages")
    for window in windows:
        peer.call("basic.qos", **window)
    peer.consume(queue)
    count = len(_ahead(peer, [queue], 2))
    return holds(peer, count <= 2, f"{count} unacknowledged messages")


def _window_in_octets(peer: Peer, octets: int, **args: int) -> Verdict | None:
    """Ask for a window in octets; returns the verdict on a server that does not grant it."""
    peer.send("basic.qos", prefetch_size=octets, **args)
    # qos-ok is the answer that is watched for: no barrier is needed, but the patience for replies is.
    reaction = peer.reaction(barrier=False, within_s=peer.patience_s)
    answer = reaction.arrivals[-1]
    granted = isinstance(answer, MethodArrived) and answer.name == "basic.qos-ok"
    return None if granted else judge_reaction(peer, reaction)
