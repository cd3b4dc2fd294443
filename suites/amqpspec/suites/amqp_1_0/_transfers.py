"""What cases of deliveries share: messages put into nodes, transfers piece by piece, what a node holds.

Knows: the contents of a node are checked with a marker sent after them, never by waiting. Must not know: verdicts.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.suites.amqp_1_0._links import left_out
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite

# MIN-MAX-FRAME-SIZE (amqp-1.0 §2.8.19): the least that everyone takes, and so the way
# to force a target to split.
SMALLEST_FRAME_OCTETS = 512
SECOND_MODE = 1
# The state received, at the very beginning: it is not terminal, and says that no octet has arrived.
NOTHING_RECEIVED = encode_composite("received", section_number=0, section_offset=0)
# 1000 octets: at least two frames of the smallest size. No two in a row are alike, so a
# swapped or lost piece shows.
LARGE = bytes(range(250)) * 4
_ENOUGH = 100


# --- to the target


def sender(peer: Peer, address: Any, channel: int = 0, **fields: Any) -> Link:
    """A link to a node on which the target has given credit."""
    link = peer.sender(address, channel, **fields)
    peer.credit_for(link)
    return link


def credit_at_once(peer: Peer, link: Link, count: int) -> None:
    """Wait for credit for this many deliveries; raises OutOfReach if the target gives less at a time."""
    try:
        peer.credit_for(link, count)
    except Unmet as unmet:
        if peer.is_over() or not link.is_attached:
            raise
        raise OutOfReach(f"the target gives credit for {link.credit}, the case needs {count}") from unmet


def octets_of(body: bytes) -> bytes:
    """A message of one data section."""
    return encode_message(data=body)


def cut(octets: bytes, count: int) -> list[bytes]:
    """Octets in this many pieces, none of them empty."""
    step = -(-len(octets) // count)
    return [octets[at : at + step] for at in range(0, len(octets), step)]


def piece(peer: Peer, link: Link, octets: bytes = b"", **fields: Any) -> Outgoing:
    """Send one transfer with just these flags; the first of a delivery gets its id, tag and format filled in."""
    # Credit counts deliveries: only the first transfer of one needs it. The session's
    # window counts every transfer.
    if link.sending is None:
        peer.credit_for(link)
    _window_for(peer, link)
    before = link.sending
    peer.send("transfer", link.session.channel, payload=octets, **{"handle": link, **fields})
    return owed(before or link.last_outgoing, "an attached link")


def _window_for(peer: Peer, link: Link) -> None:
    """Wait until the target takes one more transfer; raises OutOfReach if it does not report that."""
    session = link.session
    try:
        peer.until(lambda: session.remote_incoming_window > 0, "room in the window", link=link)
    except Unmet as unmet:
        if peer.is_over() or session.ended_by is not None or link.detached_by is not None:
            raise
        raise OutOfReach("the target's incoming window stays closed") from unmet


def pieces(peer: Peer, link: Link, octets: list[bytes], *flags: dict[str, Any]) -> Outgoing:
    """Send a delivery in as many transfers as there are octets, ``more`` on all but the last; flags for each."""
    for number, payload in enumerate(octets):
        more = number + 1 < len(octets) or OMIT
        own = flags[number] if number < len(flags) else {}
        outgoing = piece(peer, link, payload, **{"more": more, **own})
    return outgoing


def put(peer: Peer, address: Any, *bodies: bytes, channel: int = 0) -> None:
    """Put messages into a node over a separate link; raises Unmet if one is not accepted."""
    link = peer.sender(address, channel)
    for body in bodies:
        outgoing = peer.outcome(peer.transfer(link, body))
        if outgoing.result != "accepted":
            raise Unmet("accepted", outgoing.result)
    peer.detach(link)


# --- from the target


def body_of(delivery: Delivery) -> Any:
    """The body of a message, or what is wrong with it."""
    try:
        return delivery.body
    except Unmet as error:
        return str(error)


def contents(peer: Peer, address: Any, at_least: int = 0, channel: int = 0) -> list[Any]:
    """The bodies of what a node holds, taken out: up to a marker put after them, and at least as many as expected."""
    marker = peer.name("marker").encode()
    put(peer, address, marker, channel=channel)
    link = peer.receiver(address, channel, credit=_ENOUGH)
    found: list[Any] = []
    seen = False
    # All that was in the node comes before the marker. What a link gives back on detach may arrive after
    # it, so cases say how much of that they wait for.
    while not seen or len(found) < at_least:
        try:
            delivery = peer.delivery(link)
        except Unmet:
            if seen:
                break
            raise
        if not delivery.settled:
            peer.disposition(delivery)
        if body_of(delivery) == marker:
            seen = True
        else:
            found.append(body_of(delivery))
    peer.detach(link)
    return found


def after_leaving(peer: Peer, address: Any, at_least: int = 0) -> list[Any]:
    """What a node holds for another connection, once this one is closed cleanly and its socket is gone."""
    peer.close()
    # Some targets give back what was unsettled only when the socket is gone.
    peer.hang_up()
    return contents(peer.another(), address, at_least)


def received(peer: Peer, address: Any, count: int, **fields: Any) -> tuple[Link, list[Delivery]]:
    """A receiving link and the first deliveries on it, for which it had just the credit."""
    # Credit for exactly this many: nothing else is taken from the node and held.
    link = peer.receiver(address, credit=count, **fields)
    return link, peer.deliveries(link, count)


def unsettled(peer: Peer, address: Any, *bodies: bytes, **fields: Any) -> tuple[Link, list[Delivery]]:
    """These messages as unsettled deliveries on a link that asked for that; raises Unmet if they come settled."""
    put(peer, address, *bodies)
    link, deliveries = received(peer, address, len(bodies), **{"snd_settle_mode": "unsettled", **fields})
    if any(delivery.settled for delivery in deliveries):
        raise Unmet("unsettled deliveries", "settled ones")
    return link, deliveries


def large_delivery(peer: Peer, **fields: Any) -> tuple[Link, Delivery]:
    """A message of the target that is larger than the frames that it may send; raises Unmet for a shorter way."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    address = peer.node()
    put(peer, address, LARGE)
    link, (delivery,) = received(peer, address, 1, **fields)
    if len(delivery.transfers) < 2:
        raise Unmet("a delivery in several transfers", "a single transfer")
    return link, delivery


# --- settle modes


def in_mode_second(peer: Peer, role: str, address: Any, **fields: Any) -> Link:
    """A link on which the receiver settles second; raises OutOfReach if the target does not offer that."""
    try:
        link = peer.attach(role, address, **{"rcv_settle_mode": "second", **fields})
    except Unmet as unmet:
        raise left_out(unmet, "the target refuses rcv-settle-mode second") from unmet
    # The target's attach says which mode it really uses (amqp-1.0 §2.7.3); second is no duty.
    if owed(link.attached, "attach")["rcv_settle_mode"] != SECOND_MODE:
        raise OutOfReach("the target answers rcv-settle-mode second with first", link.attached)
    return link


def told_by_now(peer: Peer) -> None:
    """A round trip of dispositions: everything that the target had to report about earlier deliveries of this
    session has arrived.
    """
    put(peer, peer.node("told"), b"behind all others")


def dispositions(peer: Peer, *, by_sender: bool, channel: int = 0) -> list[FrameArrived]:
    """The dispositions of the target in one role that have arrived and were not taken yet."""
    return [d for d in peer.pending("disposition", channel=channel) if (d["role"] is False) == by_sender]
