"""Frames: header, types, channel numbers, size, end octet (general frame format, and the grammar's rows on frames)."""

from __future__ import annotations

import struct
from functools import partial

from amqpspec.peer.context import OutOfReach
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, must_refuse, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_small_frames
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    header_payload,
    method_payload,
    question,
    refuses_frame,
    send_content,
    sent_method,
)
from amqpspec.suites.amqp_wire_9_1._wire import UNDEFINED_FRAME_TYPE, UNDEFINED_FRAME_TYPES, hand_frame

borrow = partial(declare, globals())

_METHOD, _HEADER, _BODY, _TRACE, _HEARTBEAT = 1, 2, 3, 7, 8
# Signed and unsigned edges, and the octet that ends frames.
_CYCLES = (1, 0x7F, 0x80, 0xCE, 0xFF)
# Two octets that differ: a swap or a lost octet gives another channel.
_HIGH_CHANNEL = 0x0102

# the grammar's frames


@on_channel(
    "frame.method-frame",
    covers=["grammar/method-frame", "general-frame-format/header"],
    needs=["cycle-header"],
)
def method_frame_by_hand(peer: Peer) -> Verdict:
    """The server reads a method frame (type, cycle, channel, size, payload, 0xCE) and answers in the same format."""
    payload = method_payload(peer, "channel.flow", b"\x01")
    peer.claim("flow-ok in a frame of eight octets of header, payload and end octet")
    peer.send_octets(struct.pack(">BBHI", _METHOD, 0, 1, len(payload)) + payload + b"\xce")
    peer.expect("channel.flow-ok")
    frame = sent_method(peer, "channel.flow-ok")
    seen = (frame.type, frame.channel, frame.payload.hex())
    # Class 20, method 21 (flow-ok), one octet of bits.
    return equals(peer, seen, (_METHOD, 1, "0014001501"), "type, channel and payload")


@on_queue("frame.content-frames", covers=["grammar/content-frame-types"])
def content_frames_by_hand(peer: Peer, queue: str) -> Verdict:
    """The server accepts and sends content headers in frames of type 2 and bodies in frames of type 3."""
    peer.claim("the content, in frames of types 2 and 3, in either direction")
    begin_publish(peer, queue)
    peer.send_octets(hand_frame(peer, _HEADER, header_payload(peer, 4)))
    peer.send_octets(hand_frame(peer, _BODY, b"body"))
    body = fetch(peer, queue).body
    # Frames of channel 0 may come between, and methods may follow.
    frames = [frame for frame in peer.assembler.frames if frame.channel == 1]
    at = frames.index(sent_method(peer, "basic.get-ok"))
    kinds = [frame.type for frame in frames[at : at + 3]]
    return equals(peer, (body, kinds), (b"body", [_METHOD, _HEADER, _BODY]), "body and types of frames")


# the header of a frame


@on_channel("frame.cycle", covers=["general-frame-format/header"], needs=["cycle-header"])
def cycle_may_be_anything(peer: Peer) -> Verdict:
    """The server accepts frames with any value in the cycle octet."""
    peer.claim("an answer to a method in a frame of any cycle")
    payload = method_payload(peer, "channel.flow", b"\x01")
    for cycle in _CYCLES:
        peer.send_frame("method", payload, cycle=cycle)
        peer.expect("channel.flow-ok")
    return holds(peer, True, f"answers to cycles {', '.join(map(str, _CYCLES))}")


@on_queue("frame.types", covers=["general-frame-format/types"])
def defined_types_are_known(peer: Peer, queue: str) -> Verdict:
    """The server accepts methods, headers, bodies, traces and heartbeats under their type numbers."""
    peer.claim("a message published next to a trace and a heartbeat, every frame with its type number")
    # Out-of-band frames, types 4 to 6, carry methods of their own and are left out.
    peer.send_octets(hand_frame(peer, _TRACE, b"trace", 0) + hand_frame(peer, _HEARTBEAT, b"", 0))
    begin_publish(peer, queue)
    peer.send_octets(hand_frame(peer, _HEADER, header_payload(peer, 4)) + hand_frame(peer, _BODY, b"body"))
    return equals(peer, fetch(peer, queue).body, b"body", "body")


@case("frame.types-sent", covers=["general-frame-format/types"])
def types_that_are_sent(peer: Peer) -> Verdict:
    """Every frame that the server sends is of a type from 1 to 8."""
    peer.claim("frames of types 1 to 8")
    peer.open_channel(heartbeat=1)
    queue = peer.queue()
    peer.publish(queue, b"body")
    fetch(peer, queue)
    kinds = sorted({frame.type for frame in peer.assembler.frames})
    return holds(peer, all(1 <= kind <= 8 for kind in kinds), f"types {kinds}")


