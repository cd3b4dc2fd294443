"""The wire level, fifth part: contents are transmitted whole, unchanged, in order (PDF §3.1.1, §4.2.6, §4.6, §4.7)."""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import settled, witness
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import altered, sent_ahead
from amqpspec.suites.amqp_0_9_1._queues import arrive, contents, routed
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    header_payload,
    send_content,
    shortstr,
)

# Property flags (PDF §4.2.6.1): bit 15 the first property, bit 11 the fifth, bit 0 another word of flags.
_CONTENT_TYPE, _PRIORITY, _CONTINUED = 0x8000, 0x0800, 0x0001
_EVERY_OCTET = bytes(range(256))
_MEBIBYTE = 1 << 20
_HOUR_MS, _YEAR_2100_MS = "3600000", "4102444800000"

# whole and unchanged


@on_queue("framing.content.split", covers=["wire/content/split-bodies"])
def body_in_many_frames(peer: Peer, queue: str) -> Verdict:
    """The server accepts a body in frames of very different sizes and delivers it complete."""
    parts = [b"a", _EVERY_OCTET, b"b" * 4000, b"c", b"d" * 1023, b"e" * 7]
    peer.claim("the whole body")
    _publish_parts(peer, queue, parts)
    body = fetch(peer, queue).body
    return holds(peer, body == b"".join(parts), f"{len(body)} octets, of {sum(map(len, parts))} sent")


@on_queue("framing.content.one-octet-frames", covers=["wire/content/split-bodies"])
def body_in_frames_of_one_octet(peer: Peer, queue: str) -> Verdict:
    """The server accepts a body in frames of one octet each and delivers it complete."""
    peer.claim("the whole body")
    peer.publish(queue, _EVERY_OCTET, chunk=1)
    return equals(peer, fetch(peer, queue).body, _EVERY_OCTET, "body")


@on_queue("framing.content.empty-frame", covers=["wire/content/split-bodies"])
def empty_body_frame(peer: Peer, queue: str) -> Verdict:
    """An empty body frame within a body does not change the body."""
    peer.claim("the whole body")
    _publish_parts(peer, queue, [b"before", b"", b"after"])
    return equals(peer, fetch(peer, queue).body, b"beforeafter", "body")


@on_queue("framing.content.zero-body", covers=["wire/content/zero-body"])
def body_of_zero_octets(peer: Peer, queue: str) -> Verdict:
    """A content of size zero is complete without a body frame, in both directions."""
    peer.claim("an empty message, and no body frame from either side")
    send_content(peer, header_payload(peer, 0), queue=queue)
    message = fetch(peer, queue)
    peer.barrier()
    return equals(peer, (message.body, message.body_frames), (b"", 0), "body and body frames")


@on_queue("framing.content.unmodified-body", covers=["wire/content/unmodified"])
def body_passes_unchanged(peer: Peer, queue: str) -> Verdict:
    """A body that contains every octet, and sequences that look like frames, arrives unchanged."""
    # A scan for frames or for end octets inside a body would stumble over these.
    body = _EVERY_OCTET * 3 + peer.method_frame("channel.close") + peer.dialect.protocol_header + b"\xce" * 9
    peer.claim("the same body")
    peer.publish(queue, body)
    return equals(peer, fetch(peer, queue).body, body, "body")


@on_queue("framing.content.unmodified-properties", covers=["wire/content/unmodified"])
def properties_pass_unchanged(peer: Peer, queue: str) -> Verdict:
    """Every property of a content arrives unchanged; a server may add others."""
    properties = {
        "content_type": "application/octet-stream",
        "content_encoding": "identity",
        "delivery_mode": 1,
        "priority": 4,
        "correlation_id": "correlation ü",
        "reply_to": "reply.to",
        "message_id": "m" * 255,
        "timestamp": 1_234_567_890,
        "type": "type",
        # Brokers in use refuse a user-id that is not the connection's own.
        "user_id": peer.login.user,
        "app_id": "amqpspec",
    }
    peer.claim("the same properties")
    peer.publish(queue, b"body", properties=properties)
    got = dict(fetch(peer, queue).properties)
    return holds(peer, not altered(got, properties), f"properties {got}", f"properties {properties}")


