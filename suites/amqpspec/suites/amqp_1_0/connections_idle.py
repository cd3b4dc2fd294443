"""Idle timeouts and empty frames (amqp-1.0 §2.4.5): the target's own threshold, the pace that it keeps for others.

A target's threshold is measured if it announces one of at most half a minute. What open announces is meant as half
of what really applies, in both directions: a pace is judged by twice what was announced.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import Ended, Quiet
from amqpspec.run.amqp_1_0.oracles import allows, borne, judge_arrival
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._connections import (
    PACE_MS,
    behind_close,
    closing,
    frames_of,
    keeps_pace,
    kept_alive,
    kinds,
    listen,
    long_wait_s,
    own_idle_s,
    paced,
    reaction_to_open,
)
from amqpspec.suites.amqp_1_0._transfers import contents, cut, octets_of, piece, sender

_LONG_BUDGET_S = 150
_SPARE_S = 1.0
_NEAR_TWICE = 1.9
_OPEN_AND_ANOTHER = 2


@on_connection(
    "connections.idle-timeout.measure",
    covers=["connections/idle-timeout/measure"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def timer_begins_anew_with_each_frame(peer: Peer) -> Verdict:
    """Every received frame restarts the idle timer."""
    idle_s = own_idle_s(peer)
    peer.claim("the connection stays open while frames arrive, and a whole timeout after the last one")
    # Beyond twice the timeout first: a timer that counts from the opening would have run out.
    kept_alive(peer, idle_s, peer.send_empty)
    peer.send_empty()
    heard = listen(peer, 0.9 * idle_s)
    ended = peer.is_over() or peer.ended is not None
    return holds(peer, not ended, heard[-1][1] if ended else "alive")


@case(
    "connections.idle-timeout.close",
    covers=["connections/idle-timeout/close"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def silence_ends_in_a_close(peer: Peer) -> Verdict:
    """The target sends a close with the reason to a client that is silent for longer than it tolerates."""
    idle_s = _silent(peer)
    # What is announced is half of the threshold: twice of it, and a third for a target that is slow to look.
    return judge_arrival(peer, peer.arrival("close", within_s=3 * idle_s + _SPARE_S))


@case(
    "connections.idle-timeout.unresponsive",
    covers=["connections/idle-timeout/unresponsive"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def silence_behind_the_close(peer: Peer) -> Verdict:
    """The target may end the stream if the client does not answer its close for inactivity."""
    idle_s = _silent(peer)
    peer.polite = False
    arrival = peer.arrival("close", within_s=3 * idle_s + _SPARE_S)
    if not isinstance(arrival, FrameArrived):
        return observed_either_way(peer, "no close", arrival)
    end = peer.expect_end(long_wait_s(peer))
    how = end.describe(peer.dialect) if isinstance(end, Ended) else "the stream stays open"
    return observed_either_way(peer, "close", end, f"close, then {how}")


@case(
    "connections.idle-timeout.independent",
    covers=["connections/idle-timeout/independent"],
    slow=True,
)
def timeouts_of_both_sides(peer: Peer) -> Verdict:
    """The target respects the timeout of its partner, whatever its own is, which it may choose for each connection."""
    other = peer.another()
    other.open_connection()
    peer.claim("frames of the target at the rate that the partner requested")
    paced(peer)
    verdict = keeps_pace(peer)
    if peer.idle_timeout_ms == other.idle_timeout_ms:
        return verdict
    # How a peer chooses its own timeout is not specified (§2.4.5).
    return worst([verdict, observed_either_way(peer, "an idle-time-out of its own for each connection")])


@case(
    "connections.idle-timeout.half",
    covers=["connections/idle-timeout/half"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def threshold_is_twice_the_announced(peer: Peer) -> Verdict:
    """The target announces half of the idle time that it tolerates."""
    idle_s = _silent(peer)
    start_s = peer.now()
    arrival = peer.arrival("close", within_s=3 * idle_s + _SPARE_S)
    if isinstance(arrival, Quiet):
        return observed_either_way(peer, "no close within three times the idle-time-out")
    times = (peer.now() - start_s) / idle_s
    # 1.9 in place of 2: the target's clock started with the peer's open, a little before this one.
    return holds(peer, times >= _NEAR_TWICE, f"the end after {times:.1f} times the idle-time-out")


@case(
    "connections.idle-timeout.unsupported",
    covers=["connections/idle-timeout/unsupported", "performatives/open/idle-time-out/unsupported"],
)
def timeout_of_a_millisecond(peer: Peer) -> Verdict:
    """The target closes with an error if the idle timeout is too short for it, or sends frames in time."""
    peer.greet()
    peer.send("open", idle_time_out=1)
    peer.claim("close with an error, or frames")
    heard = listen(peer, peer.patience_s / 2)
    # A busy target may open late: frames that are due are waited for as long as any answer.
    if len(heard) <= _OPEN_AND_ANOTHER and not peer.is_over() and peer.ended is None:
        heard += listen(peer, peer.patience_s)
    if peer.is_over() or peer.ended is not None:
        return judge_reaction(peer, peer.reaction_of([arrival for _, arrival in heard]))
    # More than open and one frame after it: the target does keep up a pace.
    if len(heard) > _OPEN_AND_ANOTHER:
        return observed_either_way(peer, "frames keep coming")
    return holds(peer, False, "neither a close nor frames")


@case("connections.idle-timeout.empty-frame", covers=["connections/idle-timeout/empty-frame"], slow=True)
def what_a_target_sends_in_time(peer: Peer) -> Verdict:
    """A target without other frames to send may send empty ones: the case records which frames it sends."""
    paced(peer)
    peer.begin()
    peer.claim("empty frames, or others")
    heard = listen(peer, 2.5 * PACE_MS / 1000)
    if peer.is_over() or peer.ended is not None:
        return holds(peer, False, heard[-1][1])
    return observed_either_way(peer, f"with nothing to report: {kinds(heard)}")


# --- empty frames


@in_session("connections.empty-frame.any-channel", covers=["connections/empty-frame/any-channel"])
def empty_frames_on_every_channel(peer: Peer) -> Verdict:
    """The target accepts empty frames on every channel up to its channel-max, with or without a session."""
    peer.claim("no reaction to empty frames")
    # Up to channel-max, which makes a channel valid; only the first of them has a session.
    for channel in sorted({min(channel, peer.channel_max) for channel in (0, 1, 77, 65535)}):
        peer.send_frame(b"", channel)
    return allows(peer)


@case("connections.empty-frame.channel-zero", covers=["connections/empty-frame/channel-zero"], slow=True)
def empty_frames_of_the_target(peer: Peer) -> Verdict:
    """The target's empty frames are on channel 0, whichever channels are in use."""
    paced(peer)
    for channel in range(min(peer.channel_max + 1, 3)):
        peer.begin(channel)
    listen(peer, 2.5 * PACE_MS / 1000)
    channels = {frame.channel for frame in frames_of(peer) if frame.name == "empty"}
    if not channels:
        return observed_either_way(peer, "no empty frames")
    return equals(peer, channels, {0}, "channels")


