"""Framing (amqp-1.0 §2.3): size and data offset first, then type, channel, extended header, body, empty frames."""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.peer.amqp_1_0.books import TERMINAL, FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import rejects_violation, without_effect
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, verdict_on, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import on_connection
from amqpspec.suites.amqp_1_0._connections import (
    UNKNOWN_PERFORMATIVE,
    about,
    frames_of,
    kept_alive,
    own_idle_s,
    paced,
    plain_frame,
    until_failure,
)
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from amqpspec.wire.amqp_1_0.values import Array, Symbol

_SASL_FRAME = 1
_PARTNERS_IDLE_MS = 1000
_BEYOND_LIMITS = "amqp:resource-limit-exceeded"
# Constructors: 00 a descriptor follows, 53 smallulong, 45 empty list, c0 list, c1 map, a1 string, a0
# binary. 0x11 is begin, 0x75 a data section.
_BODIES = {
    "an unknown descriptor": UNKNOWN_PERFORMATIVE,
    "a bare list": bytes.fromhex("c0 02 01 40"),
    "a map": bytes.fromhex("c1 01 00"),
    "a string": b"\xa1\x05begin",
    "a described map": bytes.fromhex("00 53 11 c1 01 00"),
    "a section of a message": bytes.fromhex("00 53 75 a0 01 78"),
}
_NOTES = {Symbol("x-opt-amqpspec"): "note"}
_ANNOTATED = {
    "delivery annotations first": encode_message(delivery_annotations=_NOTES, data=b"body"),
    "delivery annotations after a header": encode_message(
        header={"priority": 5}, delivery_annotations=_NOTES, data=b"body"
    ),
}
_COMPOUNDS = {
    "a map": encode_message(value={"one": 1, "two": [None, None]}),
    "an empty list": encode_message(value=[]),
    "a list of one": encode_message(value=["one"]),
    "a list of two": encode_message(value=[None, None]),
    "a list of many": encode_message(value=["one", 2, None, True, [b"3"], {"four": 4}]),
}
_EMPTY_ELEMENTS = {
    "empty lists": encode_message(value=Array("list0", [[], []])),
    "nulls": encode_message(value=Array("null", [None, None])),
    "trues": encode_message(value=Array("true", [True, True])),
    "falses": encode_message(value=Array("false", [False, False])),
    "zeros": encode_message(value=Array("uint0", [0, 0])),
}


@case("framing.size.below-header", covers=["framing/size/below-header"])
def frames_shorter_than_their_header(peer: Peer) -> Verdict:
    """The target rejects a frame with a size below 8: the frame would end inside its own header."""
    # 0 and 4 do not reach beyond the size itself, 7 misses the last octet of the header.
    return until_failure(about(_malformed(peer.another(), size=size), f"size {size}") for size in (0, 4, 7))


@case("framing.doff.below-header", covers=["framing/doff/below-header"])
def offsets_into_the_header(peer: Peer) -> Verdict:
    """The target rejects a data offset below 2: the body would begin inside the header."""
    body = plain_frame(peer, "begin")[8:]
    return until_failure(
        about(_malformed(peer.another(), body, doff=doff), f"offset {doff}") for doff in (0, 1)
    )


@case("framing.doff.beyond-size", covers=["framing/doff/beyond-size"])
def offsets_behind_the_frame(peer: Peer) -> Verdict:
    """The target rejects a data offset beyond the end of the frame: it leaves no room for a body."""
    # After the frame by one word, with a body and without one; then as far as an octet can say.
    frames = ((bytes(4), 4), (b"", 3), (plain_frame(peer, "begin")[8:], 255))
    return until_failure(
        about(_malformed(peer.another(), body, doff=doff), f"offset {doff}") for body, doff in frames
    )


@on_connection("framing.size", covers=["framing/size"])
def next_frame_stands_behind(peer: Peer) -> Verdict:
    """The size of a frame counts all of its header: the next frame begins at its end, in both directions."""
    peer.room_for_channel(1)
    peer.claim("two begins in one write are both answered, in frames that can be read")
    # An extended header of two words: a target that does not count it looks for the second
    # begin eight octets too early.
    first = peer.frame("begin", 0, extended=bytes(8))
    peer.send_octets(first + peer.frame("begin", 1))
    for channel in (0, 1):
        peer.expect("begin", channel=channel)
    peer.barrier(0)
    return holds(peer, True, "both answered")


