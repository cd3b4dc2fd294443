"""Frames: sizes in both forms, code, fields; skipping; channels that share a connection."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Passed, Quiet
from amqpspec.run.amqp_fast_0_8.oracles import allows, borne, judge_reaction, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX, on_handle, on_queue, topic, with_frame_max
from amqpspec.wire.amqp_fast_0_8.frames import encode_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_ESCAPE = 0xFFFF
_PING = 14
_QUERY_OCTETS = 11
"""A QUERY with nothing in it: handle, number, and three empty strings, of which one is long, after its code."""


def _query(peer: Peer, name: str, size: int, escaped: bool | None = None) -> None:
    """A QUERY whose frame has exactly this size, by its selector."""
    selector = b"s" * (size - _QUERY_OCTETS - 2 - len(name))
    extra = {} if escaped is None else {"escaped": escaped}
    peer.send("handle.query", dest_name=name, selector=selector, **extra)


@case("frames.size", covers=["frames/size-first", "frames/command-octet", "syntax/notes/byte-order"])
def size_counts_what_follows(peer: Peer) -> Verdict:
    """A frame is its size in network byte order, followed by that number of octets, which begin with the code."""
    peer.claim("a PING, spelt out by hand, is answered by one of the same layout")
    peer.open_connection()
    # PING has one octet of bits; size 3 counts code, bits and end octet.
    peer.send_octets(bytes.fromhex("0003 0e 01 ce"))
    peer.pinged()
    frame = peer.listener.frames[-1]
    size = peer.listener.reader.offset - frame.offset
    return equals(peer, (size, frame.code, frame.fields), (5, _PING, b"\0"), "octets, code and fields")


@case("frames.size-in-pieces", covers=["frames/size-first"])
def a_frame_in_pieces(peer: Peer) -> Verdict:
    """The target reads a frame that arrives octet by octet."""
    peer.open_channel()
    octets = peer.octets("handle.open", handle_id=7, producer=True, confirm_tag=0x0102)
    peer.claim("HANDLE OPEN is confirmed")
    for at in range(len(octets)):
        peer.send_octets(octets[at : at + 1])
    return equals(peer, peer.confirmation(0x0102, 7).get("handle_id"), 7, "handle")


@case("frames.size-zero", covers=["frames/size-first"])
def size_zero(peer: Peer) -> Verdict:
    """A size too small for a code is refused."""
    peer.open_connection()
    peer.send_octets(b"\0\0")
    return rejects_violation(peer, barrier="ping")


@on_handle("frames.size-forms", covers=["frames/size-forms", "frames/escape"])
def sizes_around_the_escape(peer: Peer) -> Verdict:
    """The target reads frames of 65534, 65535 and 65536 octets, with the size in the form that each needs."""
    with_frame_max(peer, _ESCAPE + 1)
    name = peer.queue()
    peer.store(name, b"one")
    peer.claim("INDEX for each QUERY of any size")
    for size in (_ESCAPE - 1, _ESCAPE, _ESCAPE + 1):
        _query(peer, name, size)
        peer.expect("handle.index", handle=1)
    peer.barrier()
    return allows(peer)


@case("frames.escape.small", covers=["frames/size-forms", "frames/escape"])
def an_escaped_size_that_two_octets_could_hold(peer: Peer) -> Verdict:
    """A small size in its long form is read or refused as a broken frame, but never read as FFFF."""
    peer.open_connection()
    peer.claim("a PING whose size is escaped is answered, or refused with 501")
    peer.send_octets(encode_frame(_PING, b"\1", escaped=True))
    reaction = peer.reaction(barrier="ping")
    if reaction.refusal is None and not peer.stashed(lambda a: a.kind == "connection.ping"):
        return holds(peer, False, reaction)
    return borne(peer, reaction)


@case("frames.escape.too-large", covers=["frames/size-forms", "frames/escape"])
def an_escaped_size_beyond_every_limit(peer: Peer) -> Verdict:
    """A frame of four gigabytes is refused before it is complete, and other connections are still served."""
    other = peer.another().open_connection()
    peer.open_connection()
    peer.claim("501, and another connection is answered")
    peer.send_octets(encode_frame(_PING, b"\1", size=0xFFFF_FFFE, escaped=True))
    verdict = rejects_violation(peer, barrier=None)
    other.ping()
    return verdict


@case("frames.fixed-fields.short", covers=["frames/fixed-fields", "security/closing"])
def fields_that_end_too_early(peer: Peer) -> Verdict:
    """A command whose last field is truncated is refused, or it is skipped and has no effect."""
    peer.open_channel()
    whole = peer.octets("handle.open", handle_id=3, options={"A": 1})
    peer.send_frame(30, whole[3:-1][:-3])
    reaction = peer.reaction(handle=3)
    if reaction.refusal is not None or isinstance(reaction.arrivals[-1], Quiet):
        return judge_reaction(peer, reaction)
    # A frame that cannot be processed may be skipped (frames): then the handle is still free.
    peer.claim("a refusal, or a handle that is still free")
    peer.open_handle(3)
    return observed_either_way(peer, "skipped", reaction)


@case("frames.fixed-fields.long", covers=["frames/fixed-fields"])
def fields_that_go_on_too_long(peer: Peer) -> Verdict:
    """A command with octets after its last field is refused, skipped, or executed without them."""
    peer.open_channel()
    peer.send("channel.ack", message_nbr=0, extra=b"\0")
    return borne(peer, peer.reaction())


@case("frames.skipping", covers=["frames/skipping"])
def a_frame_that_cannot_be_processed(peer: Peer) -> Verdict:
    """After a frame that it cannot process, the target skips its size to the next frame, or closes the level."""
    peer.open_channel()
    peer.claim("a refusal, or the next command is served")
    peer.send_frame(0x63, b"\xce" * 7)
    reaction = peer.reaction(barrier="ping")
    refused = reaction.refusal and "refused"
    if not refused and not isinstance(reaction.arrivals[-1], Passed):
        return holds(peer, False, reaction)
    return observed_either_way(peer, refused or "skipped", reaction)


@case("channels.pipelining", covers=["channels/pipelining", "errors/no-waiting", "ids/at-once"])
def commands_in_one_write(peer: Peer) -> Verdict:
    """Two channels, a handle on each, and a message to a topic can be sent in one write."""
    name = topic(peer)
    peer.open_connection()
    peer.claim("the message, without any answer waited for")
    octets = [peer.octets("channel.open", channel_id=n) for n in (1, 2)]
    octets += [
        peer.octets("handle.open", channel_id=n, handle_id=n, producer=True, consumer=True) for n in (1, 2)
    ]
    octets += [peer.octets("handle.consume", handle_id=2, service_type=2, prefetch=9, dest_name=name)]
    octets += peer.fragments(name, encode_message(b"first"), 2, service_type=2)
    peer.send_octets(b"".join(octets))
    message = peer.delivery(2)
    return equals(peer, (message.body, message.dest_name), (b"first", name), "body and destination")


@case("channels.pipelined-login", covers=["errors/no-waiting", "connection/tune/exchange"])
def tune_open_and_channel_in_one_write(peer: Peer) -> Verdict:
    """After the target's TUNE, the client can send two TUNEs, OPEN and CHANNEL OPEN without waiting for an answer."""
    peer.log_in()
    peer.claim("CHANNEL OPEN is confirmed")
    tunes = [peer.octets("connection.tune", options={"FRAME_MAX": LEAST_FRAME_MAX})] * 2
    fields = {"virtual_path": peer.login.vhost, "client_name": peer.client_name}
    opened = peer.octets("channel.open", channel_id=3, confirm_tag=0x0203)
    peer.send_octets(b"".join((*tunes, peer.octets("connection.open", **fields), opened)))
    return equals(peer, peer.confirmation(0x0203, channel=3)["channel_id"], 3, "channel")