@case("frame.channel-numbers", covers=["general-frame-format/channel-numbers"])
def high_channel_number(peer: Peer) -> Verdict:
    """A channel number whose two octets differ identifies one channel, in both directions."""
    peer.open_connection()
    if 0 < peer.channel_max < _HIGH_CHANNEL:
        raise OutOfReach(f"channel-max {peer.channel_max} is offered, the case needs {_HIGH_CHANNEL}")
    peer.claim(f"answers on channel {_HIGH_CHANNEL}")
    peer.call("channel.open", channel=_HIGH_CHANNEL)
    peer.queue(channel=_HIGH_CHANNEL)
    channels = {frame.channel for frame in peer.assembler.frames}
    return equals(peer, sorted(channels), [0, _HIGH_CHANNEL], "channels of the server's frames")


@on_channel("frame.channel-numbers.connection-elsewhere", covers=["general-frame-format/channel-numbers"])
def connection_method_off_channel_zero(peer: Peer) -> Verdict:
    """A method of class connection on channel 1 is refused."""
    # tune-ok has no reply and changes nothing that a barrier needs: a server that
    # takes it answers the barrier.
    peer.send("connection.tune-ok", channel=1, channel_max=1, frame_max=4096, heartbeat=0)
    return rejects_violation(peer)


borrow(
    framing.connection_close_off_channel_zero,
    "frame.channel-numbers.close-elsewhere",
    ["general-frame-format/channel-numbers"],
)
borrow(framing.other_method_on_channel_zero, "frame.channel-zero", ["grammar/channel-non-zero"])
borrow(framing.channel_zero_is_not_to_be_opened, "frame.channel-zero.open", ["grammar/channel-non-zero"])


# the size


@on_channel("frame.size", covers=["general-frame-format/size"])
def size_counts_the_payload(peer: Peer) -> Verdict:
    """Frames whose size is that of their payload follow each other without gaps, however they are split."""
    payload = method_payload(peer, "channel.flow", b"\x01")
    octets = 3 * hand_frame(peer, _METHOD, payload)
    peer.claim("three answers to three consecutive frames")
    # Writes of five octets never end where a frame does.
    for at in range(0, len(octets), 5):
        peer.send_octets(octets[at : at + 5])
    for _ in range(3):
        peer.expect("channel.flow-ok")
    peer.barrier()
    return holds(peer, True, "three answers")


@on_channel("frame.size.counts-end-octet", covers=["general-frame-format/size"])
def size_that_counts_the_end_octet(peer: Peer) -> Verdict:
    """A size that includes the end octet makes the server close the socket."""
    payload = method_payload(peer, "channel.flow", b"\x01")
    peer.send_octets(peer.frame("method", payload, size=len(payload) + 1) + question(peer))
    return refuses_frame(peer)


# types


borrow(framing.undefined_frame_type, "amq_wlp_frame_01", ["amq_wlp_frame_01"])


