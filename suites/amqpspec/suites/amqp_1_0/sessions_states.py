"""States of sessions (amqp-1.0 §2.5.5): which frames each state allows, and what follows from others."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import owed
from amqpspec.peer.events import Reaction
from amqpspec.run.amqp_1_0.oracles import without_effect
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import until_failure
from amqpspec.suites.amqp_1_0._links import SENDER, bodies, filled
from amqpspec.suites.amqp_1_0._sessions import (
    begun_and_attached,
    failed_session,
    heard_meanwhile,
    send_in_many,
    send_many,
    unattached,
)

_FREE_CHANNEL = 1
# Often enough for a race between two threads of a target to show.
_TIMES = 8
# Beyond the first window of targets in use, so that a flow has to renew it.
_MANY = 700
_FLOW: dict[str, Any] = {
    "next_incoming_id": 0,
    "incoming_window": 10,
    "next_outgoing_id": 0,
    "outgoing_window": 10,
}

# --- no session


@case("sessions.states.unmapped.attach", covers=["sessions/states/unmapped"])
def attach_without_session(peer: Peer) -> Verdict:
    """The target rejects attach on a channel without a session, or ignores it."""
    return _said_without_session(peer, "attach", **peer.attach_fields(SENDER, handle=0))


@case("sessions.states.unmapped.flow", covers=["sessions/states/unmapped"])
def flow_without_session(peer: Peer) -> Verdict:
    """The target rejects flow on a channel without a session, or ignores it."""
    return _said_without_session(peer, "flow", next_incoming_id=0, echo=True)


@case("sessions.states.unmapped.end", covers=["sessions/states/unmapped"])
def end_without_session(peer: Peer) -> Verdict:
    """The target rejects end on a channel without a session, or ignores it, in several attempts."""
    return until_failure(_said_without_session(peer.another(), "end") for _ in range(_TIMES))


# --- half a session, a whole one


@case("sessions.states.begin-sent", covers=["sessions/states/begin-sent"])
def frames_behind_an_unanswered_begin(peer: Peer) -> Verdict:
    """The target executes attach and flow that follow begin in one write."""
    address = filled(peer, 1)
    peer.open_connection()
    peer.claim("begin, attach, and the message")
    peer.send_octets(begun_and_attached(peer, address, 1, 10))
    link = peer.session().every_link[-1]
    return equals(peer, peer.delivery(link).body, b"message 0", "body")


@case("sessions.states.begin-rcvd", covers=["sessions/states/begin-rcvd"])
def begin_comes_first(peer: Peer) -> Verdict:
    """The target's begin is its first frame of the session, whatever arrives with the client's begin."""
    address = filled(peer, 1)
    peer.open_connection()
    peer.claim("begin, then attach")
    peer.send_octets(begun_and_attached(peer, address, 1, 10))
    order = [_next_frame(peer), _next_frame(peer, "flow")]
    return equals(peer, order, ["begin", "attach"], "frames")


@case("sessions.states.mapped", covers=["sessions/states/mapped"])
def transfers_both_ways(peer: Peer) -> Verdict:
    """Messages pass in both directions on one session, and continue beyond the first window on each of two links."""
    address = filled(peer, 2)
    senders = [peer.sender(peer.node(name)) for name in ("one", "other")]
    for sender in senders:
        peer.credit_for(sender)
    peer.claim("messages both ways")
    peer.transfer(senders[0], b"there")
    receiver = peer.receiver(address, credit=2)
    found = [delivery.body for delivery in peer.deliveries(receiver, 2)]
    for sender in senders:
        send_many(peer, sender, _MANY)
    return equals(peer, found, bodies(2), "bodies")


@case("sessions.states.mapped.one-message", covers=["sessions/states/mapped"])
def message_beyond_the_first_window(peer: Peer) -> Verdict:
    """A message continues beyond the first window, although no other message needs credit meanwhile."""
    link = peer.sender()
    peer.claim("an outcome of a message in many transfers")
    outcome = send_in_many(peer, link, _MANY).result
    return equals(peer, outcome, "accepted", "outcome")


# --- a session that ends


@case("sessions.states.end-sent.flow", covers=["sessions/states/end-sent"])
def flow_after_end(peer: Peer) -> Verdict:
    """The target rejects flow on a channel whose session has ended, or ignores it."""
    _ended_in_mid_stream(peer)
    return _said_behind_end(peer, peer.exact("flow", **_FLOW, echo=True))


@case("sessions.states.end-sent.attach", covers=["sessions/states/end-sent"])
def attach_after_end(peer: Peer) -> Verdict:
    """The target rejects attach on a channel whose session has ended, or ignores it."""
    _ended_in_mid_stream(peer)
    fields = peer.attach_fields(SENDER, handle=0, name=peer.name("late"), initial_delivery_count=0)
    return _said_behind_end(peer, peer.exact("attach", **fields))


@case("sessions.states.end-rcvd", covers=["sessions/states/end-rcvd"])
def nothing_behind_the_own_end(peer: Peer) -> Verdict:
    """An end crosses messages: they may arrive before the target's end, and nothing arrives after it."""
    channel = _ended_in_mid_stream(peer)
    peer.claim("values permitted by the tables, and no frame after end")
    peer.barrier(None)
    late = [a.name for a in peer.take(lambda a: a.channel is None and a.wire_channel == channel)]
    problems = "; ".join(map(str, peer.problems[:3]))
    return holds(peer, not late and not problems, problems or f"after end: {', '.join(late) or 'nothing'}")


