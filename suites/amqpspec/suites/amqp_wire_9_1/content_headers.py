"""Content headers: class, weight, body size, property flags and values, channel."""

from __future__ import annotations

from functools import partial

from amqpspec.peer.context import owed
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_content, framing_messages
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_small_frames
from amqpspec.suites.amqp_0_9_1._messages import altered
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    header_payload,
    refuses_content,
    refuses_header,
    send_content,
    shortstr,
)
from amqpspec.suites.amqp_wire_9_1._wire import fetch_all, sent_frames

borrow = partial(declare, globals())

# Bit 15 the first property, 12 the fourth, 11 the fifth; bit 0 announces another word of flags.
_CONTENT_TYPE, _DELIVERY_MODE, _PRIORITY, _CONTINUED = 0x8000, 0x1000, 0x0800, 0x0001
_CLASS, _WEIGHT, _SIZE, _FLAGS = slice(0, 2), slice(2, 4), slice(4, 12), slice(12, 14)
"""The positions of the parts of a content header in its payload."""

# class


@on_channel("content.class", covers=["content-header/class"])
def class_of_what_is_sent(peer: Peer) -> Verdict:
    """The content header of a delivery contains the class of its method."""
    payload = _header_of(peer, b"body")
    return equals(peer, payload[_CLASS].hex(), "003c", "class")


@on_channel("content.class.another-with-content", covers=["content-header/class"])
def class_of_another_content(peer: Peer) -> Verdict:
    """A content header of another class that also carries contents is refused."""
    # Class file carries contents too: a server that asks only for any such class is detected.
    send_content(peer, header_payload(peer, 0, class_name="file"))
    return refuses_content(peer)


@on_channel("amq_wlp_content_02", covers=["amq_wlp_content_02"])
def wrong_class_in_the_header(peer: Peer) -> Verdict:
    """A content header of a class without contents is refused."""
    send_content(peer, header_payload(peer, 0, class_name="queue"))
    return refuses_content(peer)


@on_channel("wlp.content_02.undefined", covers=["amq_wlp_content_02"])
def undefined_class_in_the_header(peer: Peer) -> Verdict:
    """A content header of an undefined class is refused."""
    begin_publish(peer, peer.name("nowhere"))
    # basic, 0x003C, with its octets swapped.
    peer.send_frame("header", b"\x3c\x00" + header_payload(peer, 0)[2:])
    return refuses_content(peer)


# weight


@on_channel("content.weight", covers=["content-header/weight"])
def simple_contents_weigh_nothing(peer: Peer) -> Verdict:
    """The server accepts a simple content with weight zero, and delivers it with weight zero."""
    payload = _header_of(peer, b"body")
    return equals(peer, payload[_WEIGHT].hex(), "0000", "weight")


# body size


@on_small_frames("content.body-size", covers=["content-header/body-size"])
def size_of_the_whole_body(peer: Peer) -> Verdict:
    """The body size of a delivery counts the octets of all its body frames, in 64 bits."""
    body = bytes(3 * peer.frame_max_octets)
    payload = _header_of(peer, body)
    return equals(peer, payload[_SIZE].hex(), f"{len(body):016x}", "body size")


borrow(framing_content.body_frame_beyond_the_size, "content.body-size.exceeded", ["content-header/body-size"])
borrow(
    framing_content.body_frames_beyond_the_size,
    "content.body-size.exceeded-later",
    ["content-header/body-size"],
)


@case("content.body-size.high-half", covers=["content-header/body-size"], needs=["multiple-channels"])
def size_beyond_32_bits(peer: Peer) -> Verdict:
    """The server does not read a body size of 2^32 + 4 as 4: the content is incomplete after four octets."""
    peer.open_channel().open_channel(2)
    queue = peer.queue(channel=2)
    peer.claim("no message of four octets, because 2^32 more are missing")
    send_content(peer, header_payload(peer, 2**32 + 4), b"four", queue=queue)
    # Channel 1 is within a content and cannot ask. Channel 2 takes what is there one by one, a message after it as
    # well: peers of 0-8 differ in the fields that they expect of a consumer.
    peer.publish(queue, b"behind", channel=2)
    return equals(peer, fetch_all(peer, queue, 2), [b"behind"], "messages")


@on_queue("content.body-size.zero", covers=["content-header/zero-body"])
def body_of_zero_octets(peer: Peer, queue: str) -> Verdict:
    """A content of size zero is complete without a body frame, in both directions."""
    peer.claim("an empty message, and no body frame from either side")
    send_content(peer, header_payload(peer, 0), queue=queue)
    message = fetch(peer, queue)
    peer.barrier()
    return equals(peer, (message.body, len(sent_frames(peer, "body"))), (b"", 0), "body and body frames")


# property flags


borrow(framing_messages.first_flag_is_the_highest, "content.flags", ["content-header/flags"])


