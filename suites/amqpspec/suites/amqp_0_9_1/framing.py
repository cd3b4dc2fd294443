"""The wire level, first part: protocol headers, frames, channel numbers (PDF §4.2.2, §4.2.3)."""

from __future__ import annotations

import struct

from amqpspec.peer.events import Garbled
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.rows import Outcome
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import (
    equals,
    holds,
    judge_reaction,
    must_refuse,
    observed_either_way,
    outlived,
    worst,
)
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_small_frames
from amqpspec.suites.amqp_0_9_1._closing import answer_is_served, answer_to
from amqpspec.suites.amqp_0_9_1._wire import (
    UNDEFINED_FRAME_TYPE,
    UNDEFINED_FRAME_TYPES,
    fetch,
    header_payload,
    largest_payload,
    question,
    refuses_frame,
    send_content,
)

# protocol header


@case("amq_wlp_header_01", covers=["amq_wlp_header_01"])
def the_header_is_accepted(peer: Peer) -> Verdict:
    """The server answers the protocol header of 0-9-1 with connection.start and version 0-9."""
    peer.claim("connection.start in answer to the protocol header")
    start = peer.greet()
    return equals(peer, (start["version_major"], start["version_minor"]), (0, 9), "version")


@case("amq_wlp_header_02", covers=["amq_wlp_header_02"])
def http_on_the_same_port(peer: Peer) -> Verdict:
    """The server answers an HTTP request in HTTP, or sends a protocol header and closes the socket."""
    peer.claim("an answer in another protocol than AMQP, or a protocol header and the socket closes")
    peer.send_octets(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    reaction = peer.reaction(0, barrier=False)
    # An answer in HTTP cannot be read as frames or as a protocol header.
    if isinstance(reaction.arrivals[0], Garbled):
        return observed_either_way(peer, "another protocol is served on the port")
    verdict = judge_reaction(peer, reaction)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    return observed_either_way(peer, "only AMQP is served", reaction)


@case("amq_wlp_header_03", covers=["amq_wlp_header_03"])
def unknown_first_octets(peer: Peer) -> Verdict:
    """The server answers octets that are not a protocol header with a protocol header and closes the socket."""
    return judge_reaction(peer, answer_to(peer, b"XMQP\x00\x00\x09\x01"))


@case("framing.header.unknown-version", covers=["amq_wlp_header_03"])
def unknown_version(peer: Peer) -> Verdict:
    """The server answers a version that no server supports with a protocol header and closes the socket."""
    # Protocol id 0 and the version 99-99-99.
    return judge_reaction(peer, answer_to(peer, b"AMQP\x00\x63\x63\x63"))


@case("framing.header.unknown-protocol-id", covers=["amq_wlp_header_03"])
def unknown_protocol_id(peer: Peer) -> Verdict:
    """The server answers an unknown protocol id (fifth octet) with a protocol header and closes the socket."""
    # The version is a good one; only the protocol id, 200, is not.
    return judge_reaction(peer, answer_to(peer, b"AMQP\xc8\x00\x09\x01"))


@case("framing.header.frame-instead", covers=["amq_wlp_header_03"])
def frame_instead_of_header(peer: Peer) -> Verdict:
    """The server answers a frame in place of the protocol header with a protocol header and closes the socket."""
    # Any frame will do: its first octets are not the word AMQP.
    frame = peer.method_frame("connection.open", 0, virtual_host=peer.login.vhost)
    return judge_reaction(peer, answer_to(peer, frame))


@case("amq_wlp_header_04", covers=["amq_wlp_header_04", "amq_wlp_header_03"])
def version_can_be_found_out(peer: Peer) -> Verdict:
    """The protocol header that answers an unsupported higher version names a version that the server supports.

    Versions from 0-10 on are served by the same header in return, and the conversation continues.
    """
    peer.claim("a protocol header that the target serves on the next connection")
    # Protocol id 0, version 0-99-99: above the whole 0-x line and below 1.0.
    peer.send_header(b"AMQP\x00\x00\x63\x63")
    return answer_is_served(peer)


# frame types


@on_channel("amq_wlp_frame_01", covers=["amq_wlp_frame_01"])
def undefined_frame_type(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a frame of an undefined type."""
    peer.send_frame(UNDEFINED_FRAME_TYPE, b"no such type")
    return refuses_frame(peer)


@case("framing.frame.types-that-are-not-defined", covers=["amq_wlp_frame_01"])
def every_kind_of_undefined_type(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after types between and above the defined ones."""
    # Each type costs its connection. All are sent first, so that the patience for their
    # endings runs in parallel.
    peers = [peer.another().open_channel() for _ in UNDEFINED_FRAME_TYPES]
    for one, kind in zip(peers, UNDEFINED_FRAME_TYPES, strict=True):
        one.send_frame(kind, b"")
    return worst([refuses_frame(one) for one in peers])


@case("framing.frame.undefined-type-in-handshake", covers=["amq_wlp_frame_01"], slow=True)
def undefined_type_before_start_ok(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a frame of an undefined type in the login."""
    peer.greet()
    peer.send_frame(UNDEFINED_FRAME_TYPE, b"no such type", 0)
    # Before connection.open no channel can carry a barrier. start-ok after it makes a server that read on show so.
    peer.start_ok()
    return rejects_violation(peer, 0, barrier=False)


# frame end


@on_channel("amq_wlp_frame_02", covers=["amq_wlp_frame_02"])
def wrong_end_octet(peer: Peer) -> Verdict:
    """The server closes the socket, without sending anything more, after a frame with a wrong end octet."""
    peer.send_octets(question(peer)[:-1] + b"\x00")
    return refuses_frame(peer)


@on_channel("framing.frame.size-too-small", covers=["amq_wlp_frame_02"])
def size_one_too_small(peer: Peer) -> Verdict:
    """The server closes the socket after a frame whose size field is one octet too small."""
    # Without header and end octet. The payload ends in a zero octet: what now stands
    # where the end is looked for is not 0xCE by chance.
    payload = question(peer)[peer.dialect.layout.header_octets : -1]
    peer.send_frame("method", payload, size=len(payload) - 1)
    return refuses_frame(peer)


@on_channel("framing.frame.size-too-large", covers=["amq_wlp_frame_02"])
def size_one_too_large(peer: Peer) -> Verdict:
    """The server closes the socket after a frame whose size field is one too large, once the next octet arrives."""
    # The true end octet becomes payload; the second frame supplies the octet in its place, its type 1.
    payload = question(peer)[peer.dialect.layout.header_octets : -1]
    peer.send_octets(peer.frame("method", payload, size=len(payload) + 1) + question(peer))
    return refuses_frame(peer)


@on_channel("framing.frame.end-before-decoding", covers=["amq_wlp_frame_02"])
def end_octet_is_checked_first(peer: Peer) -> Verdict:
    """The server does not execute a method in a frame with a wrong end octet."""
    # A shared queue: an exclusive one would go with the connection, and prove nothing.
    name = peer.will_clean("queue", peer.name("q"))
    peer.claim("no queue from a frame that is broken")
    peer.send_octets(peer.method_frame("queue.declare", queue=name)[:-1] + b"\x00")
    must_refuse(peer, peer.reaction(within_s=peer.context.patience.ending_s))
    # The broken frame has cost the first connection its life, so a second one asks.
    other = peer.another().open_channel()
    other.send("queue.declare", queue=name, passive=True)
    arrival = other.arrival("queue.declare-ok")
    refused = isinstance(arrival, MethodArrived) and arrival.name == "channel.close"
    return holds(peer, refused, arrival)


# frame size


@on_small_frames("amq_wlp_frame_03", covers=["amq_wlp_frame_03"], destructive=True)
def oversized_frame(peer: Peer) -> Verdict:
    """A frame one octet larger than the agreed size is refused."""
    body = bytes(largest_payload(peer) + 1)
    # To no one: a server that takes the frame keeps nothing of it.
    send_content(peer, header_payload(peer, len(body)), body)
    return outlived(peer, refuses_frame(peer))


@on_small_frames("framing.frame.oversized-method", covers=["amq_wlp_frame_03"], destructive=True)
def oversized_method_frame(peer: Peer) -> Verdict:
    """A method frame larger than the agreed size is refused."""
    filler = {"filler": bytes(peer.frame_max_octets)}
    # Passive: a server that takes the frame makes nothing.
    peer.send("queue.declare", queue=peer.name("q"), passive=True, arguments=filler)
    return outlived(peer, refuses_frame(peer))


@on_small_frames("framing.frame.four-gibibytes", covers=["amq_wlp_frame_03"], destructive=True)
def four_gibibytes_announced(peer: Peer) -> Verdict:
    """A frame that announces 4 GiB is refused as soon as it exceeds the agreed size, before it is complete."""
    kind = peer.dialect.layout.types["method"]
    # Type, channel and size by hand, then as many octets as a whole frame may have. No barrier: it
    # would be read as the payload.
    peer.send_octets(struct.pack(">BHI", kind, 1, 0xFFFFFFFF) + bytes(peer.frame_max_octets))
    return outlived(peer, rejects_violation(peer, barrier=False))


@on_small_frames(
    "framing.frame.largest", covers=["amq_wlp_frame_03", "connection/tune/frame-max/whole-frame"]
)
def largest_frame(peer: Peer) -> Verdict:
    """The server accepts a frame of exactly the agreed size, including header and end octet."""
    queue = peer.queue()
    body = bytes(largest_payload(peer))
    peer.claim("a frame of the agreed size is accepted")
    peer.publish(queue, body, chunk=len(body))
    return equals(peer, len(fetch(peer, queue).body), len(body), "octets of the body")


# channel numbers


@on_channel("framing.channel.connection-method", covers=["wire/frame/channel-zero-for-connection"])
def connection_method_off_channel_zero(peer: Peer) -> Verdict:
    """A method of class connection on channel 1 is refused by a method on channel 0."""
    # tune-ok, as it has no reply and changes nothing that a barrier needs: a server that
    # takes it answers the barrier.
    peer.send("connection.tune-ok", channel=1, channel_max=1, frame_max=4096, heartbeat=0)
    reaction = peer.reaction()
    closing = reaction.closing
    if isinstance(closing, MethodArrived) and closing.name == "connection.close" and closing.channel:
        return holds(peer, False, reaction, "connection.close on channel 0")
    return judge_reaction(peer, reaction)


@on_channel("framing.channel.connection-close-elsewhere", covers=["wire/frame/channel-zero-for-connection"])
def connection_close_off_channel_zero(peer: Peer) -> Verdict:
    """connection.close on channel 1 is refused and does not close the connection normally."""
    peer.send("connection.close", channel=1, reply_code=200, reply_text="done")
    return rejects_violation(peer)


@on_channel("framing.channel.method-on-zero", covers=["wire/frame/channel-class-on-zero"])
def other_method_on_channel_zero(peer: Peer) -> Verdict:
    """A method of a class other than connection on channel 0 is refused."""
    peer.send("basic.qos", channel=0, prefetch_count=1)
    return rejects_violation(peer)


@on_channel("framing.channel.open-on-zero", covers=["wire/frame/channel-class-on-zero"])
def channel_zero_is_not_to_be_opened(peer: Peer) -> Verdict:
    """channel.open on channel 0 is refused."""
    peer.send("channel.open", channel=0)
    return rejects_violation(peer)


@on_channel("framing.channel.unopened-header", covers=["wire/frame/content-channel-open"])
def content_header_on_unopened_channel(peer: Peer) -> Verdict:
    """A content header on a channel that was never opened is refused."""
    peer.send_frame("header", header_payload(peer), 2)
    # The barrier travels on channel 1, which is open; on channel 2 it would be a violation itself.
    return rejects_violation(peer)


@on_channel("framing.channel.unopened-body", covers=["wire/frame/content-channel-open"])
def content_body_on_unopened_channel(peer: Peer) -> Verdict:
    """A content body on a channel that was never opened is refused."""
    peer.send_frame("body", b"body", 2)
    return rejects_violation(peer)


# frames of the server


@case("framing.frame.end-octet-sent", covers=["wire/frame/end-octet-sent"])
def server_ends_its_frames(peer: Peer) -> Verdict:
    """Every frame that the server sends ends in the frame-end octet, including content frames."""
    # The reader takes another end octet for garbled data, which fails the claim. Method, header
    # and body frames all pass it.
    peer.claim("frames that end in the frame end")
    peer.open_channel()
    queue = peer.queue()
    peer.publish(queue, b"a body")
    body = fetch(peer, queue).body
    peer.barrier()
    return equals(peer, body, b"a body", "body in a frame of its own")


@on_small_frames("framing.frame.size-sent", covers=["wire/frame/size-sent"])
def server_keeps_to_the_agreed_size(peer: Peer) -> Verdict:
    """The server sends no frame larger than the agreed size, however large the content."""
    queue = peer.queue()
    peer.claim(f"frames of at most {peer.frame_max_octets} octets")
    body = bytes(5 * peer.frame_max_octets)
    peer.publish(queue, body)
    peer.consume(queue, no_ack=True)
    whole = peer.delivery().body == body
    # Counted from tune-ok on: the frames of the handshake are under no agreement.
    largest = peer.assembler.largest_frame_octets
    kept = whole and largest <= peer.frame_max_octets
    return holds(peer, kept, f"largest frame {largest} octets, body {'whole' if whole else 'not whole'}")
