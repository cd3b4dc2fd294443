"""Closing a connection (amqp-1.0 §2.4.3, §2.4.4): which peer closes, on which channel, what follows, half-closed
streams.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import owed
from amqpspec.peer.events import Arrival, Ended, Quiet
from amqpspec.record.rows import Outcome
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, verdict_on, worst
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Scope
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._connections import (
    behind_close,
    closing,
    frames_of,
    long_wait_s,
    nothing_behind_close,
    pipelined,
    plain_frame,
)
from amqpspec.suites.amqp_1_0._links import bodies, fill

_MANY = 200
_SESSIONS = 4
_RESET_S = 0.3


@on_connection("connections.closing.close-frame", covers=["connections/closing/close-frame"])
def error_is_reported_in_a_close(peer: Peer) -> Verdict:
    """The target closes a failed connection with a close that states the reason, before it ends the stream."""
    peer.send_frame(size=4)
    reaction = peer.reaction()
    reported = reaction.closing is not None and reaction.refusal is not None
    right = reported and reaction.refusal is not None and reaction.refusal.scope is Scope.CONNECTION
    if sum(frame.name == "open" for frame in frames_of(peer)) > 1:
        return holds(peer, False, reaction, "close with an error, and no other open")
    return holds(peer, right, reaction, "close with an error")


@in_session("connections.closing.half-closed-by-partner", covers=["connections/closing/close-frame"])
def half_closed_stream(peer: Peer) -> Verdict:
    """If the partner half-closes the stream without a close, the target sends close before it ends the stream.

    The partner has broken off by then, and few can tell half an end from a whole one: a bare end is not strict.
    """
    peer.polite = False
    peer.transport.half_close()
    arrival = peer.arrival("close", within_s=peer.context.patience.ending_s)
    expected = "close, then the end, or a connection that is still open"
    if isinstance(arrival, Ended):
        return verdict_on(peer, Outcome.NONSTRICT, expected, arrival)
    if isinstance(arrival, Quiet):
        return observed_either_way(peer, "the connection stays open")
    closed = isinstance(arrival, FrameArrived) and arrival.name == "close"
    return verdict_on(peer, Outcome.PASS if closed else Outcome.NONSTRICT, expected, arrival)


@case(
    "connections.closing.last-thing",
    covers=["connections/closing/last-thing", "performatives/close/nothing-after"],
)
def close_while_messages_flow(peer: Peer) -> Verdict:
    """The target sends nothing after its close, although messages and credit for them are available."""
    address = fill(peer, peer.node(), *bodies(_MANY))
    link = peer.receiver(address)
    peer.claim("close, and nothing after it")
    # In one write: the target has credit for all that waits in the node when it reads close.
    peer.send_octets(peer.frame("flow", handle=link, link_credit=1000) + peer.frame("close"))
    peer.expect("close")
    return nothing_behind_close(peer, peer.expect_end(peer.context.patience.ending_s))


@case("connections.closing.read-on", covers=["connections/closing/read-on"])
def reads_on_behind_its_close(peer: Peer) -> Verdict:
    """After a close with an error, the target reads until the client's close and does not reset the socket."""
    peer.claim("no reset before the other close")
    other = closing(peer)
    # A reset shows with the write after the one that met it: three of them, before a target may give up waiting
    # (connections/closing/timeout).
    pause_s = min(_RESET_S, other.context.patience.quiet_s)
    for _ in range(3):
        taken = other.send_octets(plain_frame(other, "begin"))
        arrival = other.expect_end(pause_s)
        if not taken or (isinstance(arrival, Ended) and arrival.how == "rst"):
            return holds(peer, False, "reset before the other close")
    other.send("close")
    return holds(peer, True, "what arrived before the other close was accepted")


