"""The published document, chapter 4: protocol header, assemblies, channels, tracks.

Knows: octets on the wire. Must not know: targets.
"""

from __future__ import annotations

from itertools import pairwise

from amqpspec.peer.amqp_0_10.peer import NONE, UNLIMITED, Peer
from amqpspec.peer.events import Arrival, Ended, HeaderArrived, Quiet
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals, holds, judge_arrival, without_effect
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue
from amqpspec.suites.amqp_0_10._sessions import among
from amqpspec.suites.amqp_0_10._wire import (
    Act,
    declaring,
    each_judged,
    in_pieces,
    octets_of,
    queues_there,
)
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    WHOLE,
    encode_frame,
)
from amqpspec.wire.amqp_0_10.instructions import BODY, COMMAND, CONTROL, encode_instruction

NOT_SERVED = b"AMQP\x01\x01\x63\x63"
_LARGE_OCTETS = 3 << 20
_PART_S = 0.05
"""Between the parts of a frame: long enough that each is read by itself."""
_MANY, _MESSAGE_OCTETS = 24, 1 << 20


# --- the protocol header


@case(
    "transport.protocol-header",
    covers=[
        "transport/protocol-header/first",
        "transport/protocol-header/layout",
        "transport/negotiation/supported",
        "transport/negotiation/tcp",
    ],
)
def own_header(peer: Peer) -> Verdict:
    """The server answers the header of its version with the same header, then sends start."""
    peer.claim("the header AMQP 1 1 0 10, then connection.start")
    start = peer.greet()
    return holds(peer, start.channel == 0, start)


def _answer_to(peer: Peer, header: bytes) -> Arrival:
    peer.send_header(header)
    return peer.wait(lambda a: False, peer.patience_s)


def _anything(arrival: Arrival) -> bool:
    return True


@case("transport.negotiation.unsupported", covers=["transport/negotiation/unsupported"])
def unsupported_version(peer: Peer) -> Verdict:
    """The server answers an unknown version with a header that it supports, and closes the connection."""
    peer.claim("a protocol header from the server, then the connection closes")
    header = _answer_to(peer, NOT_SERVED)
    if not isinstance(header, HeaderArrived):
        return judge_arrival(peer, header)
    following = peer.wait(_anything, peer.context.patience.ending_s)
    return holds(peer, header.header.octets != NOT_SERVED and isinstance(following, Ended), following)


@case("transport.negotiation.unparseable", covers=["transport/negotiation/unparseable"])
def no_header(peer: Peer) -> Verdict:
    """The server answers octets that are not a protocol header with one, and closes the connection."""
    peer.claim("a protocol header from the server, then the connection closes")
    header = _answer_to(peer, b"GET / HTTP/1.1\r\n\r\n")
    if not isinstance(header, HeaderArrived):
        return judge_arrival(peer, header)
    following = peer.wait(_anything, peer.context.patience.ending_s)
    return holds(peer, isinstance(following, Ended), following)


@case("transport.negotiation.discovery", covers=["transport/negotiation/discovery"])
def header_in_answer_is_served(peer: Peer) -> Verdict:
    """The server supports the version that it names when it rejects another version."""
    refused = _answer_to(peer, NOT_SERVED)
    peer.claim("the server supports the version that it named")
    if not isinstance(refused, HeaderArrived):
        return judge_arrival(peer, refused)
    second = peer.another()
    answer = _answer_to(second, refused.header.octets)
    # Older versions answer by their first frame, which is no frame of 0-10.
    if not isinstance(answer, HeaderArrived):
        return holds(peer, second.ended is None and not isinstance(answer, Quiet), answer)
    if answer.header.octets != refused.header.octets:
        return holds(peer, False, answer)
    following = second.wait(_anything, second.patience_s)
    return holds(peer, not isinstance(following, Ended | Quiet), following)


# --- assemblies


