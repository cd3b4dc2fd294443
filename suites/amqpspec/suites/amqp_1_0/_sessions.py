"""Steps that cases about sessions share: sessions that fail, the state that the target reports, counted transfers.

Knows: the peer's verbs. Must not know: requirement rows, single cases.
A target need not answer to echo, and need not give credit at once: its state is looked for in either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing, ahead
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.wire.amqp_1_0.message import encode_message

# No case attaches this many links in one session.
UNATTACHED = 9
LARGEST_TRY = 2500


# --- sessions that fail


def unattached(peer: Peer, channel: int = 0) -> int:
    """A handle without a link, up to handle-max; raises OutOfReach if every one has a link."""
    # Above handle-max another rule applies (amqp-1.0 §2.7.2).
    session = peer.session(channel)
    free = [h for h in range(min(UNATTACHED, session.remote_handle_max) + 1) if h not in session.links]
    if not free:
        raise OutOfReach(f"handle-max is {session.remote_handle_max}, and each handle has a link")
    return free[-1]


def breach_octets(peer: Peer, channel: int = 0) -> bytes:
    """A frame that a session cannot process: flow for a handle that has no link."""
    return peer.frame("flow", channel, handle=unattached(peer, channel), delivery_count=0, link_credit=1)


def failed_session(peer: Peer, channel: int = 0) -> FrameArrived:
    """Make the target end a session for an error, and leave its end unanswered; returns the end.

    Raises OutOfReach if the target does something else about it.
    """
    # The session stays half ended: cases check the time between the target's end and theirs.
    peer.polite = False
    if channel not in peer.books.sessions:
        peer.begin(channel)
    peer.send_octets(breach_octets(peer, channel))
    try:
        end = peer.expect("end", channel=channel)
    except Unmet as unmet:
        why = f"no way to make a session of this target fail: {unmet.observed}"
        raise OutOfReach(why, unmet.seen) from unmet
    if end.condition is None:
        raise OutOfReach("no known way to make a session of this target fail: end without error", end)
    # Frames that arrived before the end do not answer what follows it.
    peer.take(lambda a: a.channel == channel)
    return end


# --- what the target tells


def heard_meanwhile(peer: Peer, channel: int) -> str:
    """What the target says up to a round trip over another session, apart from that."""
    # Over another session, as this one has ended. Order between channels is not promised; a target that
    # answers what it should discard does so when it reads it, before the barrier.
    peer.barrier(channel)
    stray = peer.take(lambda a: a.name != "empty" and a.channel != channel)
    return ", ".join(a.describe(peer.dialect) for a in stray)


def state_of(peer: Peer, channel: int = 0) -> FrameArrived:
    """A flow with the target's state of a session after all that was sent: for a new link, else in answer to echo."""
    # A new link brings a flow of its own in most targets, with credit and the state of the session in it.
    # Echo is only a SHOULD (amqp-1.0 §2.7.4).
    link = peer.sender(peer.node("state"), channel)
    with suppress(Unmet):
        peer.until(lambda: link.flow is not None, "flow", link=link, within_s=peer.context.patience.quiet_s)
    with suppress(Unmet):
        return link.flow or peer.echo(channel, link)
    raise OutOfReach("the target grants no credit and sends no flow with its state")


def flows_of_session(peer: Peer, channel: int = 0) -> list[FrameArrived]:
    """Flows of the target without handle that have arrived; requests one first."""
    peer.flow(channel, echo=True)
    peer.barrier(channel)
    return [flow for flow in peer.pending("flow", channel=channel) if flow["handle"] is None]


# --- messages


def begun_and_attached(peer: Peer, address: str, credit: int, *windows: int) -> bytes:
    """Begin, attach to receive, and flows with credit and a window each, none of which know of the target's begin."""
    # A window of zero, so that nothing arrives before the flows allow it. As long as the target's begin is not
    # known, neither is its next-incoming-id (amqp-1.0 §2.7.4): flows leave it out.
    octets = peer.frame("begin", incoming_window=0)
    octets += peer.frame("attach", **peer.attach_fields("receiver", address))
    link = peer.session().every_link[-1]
    unknown: dict[str, Any] = {"delivery_count": OMIT, "next_incoming_id": OMIT}
    for window in windows:
        octets += peer.frame("flow", handle=link, link_credit=credit, incoming_window=window, **unknown)
    return octets


def send_many(peer: Peer, link: Link, count: int) -> None:
    """Send this many messages, as credit and window allow, and wait until each has an outcome."""
    while count:
        peer.until(lambda: _room(link) > 0, "credit and a window", link=link)
        # Credit counts deliveries, the window counts transfers; each message here is one of both.
        burst = min(count, _room(link), LARGEST_TRY)
        peer.send_octets(b"".join(peer.transfer_octets(link, b"x") for _ in range(burst)))
        count -= burst
    sent = link.session.outgoing.values()
    peer.until(
        lambda: all(outgoing.is_decided for outgoing in sent), "an outcome of each delivery", link=link
    )


def send_in_many(peer: Peer, link: Link, count: int) -> Outgoing:
    """Send one message in this many transfers, as the window allows, and wait for its outcome.

    The target is asked for its state after each burst: a window that it then tells can be used.
    """
    message, session = encode_message(data=bytes(count)), link.session
    peer.credit_for(link)
    while message:
        peer.until(lambda: session.remote_incoming_window > 0, "a window", link=link)
        burst = min(session.remote_incoming_window, LARGEST_TRY)
        part, message = message[:burst], message[burst:]
        transfers = peer.transfer_octets(link, message=part, chunk=1, more=bool(message))
        peer.send_octets(transfers + peer.frame("flow", session.channel, echo=True))
    return peer.outcome(owed(link.last_outgoing, "an attached link"))


def _room(link: Link) -> int:
    return min(link.credit, link.session.remote_incoming_window)


def transfers_of(deliveries: Sequence[Delivery]) -> int:
    """In how many transfers deliveries came."""
    return sum(len(delivery.transfers) for delivery in deliveries)


def follow_each_other(ids: Sequence[int]) -> bool:
    """Whether serial numbers are those after the first of them, without gaps and in any order."""
    # Distances as RFC 1982 has them: the sequence may wrap, and links may be read in any order.
    return sorted(ahead(id, ids[0]) for id in ids) == list(range(_least(ids), _least(ids) + len(ids)))


def _least(ids: Sequence[int]) -> int:
    return min(ahead(id, ids[0]) for id in ids)
