"""Loads of AMQP 1.0: links, sessions, deliveries that are not settled, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.fuzz.amqp_1_0.sequences.contention import ASKING, NODE
from amqpspec.fuzz.sequences.contention import contended
from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.shapes import Client, Sending, in_groups, nothing, slow_reader
from amqpspec.fuzz.sequences.step import Hold, Load
from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Context

_LARGE, _LINKS, _SESSIONS = b"x" * (4 << 10), 32, 8


_CLIENT = Client(Peer, lambda peer: peer.begin(0), Peer.barrier, Peer.close)


def _begun(peer: Peer, place: None, number: int) -> int:
    peer.begin(1 + number)
    return 1 + number


@dataclass(slots=True)
class _Place:
    """A node, and a link to it that is attached with the first message."""

    address: str
    link: Link | None = None


def _send(peer: Peer, place: _Place, body: bytes) -> None:
    """A message that is accepted."""
    link = place.link = place.link or peer.sender(place.address)
    peer.credit_for(link)
    peer.outcome(peer.transfer(link, body))


def _empty(peer: Peer, place: _Place, count: int) -> None:
    """Receive this many messages from a node."""
    link = peer.receiver(place.address, credit=count)
    for delivery in peer.deliveries(link, count):
        if not delivery.settled:
            peer.disposition(delivery)
    peer.barrier()
    peer.detach(link)


_SENDING = Sending(lambda peer: _Place(peer.node("load")), _send, _empty)


def _unsettled(context: Context, count: int, hold: Hold) -> None:
    """Deliveries that are held unsettled when the connection is reset; then they are accepted elsewhere."""
    with _CLIENT.at_work(context) as source:
        place, held = _SENDING.prepare(source), max(1, count // 8)
        octets = _SENDING.burst(source, place, held, _LARGE)
        with _CLIENT.at_work(context, closes=False) as holder:
            holder.deliveries(holder.receiver(place.address, credit=count), held)
            hold(octets)
            end_by_reset(holder.transport)
        _empty(source, place, held)


LOADS: dict[str, Load] = {
    "links detached": in_groups(
        _CLIENT,
        _LINKS,
        lambda peer: peer.node("load"),
        lambda peer, address, number: peer.attach(("sender", "receiver")[number % 2], address),
        Peer.detach,
        share=4,
    ),
    "sessions ended": in_groups(_CLIENT, _SESSIONS, nothing, _begun, Peer.end),
    "deliveries not settled": _unsettled,
    "one node for several": contended(_CLIENT, ASKING, NODE),
    "slow reader": slow_reader(
        _CLIENT, _SENDING, _LARGE, lambda peer, place, count: peer.receiver(place.address, credit=count)
    ),
}
