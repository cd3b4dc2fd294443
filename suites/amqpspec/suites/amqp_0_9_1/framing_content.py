"""The wire level, fourth part: contents that are broken, misplaced or badly formed (PDF §4.2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.events import Quiet
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_shared_queue, on_small_frames
from amqpspec.suites.amqp_0_9_1._messages import plain
from amqpspec.suites.amqp_0_9_1._queues import arrive, contents, routed
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    half_sent,
    header_payload,
    refuses_content,
    refuses_header,
    send_content,
    shortstr,
    table,
)
from amqpspec.wire.methods.codec import ContentHeader

# Bit 15 means the first property, and so on downwards (PDF §4.2.6.1). Class basic has fourteen, so bit 1 is a
# fifteenth; bit 0 announces another word of flags.
_CONTENT_TYPE, _HEADERS, _DELIVERY_MODE = 0x8000, 0x2000, 0x1000
_FIFTEENTH_PROPERTY = 0x0002

# the parts of a content


@on_channel("amq_wlp_content_01", covers=["amq_wlp_content_01"], destructive=True)
def content_without_header(peer: Peer) -> Verdict:
    """A body where the content header is expected is refused."""
    # Here and below, to a queue that does not exist: a server that tolerates the violation keeps nothing of it.
    begin_publish(peer, peer.name("nowhere"))
    peer.send_frame("body", b"no header before me")
    return refuses_content(peer)


@on_channel("framing.content.body-missing", covers=["amq_wlp_content_01"])
def content_without_body(peer: Peer) -> Verdict:
    """A second content header where the body is expected is refused."""
    send_content(peer, header_payload(peer, 4))
    peer.send_frame("header", header_payload(peer, 0))
    # The body completes the content for a server that overlooks the second header: the barrier
    # then finds none left open.
    peer.send_frame("body", b"body")
    return rejects_violation(peer)


@case("framing.content.method-amid-content", covers=["wire/content/aborted-by-method"])
def method_amid_a_content(peer: Peer) -> Verdict:
    """A method within a content aborts it or is refused; the incomplete content is not delivered."""
    queue = half_sent(peer)
    peer.send("basic.qos", prefetch_count=1)
    return _aborted(peer, queue, b"")


@case("framing.content.overlapping", covers=["wire/content/aborted-by-method"])
def content_amid_a_content(peer: Peer) -> Verdict:
    """A content that begins within another one on its channel is refused, or it alone is delivered."""
    queue = half_sent(peer)
    peer.publish(queue, b"the second")
    return _aborted(peer, queue, b"the second")


@on_channel("framing.content.body-beyond-size", covers=["wire/content/body-exceeds-size"])
def body_frame_beyond_the_size(peer: Peer) -> Verdict:
    """A body frame larger than the announced body size is refused."""
    send_content(peer, header_payload(peer, 3), b"four and more")
    return refuses_content(peer)


@on_channel("framing.content.frames-beyond-size", covers=["wire/content/body-exceeds-size"])
def body_frames_beyond_the_size(peer: Peer) -> Verdict:
    """A second body frame that exceeds the announced body size is refused."""
    send_content(peer, header_payload(peer, 6), b"four", b"and more")
    return refuses_content(peer)


@on_channel("framing.content.header-unasked", covers=["wire/content/unexpected-header"])
def header_without_a_method(peer: Peer) -> Verdict:
    """A content header without a preceding method that carries content is refused."""
    peer.send_frame("header", header_payload(peer))
    return rejects_violation(peer)


@on_channel("framing.content.body-unasked", covers=["wire/content/unexpected-body"])
def body_without_a_header(peer: Peer) -> Verdict:
    """A body frame without a preceding method and content header is refused."""
    peer.send_frame("body", b"nobody asked")
    return rejects_violation(peer)


@on_channel("framing.content.body-behind-content", covers=["wire/content/unexpected-body"])
def body_behind_a_whole_content(peer: Peer) -> Verdict:
    """A body frame after a content of size zero, which needs none, is refused."""
    send_content(peer, header_payload(peer, 0), b"one too many")
    # The content is whole, so the barrier is no method within one.
    return rejects_violation(peer)


# the content header


@on_channel("amq_wlp_content_02", covers=["amq_wlp_content_02"])
def wrong_class_in_the_header(peer: Peer) -> Verdict:
    """A content header whose class differs from that of the preceding method is refused."""
    send_content(peer, header_payload(peer, 0, class_name="queue"))
    return refuses_content(peer)


@on_channel("amq_wlp_content_03", covers=["amq_wlp_content_03"])
def content_header_on_channel_zero(peer: Peer) -> Verdict:
    """A content header on channel 0 is refused."""
    peer.send_frame("header", header_payload(peer), 0)
    return rejects_violation(peer)


@on_channel("framing.content.body-on-zero", covers=["amq_wlp_content_03"])
def content_body_on_channel_zero(peer: Peer) -> Verdict:
    """A content body on channel 0 is refused."""
    peer.send_frame("body", b"body", 0)
    return rejects_violation(peer)


@on_channel("framing.content.header-strays-to-zero", covers=["amq_wlp_content_03"])
def content_strays_to_channel_zero(peer: Peer) -> Verdict:
    """The content of a method on channel 1 is refused when it is sent on channel 0."""
    begin_publish(peer, peer.name("nowhere"))
    # The content on channel 1 stays open. To a server that overlooks the stray frame, the barrier is a
    # method within it, and 505, its answer to that, is not the row's code.
    peer.send_frame("header", header_payload(peer), 0)
    return rejects_violation(peer)


@on_channel("amq_wlp_content_04", covers=["amq_wlp_content_04"])
def content_within_a_content(peer: Peer) -> Verdict:
    """A content header with a nonzero weight, followed by a nested content, is refused."""
    begin_publish(peer, peer.name("nowhere"))
    # The parent's own body is never sent. A server that still knows weights waits for it, so the content
    # stays open and no barrier is possible.
    peer.send_frame("header", header_payload(peer, 5, weight=1))
    peer.send_frame("header", header_payload(peer, 5))
    peer.send_frame("body", b"child")
    return refuses_content(peer)


@on_channel("amq_wlp_content_05", covers=["amq_wlp_content_05"])
def weight_with_a_plain_body(peer: Peer) -> Verdict:
    """A content header with a nonzero weight, followed by a plain body, is refused."""
    send_content(peer, header_payload(peer, 4, weight=1), b"body")
    return refuses_content(peer)


@case("framing.content.header-cut", covers=["wire/content/malformed-header"])
def header_without_flags(peer: Peer) -> Verdict:
    """A content header that ends before its property flags, or after its class, is refused."""
    # The last two octets are the word of property flags, the first two the class.
    payloads = (peer, header_payload(peer)[:-2]), (peer.another(), header_payload(peer)[:2])
    return worst(refuses_header(line, payload) for line, payload in payloads)


@case("framing.content.property-missing", covers=["wire/content/malformed-header"])
def flag_without_a_property(peer: Peer) -> Verdict:
    """A property flag without its property in the list is refused."""
    return refuses_header(peer, header_payload(peer, flags=(_DELIVERY_MODE,)))


@case("framing.content.property-cut", covers=["wire/content/malformed-header"])
def property_cut_by_the_frame(peer: Peer) -> Verdict:
    """A property that announces more octets than its frame contains is refused."""
    # A short string that announces 0x20 = 32 octets, of which four follow.
    flags = (_CONTENT_TYPE,)
    return refuses_header(peer, header_payload(peer, flags=flags, properties=b"\x20text"))


@case("framing.content.property-unannounced", covers=["wire/content/malformed-header"])
def property_without_a_flag(peer: Peer) -> Verdict:
    """Octets after the properties that the flags announce are refused."""
    return refuses_header(peer, header_payload(peer, properties=shortstr("text/plain")))


@case("framing.content.flag-undefined", covers=["wire/content/malformed-header"])
def flag_of_no_property(peer: Peer) -> Verdict:
    """A flag for a property that is undefined in the class is refused."""
    flags = (_FIFTEENTH_PROPERTY,)
    return refuses_header(peer, header_payload(peer, flags=flags, properties=shortstr("x")))


@on_small_frames("framing.content.header-fills-a-frame", covers=["connection/tune/frame-max/whole-frame"])
def header_of_a_whole_frame(peer: Peer) -> Verdict:
    """A content header that fills a frame of the agreed size is accepted and returned unchanged in one frame."""
    queue = peer.queue()
    properties = {"headers": {"filler": b"x"}, "message_id": "kept"}
    room = peer.frame_max_octets - len(peer.frame("header", _header_of(peer, properties)))
    properties = {"headers": {"filler": b"x" * (room + 1)}, "message_id": "kept"}
    peer.claim(f"a content header of {peer.frame_max_octets} octets with its frame")
    for body in (b"1", b"2"):
        peer.publish(queue, body, properties=properties)
    arrive(peer, queue, 2)
    got = [(message.body, plain(message) == properties) for message in peer.drain(queue)]
    largest = peer.assembler.largest_frame_octets
    observed = f"{got}, largest frame {largest} octets"
    fine = got == [(b"1", True), (b"2", True)] and largest <= peer.frame_max_octets
    return holds(peer, fine, observed)


@on_shared_queue("framing.content.malformed-not-stored", covers=["wire/content/malformed-header"])
def malformed_properties_reach_nobody(peer: Peer, queue: str) -> Verdict:
    """A message with malformed properties reaches no queue, so no consumer receives it."""
    malformed = (
        header_payload(peer, 4, flags=(_DELIVERY_MODE,)),
        header_payload(peer, 4, flags=(_CONTENT_TYPE,), properties=b"\x20text"),
        header_payload(peer, 4, flags=(_HEADERS,), properties=table(shortstr("name") + b"Z\x00\x00\x00\x00")),
        header_payload(peer, 4, flags=(_HEADERS,), properties=table(shortstr("name") + b"S\x00\x00\xff\xff")),
    )
    peer.claim("only the message after them in the queue")
    for payload in malformed:
        other = peer.another().open_channel()
        begin_publish(other, queue)
        other.send_frame("header", payload)
        other.send_frame("body", b"evil")
        # How it is refused is judged by cases of its own.
        other.reaction(barrier=False, within_s=other.patience_s)
    peer.publish(queue, b"behind")
    return equals(peer, contents(peer, queue), [b"behind"], "messages")


@case("framing.content.headers-malformed", covers=["wire/content/malformed-header"])
def malformed_table_among_the_properties(peer: Peer) -> Verdict:
    """A headers table with an undefined tag is refused."""
    headers = table(shortstr("name") + b"Z\x00\x00\x00\x00")
    return refuses_header(peer, header_payload(peer, flags=(_HEADERS,), properties=headers))


def _aborted(peer: Peer, queue: str, arrives: bytes) -> Verdict:
    """Refused as the row says, or carried on without the broken content; ``arrives`` is what may come then."""
    reaction = peer.reaction()
    peer.claim("the incomplete content is not delivered")
    # amqp-0-9-1 wire/content/aborted-by-method: §4.2.6 allows a method to abort a content, and gives 505 to an
    # incomplete content. Either is right, so the queue decides; a channel that is neither closed nor answers is not.
    if isinstance(reaction.arrivals[-1], Quiet):
        return holds(peer, False, reaction, "an answer after the content, or a refusal")
    if reaction.refusal is None and not arrives:
        # The rest of the broken content belongs to none any more: it may be refused, and completes nothing.
        peer.send_frame("body", b" body")
        peer.reaction()
    elif reaction.refusal is None:
        arrive(peer, queue, 1)
    bodies = routed(peer.another().open_channel(), queue)
    if reaction.refusal is not None and not bodies:
        return judge_reaction(peer, reaction)
    wanted = [arrives] if arrives and reaction.refusal is None else []
    return holds(
        peer, bodies == wanted, f"{reaction.describe(peer.dialect)}; in the queue {bodies}", seen=reaction
    )


def _header_of(peer: Peer, properties: Mapping[str, Any]) -> bytes:
    """The payload of a content header with these properties."""
    class_id = peer.dialect.classes_by_name["basic"].index
    return peer.codec.encode_header(ContentHeader(class_id, 0, properties))