@case("wlp.frame_01.every-kind", covers=["amq_wlp_frame_01"])
def every_kind_of_undefined_type(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after types between and above the defined ones."""
    # Each type costs its connection. All are sent first, so that the patience for their
    # endings runs in parallel.
    peers = [peer.another().open_channel() for _ in UNDEFINED_FRAME_TYPES]
    for one, kind in zip(peers, UNDEFINED_FRAME_TYPES, strict=True):
        one.send_frame(kind, b"")
    return worst([refuses_frame(one) for one in peers])


@on_channel("wlp.frame_01.answers-nothing-more", covers=["amq_wlp_frame_01"])
def nothing_is_answered_afterwards(peer: Peer) -> Verdict:
    """The server does not answer a method that follows a frame of an undefined type in the same write."""
    peer.send_octets(peer.frame(UNDEFINED_FRAME_TYPE, b"no such type") + question(peer))
    # The question in the same write is the barrier: a server that continues reading answers it.
    return rejects_violation(peer, barrier=False)


@case("wlp.frame_01.in-handshake", covers=["amq_wlp_frame_01"], slow=True)
def undefined_type_before_start_ok(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a frame of an undefined type in the login."""
    peer.greet()
    peer.send_frame(UNDEFINED_FRAME_TYPE, b"no such type", 0)
    return rejects_violation(peer, 0, barrier=False)


# the end octet


@on_channel("frame.end.checked-first", covers=["general-frame-format/end-checked-first"])
def end_octet_is_checked_first(peer: Peer) -> Verdict:
    """The server does not execute a method in a frame with a wrong end octet."""
    # A shared queue: an exclusive one would go with the connection, and prove nothing.
    name = peer.will_clean("queue", peer.name("q"))
    peer.claim("no queue from an invalid frame")
    peer.send_octets(peer.method_frame("queue.declare", queue=name)[:-1] + b"\x00")
    must_refuse(peer, peer.reaction(within_s=peer.context.patience.ending_s))
    other = peer.another().open_channel()
    other.send("queue.declare", queue=name, passive=True)
    arrival = other.arrival("queue.declare-ok")
    refused = isinstance(arrival, MethodArrived) and arrival.name == "channel.close"
    return holds(peer, refused, arrival)


@on_channel("frame.end.undecodable-payload", covers=["general-frame-format/end-checked-first"])
def end_octet_goes_before_the_payload(peer: Peer) -> Verdict:
    """If both the end octet and the payload are wrong, the server closes the socket without a close method."""
    # A payload of one octet is 501 to a server that decodes it, the end octet ends the socket: the result shows
    # which was checked first.
    peer.send_frame("method", b"\x00", end=0)
    return refuses_frame(peer)


@on_channel("amq_wlp_frame_02", covers=["amq_wlp_frame_02"])
def wrong_end_octet(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a frame that does not end in 0xCE."""
    peer.send_octets(question(peer)[:-1] + b"\xcf")
    return refuses_frame(peer)


@on_channel("wlp.frame_02.zero-end", covers=["amq_wlp_frame_02"])
def zero_as_end_octet(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a heartbeat that ends in a zero octet."""
    peer.send_frame("heartbeat", b"", 0, end=0)
    return refuses_frame(peer)


borrow(
    framing.size_one_too_small,
    "wlp.frame_02.size-too-small",
    ["amq_wlp_frame_02", "general-frame-format/size"],
)
borrow(
    framing.size_one_too_large,
    "wlp.frame_02.size-too-large",
    ["amq_wlp_frame_02", "general-frame-format/size"],
)


@case("wlp.frame_02.in-handshake", covers=["amq_wlp_frame_02"], slow=True)
def wrong_end_octet_of_start_ok(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a start-ok with a wrong end octet."""
    peer.greet()
    octets = peer.method_frame(
        "connection.start-ok",
        0,
        mechanism=peer.login.mechanism,
        response=peer.credentials(peer.login.mechanism),
        locale="en_US",
    )
    peer.send_octets(octets[:-1] + b"\x00")
    return rejects_violation(peer, 0, barrier=False)


# the agreed size


@on_small_frames("frame.size-sent", covers=["general-frame-format/size-sent"])
def server_keeps_to_the_agreed_size(peer: Peer) -> Verdict:
    """The server sends no frame larger than the agreed size, however large the content."""
    queue = peer.queue()
    peer.claim(f"payloads of at most {peer.frame_max_octets} octets")
    body = bytes(5 * peer.frame_max_octets)
    peer.publish(queue, body)
    whole = fetch(peer, queue).body == body
    largest = max(len(frame.payload) for frame in peer.assembler.frames)
    kept = whole and largest <= peer.frame_max_octets
    # The draft agrees on a frame here and on a payload elsewhere: a payload within the size keeps one of
    # them (amqp-wire-9-1 general-frame-format/size-sent).
    return holds(peer, kept, f"largest payload {largest} octets, body {'whole' if whole else 'not whole'}")


@on_small_frames("amq_wlp_frame_03", covers=["amq_wlp_frame_03"], destructive=True)
def oversized_frame(peer: Peer) -> Verdict:
    """A frame whose payload alone exceeds the agreed size is refused."""
    # The payload alone is beyond the size: too large in either reading.
    body = bytes(peer.frame_max_octets + 1)
    send_content(peer, header_payload(peer, len(body)), body)
    return outlived(peer, refuses_frame(peer))


borrow(framing.oversized_method_frame, "wlp.frame_03.method", ["amq_wlp_frame_03"], destructive=True)


@on_small_frames("wlp.frame_03.four-gibibytes", covers=["amq_wlp_frame_03"], destructive=True)
def four_gibibytes_announced(peer: Peer) -> Verdict:
    """A frame that announces 4 GiB is refused as soon as it exceeds the agreed size, before it is complete."""
    body = bytes(2 * peer.frame_max_octets)
    send_content(peer, header_payload(peer, len(body)))
    # Without its end octet, and without a barrier: both would be read as payload.
    peer.send_octets(peer.frame("body", body, size=0xFFFFFFFF)[:-1])
    return outlived(peer, rejects_violation(peer, barrier=False))


borrow(framing.largest_frame, "wlp.frame_03.largest", ["amq_wlp_frame_03"])
