"""Connections (amqp-1.0 §2.4.1, §2.4.2): channels, opening, pipelined opening."""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import on_connection
from amqpspec.suites.amqp_1_0._connections import (
    about,
    begins_with_open,
    frames_of,
    pipelined,
    plain_frame,
    reaction_to_open,
    until_failure,
)
from amqpspec.suites.amqp_1_0._transfers import contents, put
from amqpspec.wire.amqp_1_0.frames import HEADERS
from amqpspec.wire.amqp_1_0.values import Map, Symbol

_LEAST_OCTETS = 512
_LARGE_OCTETS = 10_000
# Out of order and with gaps, so that they differ from whatever the target counts by itself.
_CHANNELS = (5, 1, 3)
_HIGHEST_CHANNEL = 65535
_CREDIT = 3


@on_connection("connections.channels.by-direction", covers=["connections/channels/by-direction"])
def channels_of_each_direction(peer: Peer) -> Verdict:
    """Each side numbers its own channels: the target's begin names the client's channel."""
    peer.room_for_channel(max(_CHANNELS))
    peer.claim("begins that name channels 5, 1, 3, and sessions that work")
    named = [peer.call("begin", channel)["remote_channel"] for channel in _CHANNELS]
    for channel in _CHANNELS:
        peer.barrier(channel)
    return equals(peer, named, list(_CHANNELS), "remote-channel")


@case("connections.channels.mapping", covers=["connections/channels/mapping"])
def frames_reach_their_session(peer: Peer) -> Verdict:
    """The target assigns a frame to the session of its channel, although another session uses the same handle."""
    nodes = [peer.node(), peer.node()]
    peer.begin(0)
    peer.begin(1)
    peer.claim("each message in the node of its session's link")
    # Both links get handle 0, the lowest that is free: only the channel tells them apart.
    links = [peer.sender(address, channel) for channel, address in enumerate(nodes)]
    for link, body in zip(links, (b"first", b"second"), strict=True):
        peer.outcome(peer.transfer(link, body))
    found = [contents(peer, address, at_least=1) for address in nodes]
    return equals(peer, found, [[b"first"], [b"second"]], "bodies")


# --- opening


@on_connection("connections.opening.limits-before", covers=["connections/opening/limits-before"])
def open_within_the_least_limits(peer: Peer) -> Verdict:
    """The target's open has at most 512 octets and is on channel 0, because no limit is known yet."""
    first = frames_of(peer)[0]
    reported = f"{first.name} of {len(first.octets)} octets on channel {first.channel}"
    return holds(
        peer, len(first.octets) <= _LEAST_OCTETS and first.channel == 0, reported, "512 octets, channel 0"
    )


@case("connections.opening.limits-before.exceeded", covers=["connections/opening/limits-before"])
def open_beyond_the_least_limits(peer: Peer) -> Verdict:
    """The target rejects or tolerates an open of more than 512 octets."""
    peer.greet()
    peer.send("open", properties=Map({Symbol("padding"): "x" * 600}))
    # The limit binds the sender; a target that takes the frame does no one harm, and is
    # recorded (amqp-1.0 §2.4.1).
    return borne(peer, reaction_to_open(peer))


@case("connections.opening.open-first", covers=["connections/opening/open-first"])
def begin_before_open(peer: Peer) -> Verdict:
    """The target rejects a begin before open; its own first frame is open."""
    peer.greet()
    peer.send("begin")
    return worst((rejects_violation(peer, barrier=False), begins_with_open(peer)))


@case("connections.opening.channel-zero", covers=["connections/opening/channel-zero"])
def open_on_another_channel(peer: Peer) -> Verdict:
    """The target rejects an open on a channel other than 0; its own open is on channel 0."""
    return until_failure(
        about(_open_on(peer.another(), channel), f"channel {channel}") for channel in (1, _HIGHEST_CHANNEL)
    )


@case("connections.opening.limits-after", covers=["connections/opening/limits-after"])
def limits_of_the_partner(peer: Peer) -> Verdict:
    """After both opens, the target respects the negotiated limits: 512 octets, channel 0."""
    address = peer.node()
    other = peer.another()
    # Put there by another connection, for which no such limits hold.
    put(other, address, bytes(_LARGE_OCTETS))
    peer.claim("frames of at most 512 octets, all on channel 0")
    peer.open_connection(max_frame_size=_LEAST_OCTETS, channel_max=0)
    link = peer.receiver(address, credit=1)
    peer.disposition(peer.delivery(link))
    channels = {frame.channel for frame in frames_of(peer)}
    reported = f"at most {peer.largest_frame_octets} octets, channels {sorted(channels)}"
    return holds(peer, peer.largest_frame_octets <= _LEAST_OCTETS and channels == {0}, reported)


# --- pipelined opening


@case("connections.pipelined.open", covers=["connections/pipelined/desirable"])
def pipelined_open(peer: Peer) -> Verdict:
    """The target answers header, open and begin in this order if they arrive in one write."""
    peer.connect()
    peer.claim("header, open, begin")
    pipelined(peer, peer.frame("open"), peer.frame("begin"))
    peer.expect_header("amqp")
    peer.expect("open")
    peer.expect("begin")
    # The target may send its state after begin.
    names = [frame.name for frame in frames_of(peer) if frame.name not in ("flow", "empty")]
    return equals(peer, names, ["open", "begin"], "frames")