@in_session(
    "transport.assemblies.any-cut",
    covers=["transport/assemblies/any-cut", "transport/frame/size", "transport/assemblies/one-instruction"],
)
def command_in_pieces(peer: Peer) -> Verdict:
    """The server assembles commands from frames of one octet each, with empty frames among them."""
    declared = [declaring(peer, hint) for hint in ("first", "second")]
    peer.claim("both queues exist")
    for _, octets in declared:
        number = peer.number()
        peer.send_octets(in_pieces(COMMAND, octets))
        peer.completion(number)
    names = [name for name, _ in declared]
    return equals(peer, queues_there(peer, names), names, "queues")


@case("transport.assemblies.any-cut.control", covers=["transport/assemblies/any-cut"])
def control_in_pieces(peer: Peer) -> Verdict:
    """The server assembles a control from frames of one octet each."""
    peer.open_connection()
    name = peer.name("s").encode()
    peer.claim("the session is attached")
    peer.send_octets(in_pieces(CONTROL, encode_instruction("session.attach", {"name": name})))
    return equals(peer, peer.expect("session.attached")["name"], name, "session")


@in_session("transport.frame.in-parts", covers=["transport/frame/size"])
def frames_in_parts(peer: Peer) -> Verdict:
    """The server reads frames whose octets arrive in parts, cut within and after the header."""
    declared = [declaring(peer, hint) for hint in ("first", "second")]
    stream = b"".join(encode_frame(octets, type=COMMAND) for _, octets in declared)
    numbers = [peer.number() for _ in declared]
    peer.claim("both queues exist")
    for start, end in pairwise((0, 5, 12, 20, len(stream) - 30, len(stream))):
        peer.send_octets(stream[start:end])
        peer.wait(lambda arrival: False, _PART_S)
    for number in numbers:
        peer.completion(number)
    names = [name for name, _ in declared]
    return equals(peer, queues_there(peer, names), names, "queues")