@on_queue("framing.content.unmodified-expiration", covers=["wire/content/unmodified"])
def expiration_passes_unchanged(peer: Peer, queue: str) -> Verdict:
    """The property expiration arrives unchanged, whether it is a lifetime or a point in time, in ms."""
    peer.claim("the same expiration")
    # The field's meaning is left to the server. Read as a point in time, an hour is in 1970 and the message is gone
    # at once; the second value is in the future in either reading.
    for expiration in (_HOUR_MS, _YEAR_2100_MS):
        peer.publish(queue, b"body", properties={"expiration": expiration})
        arrive(peer, queue, 1)
        message = peer.get(queue)
        if message is not None:
            return equals(peer, message.properties.get("expiration"), expiration, "expiration")
    return holds(peer, False, "no message")


@on_channel("framing.content.interleaved", covers=["wire/content/interleaved-channels"])
def contents_of_two_channels_interleaved(peer: Peer) -> Verdict:
    """Interleaved contents of two channels, with a heartbeat between them, both arrive complete."""
    peer.call("channel.open", channel=2)
    queues = {channel: peer.queue(channel=channel) for channel in (1, 2)}
    peer.claim("both contents, each whole")
    for channel, queue in queues.items():
        begin_publish(peer, queue, channel=channel)
    for channel in queues:
        peer.send_frame("header", header_payload(peer, 6), channel)
    # PDF §4.2.6 keeps the frames of one channel in sequence and lets those of other channels, 0
    # among them, come between.
    for part in (b"one", b"two"):
        peer.send_frame("heartbeat", b"", 0)
        for channel in queues:
            peer.send_frame("body", part if channel == 1 else part.upper(), channel)
    got = [contents(peer, queue, channel) for channel, queue in queues.items()]
    return equals(peer, got, [[b"onetwo"], [b"ONETWO"]], "bodies")


# property flags


@on_queue("framing.content.flags", covers=["wire/content/property-flags"])
def first_flag_is_the_highest(peer: Peer, queue: str) -> Verdict:
    """Bit 15 means the first property and bit 11 the fifth property, in both directions."""
    flags = _CONTENT_TYPE | _PRIORITY
    peer.claim("content-type and priority, under the flags 15 and 11")
    begin_publish(peer, queue)
    listed = shortstr("text/plain") + b"\x05"
    peer.send_frame("header", header_payload(peer, 4, flags=(flags,), properties=listed))
    peer.send_frame("body", b"body")
    properties = fetch(peer, queue).properties
    kind = peer.dialect.layout.types["header"]
    # Octets 12 and 13 of a content header are its flags. A server may set more of them, for properties
    # that it adds, so only the two are compared.
    sent = next(frame.payload[12:14] for frame in reversed(peer.assembler.frames) if frame.type == kind)
    seen = (properties.get("content_type"), properties.get("priority"), int.from_bytes(sent, "big") & flags)
    return equals(peer, seen, ("text/plain", 5, flags), "content-type, priority, their flags")


@on_queue("framing.content.flags-continued", covers=["wire/content/property-flags-continued"])
def flags_go_on_in_another_word(peer: Peer, queue: str) -> Verdict:
    """Bit 0 announces another word of flags; the properties follow the last word."""
    peer.claim("the content-type after two words of flags")
    begin_publish(peer, queue)
    flags = (_CONTENT_TYPE | _CONTINUED, 0)
    peer.send_frame("header", header_payload(peer, 4, flags=flags, properties=shortstr("text/plain")))
    peer.send_frame("body", b"body")
    return equals(peer, fetch(peer, queue).properties.get("content_type"), "text/plain", "content-type")


# effects of replies