@case("connections.empty-frame.before-open-received", covers=["connections/empty-frame/before-open-received"])
def empty_frames_before_open_is_received(peer: Peer) -> Verdict:
    """Before it receives open, the target sends empty frames only on channel 0, if any."""
    peer.greet()
    peer.wait(lambda arrival: False, peer.context.patience.quiet_s)
    # So far the target has received no open, whether it has sent its own or not.
    frames = frames_of(peer)
    peer.open()
    frames += _before_open(peer)[len(frames) :]
    early = [frame.channel for frame in frames if frame.name == "empty"]
    return holds(peer, not any(early), f"empty frames on channels {early}" if early else "no empty frame")


@case("connections.empty-frame.no-meaning", covers=["connections/empty-frame/no-meaning"])
def empty_frames_within_a_delivery(peer: Peer) -> Verdict:
    """Empty frames between transfers have no effect: the delivery is complete and the window counts transfers only."""
    link = sender(peer, peer.node())
    peer.claim("the whole delivery, and only transfers counted")
    parts = cut(octets_of(b"one two three"), 3)
    for number, octets in enumerate(parts):
        outgoing = piece(peer, link, octets, more=number + 1 < len(parts))
        # Channel 0, where the delivery is, and one without a session.
        for channel in (0, min(1, peer.channel_max)):
            peer.send_frame(b"", channel)
    peer.outcome(outgoing)
    # Credit for another link comes in a flow that tells what was counted. A flow of our own would set that right first:
    # its next-outgoing-id is taken over (amqp-1.0 §2.5.6).
    sender(peer, link.address)
    flow, sent = peer.session().flow, peer.session().next_outgoing_id
    # A flow may be older than the last transfers, but it cannot name a number beyond them.
    if flow is not None and flow["next_incoming_id"] not in (None, *_sent_before(sent)):
        return equals(peer, flow["next_incoming_id"], sent, "next-incoming-id")
    return equals(peer, contents(peer, link.address, at_least=1), [b"one two three"], "bodies")


