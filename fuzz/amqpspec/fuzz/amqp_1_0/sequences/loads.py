"""Loads of AMQP 1.0: links, sessions, deliveries that are not settled, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Load
from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Context

_LARGE, _LINKS, _SESSIONS = b"x" * (4 << 10), 32, 8


@contextmanager
def _session(context: Context, *, closes: bool = True) -> Iterator[Peer]:
    """A connection with a session, closed in good order or hung up."""
    peer = Peer(context)
    try:
        peer.begin(0)
        yield peer
        if closes:
            peer.close()
    finally:
        peer.hang_up()


def _links(context: Context, count: int) -> None:
    """Links of both roles, many at once, each detached again."""
    with _session(context) as peer:
        address = peer.node("load")
        for _ in range(max(1, count // 4 // _LINKS)):
            roles = ("sender", "receiver") * (_LINKS // 2)
            links = [peer.attach(role, address) for role in roles]
            for link in links:
                peer.detach(link)


def _sessions(context: Context, count: int) -> None:
    """Sessions, several at once, each ended again."""
    with _session(context) as peer:
        for _ in range(max(1, count // _SESSIONS)):
            for channel in range(1, 1 + _SESSIONS):
                peer.begin(channel)
            for channel in range(1, 1 + _SESSIONS):
                peer.end(channel)


def _sent(peer: Peer, link: Link, count: int) -> None:
    """Messages that are accepted."""
    for _ in range(count):
        peer.credit_for(link)
        peer.outcome(peer.transfer(link, _LARGE))


def _emptied(peer: Peer, address: object, count: int) -> None:
    """So many messages are taken out of a node."""
    link = peer.receiver(address, credit=count)
    for delivery in peer.deliveries(link, count):
        if not delivery.settled:
            peer.disposition(delivery)
    peer.barrier()
    peer.detach(link)


def _unsettled(context: Context, count: int) -> None:
    """Deliveries that are held unsettled when the connection is reset; then they are accepted elsewhere."""
    with _session(context) as source:
        address = source.node("load")
        held = max(1, count // 8)
        _sent(source, source.sender(address), held)
        with _session(context, closes=False) as holder:
            link = holder.receiver(address, credit=count)
            holder.deliveries(link, held)
            end_by_reset(holder.transport)
        _emptied(source, address, held)


def _slow_reader(context: Context, count: int) -> None:
    """A receiver with credit that never reads, its window shut; then it is gone."""
    with _session(context) as source:
        address = source.node("load")
        sent = max(1, count // 4)
        with _session(context, closes=False) as slow:
            slow.receiver(address, credit=count)
            _sent(source, source.sender(address), sent)
            end_by_reset(slow.transport)
        _emptied(source, address, sent)


LOADS: dict[str, Load] = {
    "links detached": _links,
    "sessions ended": _sessions,
    "deliveries not settled": _unsettled,
    "slow reader": _slow_reader,
}