@case("connections.closing.timeout", covers=["connections/closing/timeout"], slow=True, budget_s=150)
def waits_for_a_limited_time(peer: Peer) -> Verdict:
    """A target that receives no close in answer ends the stream eventually."""
    peer.claim("the connection closes although no close is answered")
    other = closing(peer)
    end = other.expect_end(long_wait_s(other))
    return holds(peer, isinstance(end, Ended), end)


@case("connections.closing.any-channel", covers=["connections/closing/any-channel"])
def close_on_other_channels(peer: Peer) -> Verdict:
    """The target answers a close on any channel up to channel-max with close."""
    peer.claim("close")
    for channel in (1, 7):
        other = peer.another()
        other.open_connection()
        closed = other.call("close", min(channel, other.channel_max))
        if closed.condition is not None:
            return holds(peer, False, closed)
    return holds(peer, True, "close without error")


@on_connection("connections.closing.channel-zero", covers=["connections/closing/channel-zero"])
def close_of_the_target_is_on_channel_zero(peer: Peer) -> Verdict:
    """The target's close is on channel 0, whichever channels are in use."""
    for channel in range(min(peer.channel_max + 1, _SESSIONS)):
        peer.begin(channel)
    error = owed(closing(peer).closed_by, "close")
    peer.claim("close on channel 0")
    answer = peer.call("close", min(peer.channel_max, 3))
    return equals(peer, (answer.wire_channel, error.wire_channel), (0, 0), "channels")


@case("connections.closing.pipelined-with-open", covers=["connections/closing/pipelined-with-open"])
def close_behind_open(peer: Peer) -> Verdict:
    """The target answers open and close in one write with open and a close without error, on channel 0."""
    peer.connect()
    peer.claim("header, open, close on channel 0")
    pipelined(peer, peer.frame("open"), peer.frame("close"))
    peer.expect_header("amqp")
    peer.expect("open")
    closed = peer.expect("close")
    # A target that has not received the close ends the connection later, and says why: it was idle.
    answers = equals(peer, closed.condition, None, "condition")
    return worst(
        (equals(peer, closed.wire_channel, 0, "channel"), answers, _close_of_a_bad_open(peer.another()))
    )


@in_session("connections.closing.simultaneous", covers=["connections/simultaneous-close"])
def both_close_at_once(peer: Peer) -> Verdict:
    """A close that crosses the target's close completes the exchange: one close per side, then the stream ends."""
    peer.polite = False
    peer.claim("one close from the target, and nothing after it")
    # A transfer without a session is the error. The close after it is in progress when the target's close
    # goes out, and so crosses it.
    peer.send_octets(plain_frame(peer, "transfer", min(peer.channel_max, 1)) + peer.frame("close"))
    peer.expect("close", within_s=peer.context.patience.ending_s)
    end = peer.expect_end(peer.context.patience.ending_s)
    more = [frame.name for frame in behind_close(peer)]
    if more:
        return holds(peer, False, f"after close: {', '.join(more)}")
    later = _answered_later(peer)
    way = f"both at once: {end.kind}; the other one later: {later.kind}"
    observed = f"both at once: {_reported(peer, end)}; the other one later: {_reported(peer, later)}"
    return observed_either_way(peer, way, observed=observed)


# --- steps of this module


def _answered_later(peer: Peer) -> Arrival:
    """How the stream ends when the close for an error is answered once it has arrived."""
    other = closing(peer)
    other.send("close")
    return other.expect_end(peer.context.patience.ending_s)


def _reported(peer: Peer, end: Arrival) -> str:
    return end.describe(peer.dialect) if isinstance(end, Ended) else "the stream stays open"


def _close_of_a_bad_open(peer: Peer) -> Verdict:
    """The close for an open that lacks its container-id, where the target writes one."""
    pipelined(peer, peer.exact("open"))
    peer.expect_header("amqp")
    peer.arrival("close", within_s=peer.context.patience.ending_s)
    closes = [frame.channel for frame in frames_of(peer) if frame.name == "close"]
    return holds(peer, not any(closes), f"close on channel {closes}" if closes else "no close")