@case("connections.empty-frame.after-open", covers=["connections/empty-frame/after-open"])
def empty_frame_before_open(peer: Peer) -> Verdict:
    """The target rejects or tolerates an empty frame before open."""
    peer.greet()
    peer.send_empty()
    peer.send("open")
    return borne(peer, reaction_to_open(peer))


@case("connections.empty-frame.after-open.own", covers=["connections/empty-frame/after-open"])
def empty_frames_come_after_open(peer: Peer) -> Verdict:
    """The target sends no empty frame before its open."""
    peer.open_connection(idle_time_out=PACE_MS)
    early = [frame.name for frame in _before_open(peer)]
    return equals(peer, early, [], "before open")


@case(
    "connections.empty-frame.not-after-close", covers=["connections/empty-frame/not-after-close"], slow=True
)
def no_empty_frame_behind_close(peer: Peer) -> Verdict:
    """The target sends no empty frame after its close while it waits for the client's close."""
    # A pace that the target has to keep, so that an empty frame would be due soon.
    other = closing(peer, idle_time_out=PACE_MS // 2)
    peer.claim("no frame after close")
    listen(other, 2.0)
    more = [frame.name for frame in behind_close(other)]
    return equals(peer, more, [], "after close")


@case(
    "connections.idle-timeout.flow",
    covers=["connections/idle-timeout/flow"],
    slow=True,
    budget_s=_LONG_BUDGET_S,
)
def flows_keep_alive(peer: Peer) -> Verdict:
    """Session flows keep a connection alive as empty frames do; the target chooses which of them it sends."""
    paced(peer)
    idle_s = own_idle_s(peer)
    peer.begin()
    peer.claim("flows keep the connection open")
    sent = kept_alive(peer, idle_s, peer.flow)
    return observed_either_way(peer, f"stays open; the target sends: {sent}")


# --- steps of this module


def _silent(peer: Peer) -> float:
    """An open connection that is silent from here on; returns the target's idle timeout."""
    peer.open_connection()
    idle_s = own_idle_s(peer)
    peer.keeps_alive = False
    return idle_s


def _before_open(peer: Peer) -> list[Any]:
    frames = frames_of(peer)
    at = next((n for n, frame in enumerate(frames) if frame.name == "open"), len(frames))
    return frames[:at]


def _sent_before(next_id: int) -> list[int]:
    """The numbers that a flow may name while transfers are in flight: up to the next one."""
    return [(next_id - back) % (1 << 32) for back in range(4)]