@on_queue("framing.synchronisation.consume", covers=["wire/content/synchronisation"])
def deliveries_follow_consume_ok(peer: Peer, queue: str) -> Verdict:
    """The server sends deliveries to a consumer after consume-ok, not before it."""
    _fill(peer, queue, 5)
    peer.claim("consume-ok, then the deliveries")
    peer.consume(queue, no_ack=True)
    early = peer.pending("basic.deliver")
    later = peer.deliveries(5 - len(early))
    return equals(peer, (len(early), len(later)), (0, 5), "deliveries before and after consume-ok")


@on_shared_queue("framing.synchronisation.cancel", covers=["wire/content/synchronisation"])
def no_deliveries_after_cancel_ok(peer: Peer, queue: str) -> Verdict:
    """The server sends no delivery to a consumer after cancel-ok."""
    tag = peer.consume(queue, no_ack=True)
    _fill(peer, queue, 1)
    peer.delivery()
    peer.claim("no delivery after cancel-ok")
    peer.call("basic.cancel", consumer_tag=tag)
    _fill(peer, queue, 3)
    late, left = settled(queue, (peer, 1), witness(peer, queue))
    return equals(peer, (len(late), len(left)), (0, 3), "delivered to this consumer, and to a later one")


@on_shared_queue("framing.synchronisation.recover", covers=["wire/content/synchronisation"])
def redeliveries_follow_recover_ok(peer: Peer, queue: str) -> Verdict:
    """The server redelivers messages after recover-ok, not before it."""
    _fill(peer, queue, 3)
    peer.consume(queue)
    sent_ahead(peer, 3)
    peer.open_channel(2)
    peer.consume(queue, channel=2)
    peer.claim("recover-ok, then the messages again, to either consumer")
    peer.call("basic.recover", requeue=True)
    # §4.6 is about the channel of the method. Between channels there is no order: what came early on channel 2
    # proves nothing.
    early = peer.pending("basic.deliver")
    again = peer.deliveries(3 - len(early), channel=None)
    return equals(peer, (len(early), len(again)), (0, 3), "deliveries before and after recover-ok")


@on_channel("framing.synchronisation.bind", covers=["wire/content/synchronisation"])
def messages_flow_after_bind_ok(peer: Peer) -> Verdict:
    """A message published after bind-ok uses the new binding; one published before bind does not."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.claim("only the message after bind-ok")
    peer.publish("", b"before", exchange=exchange)
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.publish("", b"after", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"after"], "messages")


@on_channel("framing.synchronisation.unbind", covers=["wire/content/synchronisation"])
def messages_stop_after_unbind_ok(peer: Peer) -> Verdict:
    """A message published after unbind-ok does not use the old binding; one published before unbind does."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.claim("only the message before unbind")
    # Published before unbind on the same channel, so it is routed before (PDF §4.7).
    peer.publish("", b"before", exchange=exchange)
    peer.call("queue.unbind", queue=queue, exchange=exchange)
    peer.publish("", b"after", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"before"], "messages")


@on_queue("framing.synchronisation.purge", covers=["wire/content/synchronisation"])
def queue_is_empty_after_purge_ok(peer: Peer, queue: str) -> Verdict:
    """After purge-ok, the queue contains no earlier message and receives a later one."""
    _fill(peer, queue, 3)
    peer.claim("only the message after purge-ok")
    peer.call("queue.purge", queue=queue)
    peer.publish(queue, b"after")
    return equals(peer, contents(peer, queue), [b"after"], "messages")


# order