@case("content.flags-continued", covers=["content-header/flags-continued"])
def flags_go_on_in_another_word(peer: Peer) -> Verdict:
    """Bit 0 announces another word of flags; the properties follow the last word."""
    return _behind_flags(peer, _CONTENT_TYPE | _CONTINUED, 0)


@case("content.flags-continued.twice", covers=["content-header/flags-continued"])
def flags_go_on_in_two_more_words(peer: Peer) -> Verdict:
    """Bit 0 of the second word announces a third word of flags; the properties follow the last word."""
    return _behind_flags(peer, _CONTENT_TYPE | _CONTINUED, _CONTINUED, 0)


@case("content.flags-continued.missing", covers=["content-header/flags-continued"])
def word_of_flags_does_not_come(peer: Peer) -> Verdict:
    """A content header without the further word of flags that it announces is refused."""
    # Bit 0 is set and the header ends.
    return refuses_header(peer, header_payload(peer, flags=(_CONTINUED,)))


# property values


@on_queue("content.values", covers=["content-header/values"])
def values_in_the_order_of_flags(peer: Peer, queue: str) -> Verdict:
    """All properties of a content arrive unchanged, each under its name."""
    properties = {
        "content_type": "application/octet-stream",
        "content_encoding": "identity",
        "headers": {"name": b"value"},
        "delivery_mode": 1,
        "priority": 4,
        "correlation_id": "correlation ü",
        "reply_to": "reply.to",
        "message_id": "m" * 255,
        "timestamp": 1_234_567_890,
        "type": "type",
        "user_id": peer.login.user,
        "app_id": "amqpspec",
    }
    peer.claim("the same properties")
    peer.publish(queue, b"body", properties=properties)
    got = dict(fetch(peer, queue).properties)
    got["headers"] = got["headers"].plain() if "headers" in got else {}
    return holds(peer, not altered(got, properties), f"properties {got}", f"properties {properties}")


@case("content.values.missing", covers=["content-header/values"])
def flag_without_a_value(peer: Peer) -> Verdict:
    """A flag without its value in the list is refused."""
    return refuses_header(peer, header_payload(peer, flags=(_DELIVERY_MODE,)))


@case("content.values.cut", covers=["content-header/values"])
def value_cut_by_the_frame(peer: Peer) -> Verdict:
    """A value that announces more octets than its frame contains is refused, and so is a header of two octets."""
    flags = (_CONTENT_TYPE,)
    verdict = refuses_header(peer, header_payload(peer, flags=flags, properties=b"\x20text"))
    return worst([verdict, refuses_header(peer.another(), header_payload(peer)[:2])])


@case("content.bit-properties", covers=["content-header/bit-properties"])
def octet_without_a_flag(peer: Peer) -> Verdict:
    """An octet in the property list that no flag announces, such as for a bit property, is refused."""
    # delivery-mode 1, then one octet more.
    payload = header_payload(peer, flags=(_DELIVERY_MODE,), properties=b"\x01\x01")
    return refuses_header(peer, payload)


@on_queue("content.bit-properties.sent", covers=["content-header/bit-properties"])
def list_holds_nothing_else(peer: Peer, queue: str) -> Verdict:
    """The property list of a delivery contains exactly what its flags announce."""
    peer.claim("delivery-mode and priority, and the end of the list")
    peer.publish(queue, b"body", properties={"delivery_mode": 1, "priority": 7})
    # The codec reads the list by its flags and takes octets after it for garbled
    # data, which fails the claim.
    message = fetch(peer, queue)
    seen = (message.properties.get("delivery_mode"), message.properties.get("priority"))
    return equals(peer, seen, (1, 7), "delivery-mode and priority")


# channel


borrow(
    framing_content.content_strays_to_channel_zero,
    "content.channel-zero",
    ["content-header/channel-non-zero"],
)
borrow(framing_content.content_header_on_channel_zero, "amq_wlp_content_03", ["amq_wlp_content_03"])
borrow(framing_content.content_body_on_channel_zero, "wlp.content_03.body", ["amq_wlp_content_03"])


# --- steps of this module


def _header_of(peer: Peer, body: bytes) -> bytes:
    """The payload of the content header with which a body returns."""
    queue = peer.queue()
    peer.claim("the content header of the message")
    peer.publish(queue, body)
    message: MethodArrived = fetch(peer, queue)
    owed(message.header, "a content header")
    return sent_frames(peer, "header")[-1].payload


def _behind_flags(peer: Peer, *flags: int) -> Verdict:
    """A content-type behind words of flags arrives."""
    peer.open_channel()
    queue = peer.queue()
    peer.claim(f"the content-type after {len(flags)} words of flags")
    send_content(
        peer, header_payload(peer, 4, flags=flags, properties=shortstr("text/plain")), b"body", queue=queue
    )
    return equals(peer, fetch(peer, queue).properties.get("content_type"), "text/plain", "content-type")