def _notified_channels(peer: Peer, large: int, small: int) -> list[int]:
    """The handles whose NOTIFYs came, in the order of the wire."""
    peer.delivery(small)
    peer.delivery(large)
    found = [f.args["handle_id"] for f in peer.listener.frames if f.name == "handle.notify"]
    return [handle for handle in found if handle in (large, small)]


@case("channels.fair-sharing", covers=["channels/fair-sharing", "channels/no-starvation"])
def a_large_message_leaves_room_for_others(peer: Peer) -> Verdict:
    """A small message on one channel overtakes the rest of a message with many fragments on another."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel(1)
    peer.open_channel(2)
    name = topic(peer)
    small_name = topic(peer)
    peer.open_handle(9)
    peer.reader(name, 1, 1, service_type=2)
    peer.reader(small_name, 2, 2, service_type=2)
    peer.barrier(1)
    peer.claim("the small message before the last fragment of the large one")
    large = peer.fragments(name, encode_message(b"l" * 60_000), 9, service_type=2)
    small = peer.fragments(small_name, encode_message(b"s"), 9, service_type=2)
    peer.send_octets(b"".join(large + small))
    order = _notified_channels(peer, 1, 2)
    return holds(
        peer, order[-1] == 1, f"{order.index(2)} fragments before the small message, {len(order)} in all"
    )


@on_queue("channels.serial", covers=["channels/serial", "messages/fragments/large"])
def messages_of_one_channel_keep_their_order(peer: Peer, name: str) -> Verdict:
    """Messages sent on one channel, single or in fragments, arrive in order."""
    peer.open_handle(2)
    peer.consume(name, 2)
    bodies = [b"%d" % n * (500 if n % 2 else 1) for n in range(6)]
    peer.claim("the bodies unchanged, in order")
    for body in bodies:
        peer.publish(name, body, chunk=100)
    return equals(peer, peer.bodies(6, 2), bodies, "bodies")


@case("channels.independent", covers=["channels/independent"])
def an_error_on_one_channel(peer: Peer) -> Verdict:
    """A destination error on one channel does not affect another channel and its handle."""
    peer.open_handle(1, 1)
    peer.open_channel(2)
    peer.open_handle(2, 2)
    name = peer.queue(2)
    peer.publish(peer.name("nowhere"), b"lost", 1)
    verdict = rejects_violation(peer, 1, 1)
    peer.claim("the other channel continues to work")
    try:
        peer.store(name, b"works", 2)
        worked = peer.left_in(name, 2) == [b"works"]
    except Unmet as unmet:
        return holds(peer, False, str(unmet), seen=unmet.seen)
    return worst([verdict, holds(peer, worked, "the message on the other channel")])


@case("services.queue", covers=["services/queue"])
def a_queue_shares_its_messages_out(peer: Peer) -> Verdict:
    """Each message of a queue is delivered to only one of its two readers."""
    peer.open_handle(9)
    name = peer.queue()
    peer.reader(name, 1)
    peer.reader(name, 2)
    peer.claim("each message once, for any reader")
    bodies = [b"%d" % n for n in range(8)]
    peer.publish_all(name, bodies, 9)
    peer.barrier()
    found = sorted(m.body for handle in (1, 2) for m in peer.received(handle))
    return equals(peer, found, bodies, "bodies")


@case("services.topic", covers=["services/topic"])
def a_topic_serves_all_its_subscribers(peer: Peer) -> Verdict:
    """Each of three subscribers on two connections receives each message, unlike a subscriber of another topic."""
    other = peer.another().open_channel()
    name, another = topic(peer), topic(peer)
    for line, handle, read in ((peer, 1, name), (peer, 2, name), (other, 1, name), (other, 2, another)):
        line.reader(read, handle, service_type=2)
    peer.open_handle(9)
    peer.claim("both messages for each subscriber")
    peer.publish_all(name, [b"a", b"b"], 9, service=2)
    peer.publish_all(another, [b"end"], 9, service=2)
    got = [peer.bodies(2, 1), peer.bodies(2, 2), other.bodies(2, 1), other.bodies(1, 2)]
    return equals(peer, got, [[b"a", b"b"]] * 3 + [[b"end"]], "bodies")