@on_channel("framing.ordering.consumed", covers=["wire/content/ordering"])
def deliveries_keep_their_order(peer: Peer) -> Verdict:
    """Messages that take the same path through an exchange and a queue are delivered in the order of publishing."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="way")
    sent = [b"%03d" % number for number in range(200)]
    # Half of them wait in the queue, half come while the consumer is at work: the seam between
    # both is where order breaks.
    peer.send_octets(b"".join(_published(peer, exchange, "way", sent[:100])))
    peer.claim("200 messages in their order")
    peer.consume(queue, no_ack=True)
    peer.send_octets(b"".join(_published(peer, exchange, "way", sent[100:])))
    got = [delivery.body for delivery in peer.deliveries(len(sent))]
    return holds(peer, got == sent, _disorder(got, sent))


@on_queue("framing.ordering.sizes", covers=["wire/content/ordering"])
def size_does_not_change_the_order(peer: Peer, queue: str) -> Verdict:
    """Messages of very different sizes are delivered in the order of publishing."""
    # Every tenth takes long to write and to store; small ones must not overtake it.
    sent = [b"%03d" % number + bytes(50_000 if number % 10 == 0 else 1) for number in range(40)]
    peer.claim("40 messages in their order")
    peer.send_octets(b"".join(_published(peer, "", queue, sent)))
    got = contents(peer, queue)
    return holds(peer, got == sent, _disorder(got, sent))


@on_channel(
    "framing.content.large-copies", covers=["wire/content/unmodified", "exchange/required-types"], heavy=True
)
def large_messages_to_several_queues(peer: Peer) -> Verdict:
    """Messages larger than a mebibyte reach each of several queues complete and in order."""
    exchange, queues = peer.exchange("fanout"), [peer.queue() for _ in range(3)]
    for queue in queues:
        peer.call("queue.bind", queue=queue, exchange=exchange)
    sent = [bytes(range(256)) * 4096 + b"!", b"small", bytes(range(255, -1, -1)) * 10_000]
    peer.claim("each message, octet for octet, in each queue")
    for body in sent:
        peer.publish(exchange=exchange, body=body)
    for queue in queues:
        arrive(peer, queue, len(sent))
    whole = [[message.body for message in peer.drain(queue)] == sent for queue in queues]
    return equals(peer, whole, [True] * 3, "all messages whole and in order, by queue:")


@case("framing.content.large-on-two-channels", covers=["wire/content/unmodified"], heavy=True)
def large_messages_on_two_channels(peer: Peer) -> Verdict:
    """Consumers on two channels of one connection each receive six waiting messages of one mebibyte."""
    peer.open_channel().open_channel(2)
    queues = {1: peer.queue(), 2: peer.queue()}
    sent = {channel: [bytes((16 * channel + n,)) * _MEBIBYTE for n in range(6)] for channel in queues}
    for channel, queue in queues.items():
        for body in sent[channel]:
            peer.publish(queue, body, channel=channel)
        arrive(peer, queue, len(sent[channel]), channel)
    peer.claim("all messages on both channels, whole and in order")
    # Both in one write: the second comes while the server is busy with the first.
    both = (peer.method_frame("basic.consume", n, queue=queue, no_ack=True) for n, queue in queues.items())
    peer.send_octets(b"".join(both))
    whole = [[m.body for m in peer.deliveries(6, channel)] == sent[channel] for channel in queues]
    return equals(peer, whole, [True, True], "all messages whole and in order, by channel:")


def _publish_parts(peer: Peer, queue: str, parts: list[bytes]) -> None:
    send_content(peer, header_payload(peer, sum(map(len, parts))), *parts, queue=queue)


def _fill(peer: Peer, queue: str, count: int) -> None:
    """Publish this many messages and see that the queue has had them."""
    for number in range(count):
        peer.publish(queue, b"%d" % number)
    arrive(peer, queue, count)


def _published(peer: Peer, exchange: str, routing_key: str, bodies: Iterable[bytes]) -> Iterable[bytes]:
    for body in bodies:
        yield peer.method_frame("basic.publish", exchange=exchange, routing_key=routing_key)
        yield peer.content_frames(body)


def _disorder(got: list[bytes], sent: list[bytes]) -> str:
    wrong = next((n for n, (a, b) in enumerate(zip(got, sent, strict=False)) if a != b), None)
    return f"{len(got)} messages, " + ("in order" if wrong is None else f"out of order from number {wrong}")
