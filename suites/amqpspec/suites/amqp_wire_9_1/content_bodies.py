"""Content bodies: how they may be split, how large their frames may be, what happens to the pieces."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import declare
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_messages
from amqpspec.suites.amqp_0_9_1._cases import on_queue, on_small_frames
from amqpspec.suites.amqp_0_9_1._wire import (
    fetch,
    header_payload,
    largest_payload,
    refuses_frame,
    send_content,
)
from amqpspec.suites.amqp_wire_9_1._wire import sent_frames

_EVERY_OCTET = bytes(range(256))


declare(
    globals(), framing_messages.body_in_frames_of_one_octet, "content.body.frames", ["content-body/frames"]
)


@on_small_frames("content.body.frame-size", covers=["content-body/frame-size"])
def frames_of_the_agreed_size(peer: Peer) -> Verdict:
    """Both sides can send a body in frames of the agreed size, the smallest allowed."""
    queue = peer.queue()
    body = _EVERY_OCTET * 64
    peer.claim(f"the whole body, in payloads of at most {peer.frame_max_octets} octets")
    peer.publish(queue, body, chunk=largest_payload(peer))
    whole = fetch(peer, queue).body == body
    largest = max(len(frame.payload) for frame in sent_frames(peer, "body"))
    observed = f"largest payload {largest} octets, body {'whole' if whole else 'not whole'}"
    # This chapter agrees on the size of a payload, the one on frames on that of a frame: a payload within
    # the size keeps one of them (amqp-wire-9-1 content-body/frame-size).
    return holds(peer, whole and largest <= peer.frame_max_octets, observed)


@on_small_frames("content.body.frame-size.exceeded", covers=["content-body/frame-size"], destructive=True)
def body_frame_twice_the_agreed_size(peer: Peer) -> Verdict:
    """A body frame of twice the agreed size is refused."""
    # Beyond the size in either reading.
    body = bytes(2 * peer.frame_max_octets)
    send_content(peer, header_payload(peer, len(body)), body)
    return refuses_frame(peer)


@on_queue("content.body.split", covers=["content-body/split"])
def body_in_many_frames(peer: Peer, queue: str) -> Verdict:
    """The server accepts a body in frames of very different sizes and delivers it unchanged."""
    parts = [b"a", _EVERY_OCTET, b"b" * 4000, b"", b"c", b"d" * 1023, b"e" * 7]
    body = b"".join(parts)
    peer.claim("the whole body")
    send_content(peer, header_payload(peer, len(body)), *parts, queue=queue)
    got = fetch(peer, queue).body
    return holds(peer, got == body, f"{len(got)} octets, of {len(body)} sent")


@on_queue("content.body.looks-like-frames", covers=["content-body/split"])
def body_passes_unchanged(peer: Peer, queue: str) -> Verdict:
    """A body that looks like frames and frame ends, split anywhere, arrives unchanged."""
    body = _EVERY_OCTET + peer.method_frame("channel.close") + peer.dialect.protocol_header + b"\xce" * 9
    peer.claim("the same body")
    # Pieces of nine octets put the borders of frames inside what looks like frames.
    peer.publish(queue, body, chunk=9)
    return equals(peer, fetch(peer, queue).body, body, "body")