@case("framing.doff", covers=["framing/doff"])
def bodies_behind_an_offset(peer: Peer) -> Verdict:
    """The target finds the body at the data offset."""
    peer.claim("a begin with a data offset of 3, 4 and 63 words is answered")
    # One word of extended header, two, and 61; each begin has a separate connection.
    for doff in (3, 4, 63):
        other = peer.another()
        other.open_connection()
        other.call("begin", 0, extended=bytes(4 * (doff - 2)))
        other.close()
    return holds(peer, True, "all answered")


@case("framing.type", covers=["framing/type"])
def frames_of_other_types(peer: Peer) -> Verdict:
    """The target rejects or ignores frames of unknown types and SASL frames after the login."""
    verdicts = [_begin_of_type(peer.another(), kind) for kind in (2, 255)]
    return worst((*verdicts, _late_login(peer.another())))


@on_connection("framing.type.own", covers=["framing/type"])
def types_of_the_target(peer: Peer) -> Verdict:
    """The target sends AMQP frames once the login is complete."""
    peer.claim("begin and attach in frames of type 0")
    peer.begin()
    peer.barrier()
    types = {frame.frame_type for frame in frames_of(peer)}
    return equals(peer, types, {0}, "frame types")


@on_connection("framing.channel", covers=["framing/channel"])
def channel_of_two_octets(peer: Peer) -> Verdict:
    """The channel number is the last two octets of the frame header in network byte order."""
    # 0x0102: both octets count, and swapped they are another channel.
    channel = min(258, peer.channel_max)
    peer.room_for_channel(max(channel, 1))
    peer.claim("a begin that names the channel")
    begun = peer.call("begin", channel)
    return equals(peer, begun["remote_channel"], channel, "remote-channel")


@case("framing.extended-header", covers=["framing/extended-header"])
def extended_headers_are_ignored(peer: Peer) -> Verdict:
    """The target ignores the contents of an extended header."""
    address = peer.node()
    close = plain_frame(peer, "close")[8:]
    # It looks like a whole close, filled up to words of four octets.
    decoy = close + bytes(-len(close) % 4)
    peer.begin()
    peer.claim("attach and transfer as without an extended header")
    link = peer.sender(address, extended=decoy)
    sent = peer.outcome(peer.transfer(link, b"body", extended=bytes.fromhex("fffefdfc 8b1f9c00")))
    if sent.result != "accepted":
        return holds(peer, False, f"outcome {sent.outcome or 'none'}")
    return equals(peer, [delivery.body for delivery in peer.fetch(address, 1)], [b"body"], "bodies")


@case("framing.performative", covers=["framing/performative"])
def bodies_without_performative(peer: Peer) -> Verdict:
    """The target rejects a body that does not begin with a performative."""
    return until_failure(about(_body(peer.another(), octets), what) for what, octets in _BODIES.items())


@on_connection("framing.performative.by-symbol", covers=["framing/performative", "model/nine-frame-bodies"])
def performative_named_by_its_symbol(peer: Peer) -> Verdict:
    """A symbol or a code may identify a performative; a target that accepts only codes is not strict."""
    peer.claim("begin")
    peer.send("begin", descriptor=Symbol("amqp:begin:list"))
    arrival = peer.arrival("begin")
    begun = isinstance(arrival, FrameArrived) and arrival.name == "begin"
    # The definition gives a symbol and a code. No sentence here demands that a peer know both.
    return verdict_on(peer, Outcome.PASS if begun else Outcome.NONSTRICT, "begin", arrival)


@case("framing.payload", covers=["framing/payload"])
def payload_there_and_back(peer: Peer) -> Verdict:
    """The octets after the performative of a transfer are the payload, in both directions."""
    body = bytes(range(256))
    address = peer.node()
    peer.begin()
    peer.claim("the same body arrives")
    peer.send_message(address, body)
    link = peer.receiver(address, credit=1)
    delivery = peer.delivery(link)
    peer.disposition(delivery)
    return holds(peer, delivery.body == body, "the same" if delivery.body == body else "another body")