@case("sessions.states.discarding", covers=["sessions/states/discarding"])
def errors_behind_an_error(peer: Peer) -> Verdict:
    """After an end for an error, the target does not answer further errors of the session."""
    peer.begin(_FREE_CHANNEL)
    failed_session(peer)
    peer.claim("silence, and the connection stays open")
    for name in ("transfer", "flow", "detach"):
        peer.send(name, handle=unattached(peer))
    stray = heard_meanwhile(peer, _FREE_CHANNEL)
    return holds(peer, not stray, stray or "silence")


# --- steps of this module


def _next_frame(peer: Peer, *but: str) -> str:
    while True:
        arrival = peer.read(peer.now() + peer.patience_s)
        if isinstance(arrival, FrameArrived) and arrival.name in ("empty", *but):
            continue
        return arrival.name if isinstance(arrival, FrameArrived) else arrival.describe(peer.dialect)


def _said_without_session(peer: Peer, name: str, **fields: Any) -> Verdict:
    """A performative on a channel without a session; the barrier is a session on another one."""
    peer.open_connection()
    peer.room_for_channel(_FREE_CHANNEL)
    peer.send(name, _FREE_CHANNEL, **fields)
    return _no_effect(peer, peer.reaction(_FREE_CHANNEL))


def _said_behind_end(peer: Peer, octets: bytes) -> Verdict:
    """Octets on channel 0, whose session has ended."""
    # What the session sent before its end is none of the reaction.
    peer.take(lambda a: True)
    peer.send_octets(octets)
    return _no_effect(peer, peer.reaction())


def _no_effect(peer: Peer, reaction: Reaction) -> Verdict:
    """Refused, or passed over: nothing of a session comes that no one began."""
    kept = peer.take(lambda a: a.channel is None and a.name not in ("empty", "close", "open"))
    seen = [a for a in reaction.arrivals if isinstance(a, FrameArrived) and a.name not in ("close", "end")]
    # begin answers the barrier if that is a session.
    effect = ", ".join(a.name for a in (*kept, *seen) if a.name != "begin")
    return without_effect(peer, reaction, effect)


def _ended_in_mid_stream(peer: Peer) -> int:
    """End a session in one write with credit for many messages; returns the channel that the target had for it."""
    link = peer.receiver(filled(peer, 20))
    channel = link.session.remote_channel
    # Credit and end in one write: the target is sending when it reads end.
    peer.send_octets(peer.frame("flow", handle=link, link_credit=20) + peer.frame("end"))
    peer.expect("end")
    return owed(channel, "begin")
