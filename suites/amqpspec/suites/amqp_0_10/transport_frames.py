"""The published document, chapter 4: the headers of frames.

Knows: octets on the wire. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals, holds, without_effect
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._wire import (
    cut_up,
    declaring,
    each_judged,
    octets_of,
    queues_there,
    send_command,
)
from amqpspec.wire.amqp_0_10.frames import (
    WHOLE,
    encode_frame,
)
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL


@case("transport.frame.version", covers=["transport/frame/version"])
def other_frame_formats(peer: Peer) -> Verdict:
    """A frame whose format version is not zero is refused."""
    _, octets = declaring(peer)
    wrong = [encode_frame(octets, type=COMMAND, flags=WHOLE | bits) for bits in (0x40, 0x80, 0xC0)]
    return each_judged(peer, map(octets_of, wrong), barrier=False)


@case("transport.frame.reserved-bits", covers=["transport/frame/reserved-bits"])
def reserved_bits(peer: Peer) -> Verdict:
    """A frame with reserved bits set may be refused."""
    _, octets = declaring(peer)
    wrong = (
        encode_frame(octets, type=COMMAND, flags=WHOLE | 0x10),
        encode_frame(octets, type=COMMAND, flags=WHOLE | 0x20),
        encode_frame(octets, type=COMMAND, reserved_1=1),
        encode_frame(octets, type=COMMAND, track=0x11),
        encode_frame(octets, type=COMMAND, reserved_2=1),
    )
    return each_judged(peer, map(octets_of, wrong), borne, barrier=False)


@case("transport.frame.size-below-header", covers=["transport/frame/size-below-header"])
def sizes_below_the_header(peer: Peer) -> Verdict:
    """A frame size below the size of the frame header is refused."""
    wrong = [encode_frame(b"", type=CONTROL, size=size) + bytes(12) for size in (0, 1, 11)]
    return each_judged(peer, map(octets_of, wrong), barrier=False)


@in_session("transport.frame.size", covers=["transport/frame/size"])
def frames_in_one_write(peer: Peer) -> Verdict:
    """The server separates consecutive frames in one write by their sizes, including empty frames."""
    declared = [declaring(peer, hint) for hint in ("a", "bb", "ccc")]
    peer.claim("every queue exists")
    number = None
    frames = b""
    for _, octets in declared:
        number = peer.number()
        frames += cut_up(COMMAND, [b"", octets])
    peer.send_octets(frames)
    peer.completion(number)
    names = [name for name, _ in declared]
    return equals(peer, queues_there(peer, names), names, "queues")


def _limit_of(arrival: AssemblyArrived) -> int:
    return int(arrival["max_frame_size"] or 0xFFFF)


@case("min-max-frame-size", covers=["min-max-frame-size/value", "min-max-frame-size/agreed"])
def smallest_maximum(peer: Peer) -> Verdict:
    """Peers can agree on 4096 octets, and frames of that size are then accepted."""
    proposed = _proposal(peer)
    peer.claim("4096 octets as the agreed maximum, and frames of that size")
    if _limit_of(proposed) < 4096:
        return holds(peer, False, proposed)
    peer.tune(proposed=proposed, max_frame_size=4096)
    peer.call_control("connection.open", virtual_host=peer.login.vhost)
    peer.opened = True
    peer.open_session()
    queue = peer.queue()
    peer.publish(queue, bytes(10_000))
    peer.subscribe(queue)
    body, largest = peer.transfer().body, peer.listener.largest_frame_octets
    return holds(
        peer, len(body) == 10_000 and largest <= 4096, f"{len(body)} octets, frames of up to {largest}"
    )


def _proposal(peer: Peer) -> AssemblyArrived:
    peer.greet()
    peer.start_ok()
    return peer.offered()


@in_session("transport.frame.refused-has-no-effect", covers=["transport/tracks/reserved"])
def dropped_frames_leave_others_alone(peer: Peer) -> Verdict:
    """A frame on a reserved track does not prevent a command on its own track, or it is refused."""
    name, octets = declaring(peer)
    peer.send_octets(encode_frame(octets, type=COMMAND, track=7))
    number = send_command(peer, octets)
    peer.claim("the command on its own track is executed, or the frame before it is refused")
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return without_effect(peer, reaction)
    peer.completion(number)
    return holds(peer, queues_there(peer, [name]) == [name], "the command was executed")