@case("framing.payload.delivery-annotations", covers=["framing/payload"])
def delivery_annotations_in_the_payload(peer: Peer) -> Verdict:
    """A payload can contain delivery annotations, with or without a header before them: the body arrives intact."""
    return _each_there_and_back(peer, _ANNOTATED)


@case("framing.payload.compound-value", covers=["framing/payload"])
def compound_values_in_the_payload(peer: Peer) -> Verdict:
    """A payload can be a map or a list of any length: the same value arrives."""
    return _each_there_and_back(peer, _COMPOUNDS)


@case("framing.payload.empty-elements", covers=["framing/payload"])
def arrays_of_no_width_in_the_payload(peer: Peer) -> Verdict:
    """A payload can be an array of elements of zero octets: it arrives with the same number of elements."""
    return _each_there_and_back(peer, _EMPTY_ELEMENTS)


@case("framing.empty-frame", covers=["framing/empty-frame"], slow=True, budget_s=150)
def empty_frames_keep_alive(peer: Peer) -> Verdict:
    """Empty frames keep a connection alive; the target chooses whether it sends them."""
    paced(peer, _PARTNERS_IDLE_MS)
    # Without a timeout of the target's, nothing could be kept alive.
    idle_s = own_idle_s(peer)
    peer.claim("empty frames keep the connection open")
    sent = kept_alive(peer, idle_s, peer.send_empty)
    return observed_either_way(peer, f"stays open; the target sends: {sent}")


# --- steps of this module


def _malformed(peer: Peer, body: bytes = b"", size: int | None = None, doff: int | None = None) -> Verdict:
    """A frame with a false header, on an open connection."""
    peer.open_connection()
    peer.send_frame(body, size=size, doff=doff)
    return rejects_violation(peer)


def _begin_of_type(peer: Peer, kind: int) -> Verdict:
    """A begin on channel 1 in a frame of another type: it may not begin anything."""
    peer.open_connection()
    peer.room_for_channel(1)
    # Octet 5 of a frame header is its type.
    peer.send_octets(plain_frame(peer, "begin", 1)[:5] + bytes([kind]) + plain_frame(peer, "begin", 1)[6:])
    reaction = peer.reaction()
    begun = [a for a in reaction.arrivals if isinstance(a, FrameArrived) and a.name == "begin"]
    verdict = without_effect(peer, reaction, "begin was answered" if begun else "")
    return about(verdict, f"type {kind}")


def _late_login(peer: Peer) -> Verdict:
    """A SASL frame on an open connection: it may not be answered."""
    peer.open_connection()
    peer.send("sasl-init", mechanism="ANONYMOUS")
    reaction = peer.reaction()
    answers = [
        a for a in reaction.arrivals if isinstance(a, FrameArrived) and a.frame.frame_type == _SASL_FRAME
    ]
    return without_effect(peer, reaction, f"{answers[0].name} after open" if answers else "")


def _each_there_and_back(peer: Peer, messages: Mapping[str, bytes]) -> Verdict:
    """Messages through a node, each over links of its own; the first that is not taken, or not given back, decides."""
    trips = messages.items()
    return until_failure(about(_there_and_back(peer.another(), what, octets), what) for what, octets in trips)


def _there_and_back(peer: Peer, what: str, message: bytes) -> Verdict:
    """One message; a node that does not want it, or has no room for it, may reject it, which is recorded."""
    address = peer.node()
    sender, receiver = peer.sender(address), peer.receiver(address, credit=1)
    peer.credit_for(sender)
    peer.claim(f"{what}: accepted, and the same body arrives")
    try:
        sent = peer.outcome(peer.transfer(sender, message=message))
    # Nodes may have limits of their own for what they store: no matter of framing.
    except Unmet as unmet:
        if unmet.code != _BEYOND_LIMITS:
            raise
        return observed_either_way(peer, "", unmet.seen)
    if sent.outcome in TERMINAL[1:]:
        return observed_either_way(peer, sent.outcome)
    delivery = peer.delivery(receiver)
    peer.disposition(delivery)
    return equals(peer, delivery.body, decode_message(message).body, "body")


def _body(peer: Peer, octets: bytes) -> Verdict:
    """A frame with that body, on a mapped channel."""
    peer.begin()
    peer.send_frame(octets)
    return rejects_violation(peer)
