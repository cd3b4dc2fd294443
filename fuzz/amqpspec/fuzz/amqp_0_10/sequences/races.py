"""Races in AMQP 0-10: simultaneous actions, and connections that end just after data was sent.

Knows: desks and books. Must not know: how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.fuzz.amqp_0_10.sequences.books import BROWSE, NONE, Seat, Work
from amqpspec.fuzz.amqp_0_10.sequences.desk import AssemblyDesk as Desk
from amqpspec.fuzz.amqp_0_10.sequences.messages import booked, cancel, flow, ranges, sent, subscriptions
from amqpspec.fuzz.amqp_0_10.sequences.sessions import on_seat, usable
from amqpspec.fuzz.sequences.stock import Stock
from amqpspec.fuzz.sequences.world import Args, Table, Verb

_BURST = 3


def _outside(desk: Desk) -> Iterable[Args]:
    for seat in desk.books.attached:
        if seat.work is None:
            yield from ((seat.name, queue) for queue in usable(desk, seat))


def _unsure(desk: Desk, seat: Seat, queue: str) -> None:
    """Messages of which no one knows whether they arrive; a lasting session can send them again."""
    for one in sent(desk, seat, queue, _BURST):
        copies, stock = desk.books.routed(one.number, queue), desk.books.stocks[queue]
        stock.unsettle(copies)
        # What such a subscription was sent at once is gone with the connection, and not sent there again.
        one.copies = [] if _is_emptied(desk, seat, stock) else copies
        seat.replay.append(one)


def _is_emptied(desk: Desk, seat: Seat, stock: Stock) -> bool:
    """Whether a subscription without accepts, on the same connection, may have removed messages from a queue."""
    beside = [other for other in desk.books.attached if other.peer == seat.peer]
    subs = [sub for other in beside for sub in other.subscriptions.values()]
    return any(sub.stock is stock and sub.kind == NONE for sub in subs)


def _publish_reset(desk: Desk, seat: Seat, queue: str) -> None:
    """Messages are sent, and the connection reset at once.

    A lasting session sends them again when it is attached again: each arrives once (pdf 3.5.2).
    """
    _unsure(desk, seat, queue)
    desk.reset(seat.peer)


def _accept_reset(desk: Desk, seat: Seat) -> None:
    """Everything is accepted, and the connection reset at once: each message is gone or goes back."""
    numbers = [number for number, held in seat.held.items() if held.acquired]
    for number in numbers:
        desk.peer(seat).send("message.accept", seat.session.channel, transfers=ranges(number))
    for number in numbers:
        held = seat.held.pop(number)
        held.copy.stock.give_back(held.copy, unsure=True)
    desk.reset(seat.peer)


def _accepting(desk: Desk) -> Iterable[Args]:
    for seat in desk.books.attached:
        if not seat.lasting and seat.work is None and any(held.acquired for held in seat.held.values()):
            yield (seat.name,)


def _commit_reset(desk: Desk, seat: Seat) -> None:
    """A commit, and the connection reset at once: all of it took effect, or nothing."""
    work, seat.work = seat.work or Work(), None
    for copy in desk.books.committed(work):
        copy.stock.unsettle([copy])
    for held in work.accepted.values():
        held.copy.stock.give_back(held.copy, unsure=True)
    desk.peer(seat).send("tx.commit", seat.session.channel)
    desk.reset(seat.peer)


def _committing(desk: Desk) -> Iterable[Args]:
    return [(seat.name,) for seat in desk.books.attached if seat.work is not None and not seat.lasting]


def _fed(desk: Desk) -> Iterable[Args]:
    """A subscription that acquires, and a session of another connection that may publish to its queue."""
    for seat, sub in subscriptions(desk):
        for source in desk.books.attached if sub.kind != BROWSE else ():
            is_free = source.peer != seat.peer and source.work is None
            if is_free and sub.stock.name in usable(desk, source):
                yield seat.name, sub.name, source.name


def _feed(desk: Desk, seat: Seat, destination: str, source: str) -> Seat:
    """Messages in flight to a subscription with credit, which is about to end."""
    publisher = desk.books.seats[source]
    subscription = seat.subscriptions[destination]
    flow(desk, seat, destination, 0)
    for copy in booked(desk, publisher, subscription.stock.name, _BURST):
        copy.fresh = False
    return publisher


def _cancel_beside(desk: Desk, seat: Seat, destination: str, source: str) -> None:
    """Messages arrive while a subscription is cancelled: those that arrived before stay with the session."""
    publisher = _feed(desk, seat, destination, source)
    cancel(desk, seat, destination)
    desk.settled(publisher)


def _detach_beside(desk: Desk, seat: Seat, destination: str, source: str) -> None:
    """Messages arrive while a session is detached."""
    publisher = _feed(desk, seat, destination, source)
    desk.detach(seat)
    if not seat.lasting:
        desk.ended(seat)
    desk.settled(publisher)


def _half_closed(desk: Desk, seat: Seat, queue: str) -> None:
    """Messages are sent, and the sending side of the connection closed: they arrive, or the first of them."""
    _unsure(desk, seat, queue)
    peer, number = desk.peer(seat), seat.peer
    peer.transport.half_close()
    peer.expect_end()
    desk.reset(number)


VERBS: Table[Desk] = {
    "publish-then-reset": Verb(_outside, on_seat(_publish_reset)),
    "publish-then-half-close": Verb(_outside, on_seat(_half_closed)),
    "accept-then-reset": Verb(_accepting, on_seat(_accept_reset)),
    "commit-then-reset": Verb(_committing, on_seat(_commit_reset)),
    "cancel-beside-publish": Verb(_fed, on_seat(_cancel_beside), 2),
    "detach-beside-publish": Verb(_fed, on_seat(_detach_beside), 2),
}