@case("transport.assemblies.no-limit", covers=["transport/assemblies/no-limit"])
def large_assembly(peer: Peer) -> Verdict:
    """A transfer of three megaoctets arrives whole, in frames of 4096 octets."""
    peer.open_connection(max_frame_size=4096)
    peer.open_session()
    queue = peer.queue()
    body = bytes(range(256)) * (_LARGE_OCTETS // 256)
    peer.claim("the whole body")
    peer.publish(queue, body)
    peer.subscribe(queue)
    got = peer.transfer().body
    return holds(peer, got == body, f"{len(got)} octets, {'unchanged' if got == body else 'changed'}")


@case("transport.assemblies.flags", covers=["transport/assemblies/flags"])
def contradicting_flags(peer: Peer) -> Verdict:
    """Frames whose flags contradict the frames before them are refused."""
    octets = encode_instruction("execution.sync", {}, sync=True)
    begun = encode_frame(octets[:2], type=COMMAND, flags=FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME)

    def then(flags: int) -> bytes:
        return begun + encode_frame(octets[2:], type=COMMAND, flags=flags)

    wrong = (
        encode_frame(octets, type=COMMAND, flags=LAST_SEGMENT | FIRST_FRAME | LAST_FRAME),
        then(WHOLE),
        then(FIRST_SEGMENT | LAST_FRAME),
    )
    return each_judged(peer, map(octets_of, wrong), barrier=False)


@case("transport.assemblies.flags.nothing-begun", covers=["transport/assemblies/flags"], destructive=True)
def frame_that_continues_nothing(peer: Peer) -> Verdict:
    """A frame that continues a segment that no frame began is refused."""
    octets = encode_instruction("execution.sync", {}, sync=True)

    def act(flags: int) -> Act:
        def send(one: Peer) -> None:
            # What arrives directly after a command-point is a matter of its own.
            one.barrier()
            one.send_octets(encode_frame(octets, type=COMMAND, flags=FIRST_SEGMENT | LAST_SEGMENT | flags))

        return send

    return each_judged(peer, map(act, (LAST_FRAME, 0)), barrier=False)


@case("transport.frame.segment-type", covers=["transport/frame/segment-type"], destructive=True)
def type_changes_within_segment(peer: Peer) -> Verdict:
    """A frame whose type differs from that of its segment is refused."""
    _, octets = declaring(peer)
    place = FIRST_SEGMENT | LAST_SEGMENT
    wrong = [
        encode_frame(octets[:4], type=COMMAND, flags=place | FIRST_FRAME)
        + encode_frame(octets[4:], type=kind, flags=place | LAST_FRAME, track=1)
        for kind in (CONTROL, BODY)
    ]
    return each_judged(peer, map(octets_of, wrong), barrier=False)


@case("segment-type.values", covers=["segment-type/values"])
def other_segment_types(peer: Peer) -> Verdict:
    """A segment of an undefined type may be refused."""
    _, octets = declaring(peer)
    wrong = [encode_frame(octets, type=kind, track=1) for kind in (4, 255)]
    return each_judged(peer, map(octets_of, wrong), borne, barrier=False)


# --- channels


@case("transport.channels.interleaved", covers=["transport/channels/interleaved"])
def interleaved_channels(peer: Peer) -> Verdict:
    """The server assembles two commands whose frames are interleaved on two channels."""
    for channel in (0, 1):
        peer.open_session(channel)
    declared = [declaring(peer, hint) for hint in ("zero", "one")]
    peer.claim("both queues, each in its session")
    place, ids = FIRST_SEGMENT | LAST_SEGMENT, [peer.number(channel) for channel in (0, 1)]
    for flags, part in ((FIRST_FRAME, slice(9)), (0, slice(9, 14)), (LAST_FRAME, slice(14, None))):
        for channel, (_, octets) in enumerate(declared):
            frame = encode_frame(octets[part], type=COMMAND, flags=place | flags, channel=channel)
            peer.send_octets(frame)
    for channel, number in enumerate(ids):
        peer.completion(number, channel)
    found = [queues_there(peer, [name], channel) for channel, (name, _) in enumerate(declared)]
    return equals(peer, found, [[name] for name, _ in declared], "queues")


@case("transport.channels.zero", covers=["transport/channels/zero"])
def channel_zero(peer: Peer) -> Verdict:
    """A session can be attached and used on channel 0."""
    peer.open_connection()
    peer.claim("a session on channel 0 that executes commands")
    peer.open_session(0)
    peer.barrier(0)
    return holds(peer, True, "commands on channel 0 were executed")


@case("transport.channels.several", covers=["transport/channels/several"])
def several_channels(peer: Peer) -> Verdict:
    """Three sessions can be used on three channels of one connection."""
    peer.open_connection()
    peer.claim("three sessions that execute commands")
    channels = (0, 1, 2)
    for channel in channels:
        peer.open_session(channel)
    for channel in reversed(channels):
        peer.barrier(channel)
    return holds(peer, True, "commands on three channels were executed")


@case("transport.channels.down-to-one", covers=["transport/channels/down-to-one"])
def one_channel_only(peer: Peer) -> Verdict:
    """A client may limit itself to one channel."""
    peer.claim("a connection with a single channel that executes commands")
    peer.open_connection(channel_max=1)
    peer.open_session(0)
    peer.barrier(0)
    return holds(peer, True, "commands on the only channel were executed")


@case("transport.channels.fair", covers=["transport/channels/fair"])
def busy_channel(peer: Peer) -> Verdict:
    """The server answers on a quiet channel while another one delivers 24 messages of a megaoctet."""
    for channel in (0, 1):
        peer.open_session(channel)
    queue = peer.queue()
    for _ in range(_MANY):
        peer.publish(queue, bytes(_MESSAGE_OCTETS))
    peer.barrier()
    destination = peer.subscribe(queue, messages=None, octets=UNLIMITED, accept_mode=NONE)
    peer.claim("the quiet channel is answered before all messages of the busy one arrive")
    peer.flow(destination, messages=_MANY)
    peer.transfer()  # the channel is busy from here on
    peer.completion(peer.send("execution.sync", 1, sync=True), 1)
    before = 1 + len(peer.pending("message.transfer"))
    return holds(peer, before < _MANY, f"{before} of {_MANY} messages arrived first")


@on_queue("transport.channels.backlog", covers=["message/flow/infinite"])
def large_backlog(peer: Peer, queue: str) -> Verdict:
    """With unlimited credit, a backlog of 24 messages of a megaoctet and a small one arrives without a flush."""
    for _ in range(_MANY):
        peer.publish(queue, bytes(_MESSAGE_OCTETS))
    peer.publish(queue, b"last")
    peer.barrier()
    destination = peer.subscribe(queue, messages=None, octets=UNLIMITED, accept_mode=NONE)
    peer.claim("every message, including the last one")
    peer.flow(destination, messages=UNLIMITED)
    found = [len(transfer.body) for transfer in peer.transfers(_MANY + 1)]
    return equals(peer, found, [_MESSAGE_OCTETS] * _MANY + [len(b"last")], "octets of the messages")


# --- tracks


@in_session("transport.tracks.order", covers=["transport/tracks/order"])
def order_across_tracks(peer: Peer) -> Verdict:
    """A flush between two commands in one write is answered after the first one and before the second."""
    first, second = (declaring(peer, hint, sync=False) for hint in ("first", "second"))
    ids = [peer.number() or 0, peer.number() or 0]
    peer.claim("expected, with the command after the flush and not the one before it")
    frames = [encode_frame(octets, type=COMMAND) for _, octets in (first, second)]
    # Completed may come late or unasked; expected comes only as an answer, and counts what was received.
    peer.send_octets(frames[0] + peer.encoded("session.flush", expected=True) + frames[1])
    told = peer.expect("session.expected")["commands"] or ()
    return equals(peer, among(told, ids), [False, True], "expected")


@in_session("transport.tracks.control-within-command", covers=["transport/tracks/control-within-command"])
def control_within_command(peer: Peer) -> Verdict:
    """The server handles a control between two frames of a command, and executes the command."""
    name, octets = declaring(peer)
    peer.claim("an answer to the control, and the queue")
    number, place = peer.number(), FIRST_SEGMENT | LAST_SEGMENT
    peer.send_octets(encode_frame(octets[:10], type=COMMAND, flags=place | FIRST_FRAME))
    peer.call_control("session.request-timeout", timeout=0)
    peer.send_octets(encode_frame(octets[10:], type=COMMAND, flags=place | LAST_FRAME))
    peer.completion(number)
    return equals(peer, queues_there(peer, [name]), [name], "queues")


@in_session("transport.tracks.reserved", covers=["transport/tracks/reserved"])
def reserved_tracks(peer: Peer) -> Verdict:
    """Frames on an undefined track have no effect."""
    name, octets = declaring(peer)
    for track in (2, 15):
        peer.send_octets(encode_frame(octets, type=COMMAND, track=track))
    reaction = peer.reaction(barrier=False, within_s=peer.context.patience.quiet_s)
    if reaction.refusal is not None:
        return without_effect(peer, reaction)
    looking = peer.another()
    looking.open_session()
    effect = f"queue {name!r} was declared" if queues_there(looking, [name]) else ""
    return without_effect(peer, reaction, effect)


@case("track.control.zero", covers=["track/control/zero"])
def control_on_track_one(peer: Peer) -> Verdict:
    """A control on another track than 0 may be refused."""
    octets = encode_instruction("session.flush", {"completed": True})
    wrong = encode_frame(octets, type=CONTROL, track=1)
    return each_judged(peer, [octets_of(wrong)], borne, barrier=False)


@case("track.command.one", covers=["track/command/one"])
def command_on_track_zero(peer: Peer) -> Verdict:
    """A command on another track than 1 may be refused."""
    _, octets = declaring(peer)
    wrong = encode_frame(octets, type=COMMAND, track=0)
    return each_judged(peer, [octets_of(wrong)], borne, barrier=False)