@case("connections.pipelined.frames", covers=["connections/pipelined/frames-before-answer"])
def pipelined_link(peer: Peer) -> Verdict:
    """The target answers session and link frames that the client sends before it receives the target's header."""
    address = peer.node()
    put(peer.another(), address, b"waiting")
    peer.claim("header, open, begin, attach and the message that waits")
    _all_at_once(peer, _link_frames(peer, address))
    for name in ("open", "begin"):
        peer.expect(name)
    delivery = peer.delivery(peer.session().every_link[0])
    peer.disposition(delivery)
    return equals(peer, delivery.body, b"waiting", "body")


@case("connections.pipelined.early-frames", covers=["connections/pipelined/within-limits"])
def early_frames_of_the_target(peer: Peer) -> Verdict:
    """Each frame that the target sends before it knows a limit has at most 512 octets and is on channel 0."""
    peer.greet()
    # Time for a target that opens first, as it may.
    peer.wait(lambda arrival: False, peer.context.patience.quiet_s)
    peer.open()
    before = [f for f in frames_of(peer) if len(f.octets) > _LEAST_OCTETS or f.channel]
    reported = ", ".join(f"{f.name} of {len(f.octets)} octets on channel {f.channel}" for f in before)
    return holds(peer, not before, reported or "nothing beyond", "512 octets, channel 0")


@case("connections.pipelined.beyond-channel-max", covers=["connections/pipelined/within-limits"])
def pipelined_beyond_channel_max(peer: Peer) -> Verdict:
    """The target rejects a begin above its channel-max, although the client could not know the limit."""
    # A first connection finds out the limit, which a pipelining peer cannot know.
    other = peer.another()
    other.open_connection()
    if other.channel_max >= _HIGHEST_CHANNEL:
        raise OutOfReach("the target accepts every channel")
    pipelined(peer, peer.frame("open"), plain_frame(peer, "begin", other.channel_max + 1))
    peer.expect_header("amqp")
    # No barrier: none can be sent before the target's open has been read.
    return rejects_violation(peer, barrier=False)


@case("connections.pipelined.same-treatment", covers=["connections/pipelined/same-treatment"])
def same_answers_in_any_pieces(peer: Peer) -> Verdict:
    """The target gives the same answers to the same frames in one write, octet by octet and step by step."""
    peer.connect()
    peer.claim("open, begin, attach each time")
    ways: tuple[Callable[[Peer, list[bytes]], None], ...] = (_all_at_once, _by_halves, _by_octets, _by_steps)
    reported = [_answers(peer.another(), send) for send in ways]
    return equals(peer, reported, [["open", "begin", "attach"]] * len(ways), "answers")


# --- steps of this module


def _open_on(peer: Peer, channel: int) -> Verdict:
    peer.greet()
    peer.send("open", channel)
    return worst((judge_reaction(peer, reaction_to_open(peer)), begins_with_open(peer)))


def _link_frames(peer: Peer, address: str) -> list[bytes]:
    """Open, begin, attach as a receiver, credit."""
    frames = [peer.frame("open"), peer.frame("begin")]
    frames.append(peer.frame("attach", **peer.attach_fields("receiver", address)))
    return [*frames, peer.frame("flow", handle=peer.session().every_link[0], link_credit=_CREDIT)]


def _answers(peer: Peer, send: Callable[[Peer, list[bytes]], None]) -> list[str]:
    """The names of what the target answers with."""
    frames = _link_frames(peer, peer.node())
    send(peer, frames)
    peer.until(lambda: peer.session().every_link[0].attached is not None, "attach")
    names = [frame.name for frame in frames_of(peer)]
    return [name for name in names if name in ("open", "begin", "attach")]


def _all_at_once(peer: Peer, frames: list[bytes]) -> None:
    pipelined(peer, *frames)
    peer.expect_header("amqp")


def _by_halves(peer: Peer, frames: list[bytes]) -> None:
    """The second write begins within the attach, once all before it was answered."""
    octets = b"".join(frames)
    # In the middle of the attach: neither write ends where a frame does.
    cut = len(octets) - len(frames[-1]) - len(frames[-2]) // 2
    peer.secure()
    peer.send_octets(HEADERS["amqp"] + octets[:cut])
    peer.expect_header("amqp")
    for name in ("open", "begin"):
        peer.keep(peer.expect(name))
    peer.send_octets(octets[cut:])


def _by_octets(peer: Peer, frames: list[bytes]) -> None:
    peer.secure()
    for octet in HEADERS["amqp"] + b"".join(frames):
        peer.send_octets(bytes([octet]))
    peer.expect_header("amqp")


def _by_steps(peer: Peer, frames: list[bytes]) -> None:
    peer.greet()
    for octets, name in zip(frames, ("open", "begin", "attach", ""), strict=True):
        peer.send_octets(octets)
        if name:
            peer.keep(peer.expect(name))
