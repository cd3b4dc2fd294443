"""Verbs of messages in AMQP 0-10: transfers, subscriptions, credit, outcomes, transactions.

Knows: desks and books. Must not know: how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from amqpspec.fuzz.amqp_0_10.sequences.books import (
    BROWSE,
    CREDIT,
    EXPLICIT,
    NONE,
    UNBOUNDED,
    WINDOW,
    Held,
    Seat,
    Sent,
    Subscription,
    Work,
)
from amqpspec.fuzz.amqp_0_10.sequences.desk import AssemblyDesk as Desk
from amqpspec.fuzz.amqp_0_10.sequences.sessions import KEYS, SHARED, on_seat, usable
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy
from amqpspec.fuzz.sequences.world import Args, Table, Verb

_SUBSCRIPTIONS, _COUNTS = 3, (1, 2, 5)
_FLOWS = {CREDIT: 0, WINDOW: 1}

# --- publishing


def _targets(desk: Desk) -> Iterable[Args]:
    for count in _COUNTS[:2]:
        for seat in desk.books.attached:
            # What a key leads to may change before the commit, and nothing says which bindings count.
            keys = KEYS if desk.exchange and seat.work is None else ()
            yield from ((seat.name, target, count) for target in (*usable(desk, seat), *keys))


def sent(desk: Desk, seat: Seat, target: str, count: int) -> list[Sent]:
    """Messages in one write."""
    if target in SHARED:
        desk.stock(seat, target)
    is_key, found, octets = target in KEYS, list[Sent](), b""
    address = target if is_key else desk.books.stocks[target].address
    for _ in range(count):
        number = desk.books.number()
        octets += desk.octets(seat, number, address, desk.exchange if is_key else "")
        found.append(Sent(desk.peer(seat).number(seat.session.channel) or 0, number, address))
    desk.peer(seat).send_octets(octets)
    return found


def _publish(desk: Desk, seat: Seat, target: str, count: int) -> None:
    booked(desk, seat, target, count)
    desk.settled(seat)


def booked(desk: Desk, seat: Seat, target: str, count: int) -> list[Copy]:
    """Publish, at once or with the transaction; gives the copies."""
    found = sent(desk, seat, target, count)
    if seat.work is not None:
        seat.work.published += [(one.number, desk.books.stocks[target]) for one in found]
        return []
    return [copy for one in found for copy in desk.books.routed(one.number, target)]


# --- subscriptions


def _subscribable(desk: Desk) -> Iterable[Args]:
    for flow in (CREDIT, WINDOW):
        for seat in desk.books.attached:
            kinds = (EXPLICIT, BROWSE) if seat.work else (EXPLICIT, NONE, BROWSE)
            for queue in usable(desk, seat) if len(seat.subscriptions) < _SUBSCRIPTIONS else ():
                yield from ((seat.name, queue, kind, flow) for kind in kinds)


def _subscribe(desk: Desk, seat: Seat, queue: str, kind: str, flow: str) -> None:
    destination = desk.books.name("d")
    stock = desk.stock(seat, queue)
    seat.subscriptions[destination] = Subscription(destination, stock, kind, flow)
    desk.call(
        seat, "message.subscribe", queue=stock.address, destination=destination,
        accept_mode=int(kind == NONE), acquire_mode=int(kind == BROWSE),
    )  # fmt: skip
    desk.call(seat, "message.set-flow-mode", destination=destination, flow_mode=_FLOWS[flow])
    desk.peer(seat).flow(destination, seat.session.channel, octets=UNBOUNDED)


def subscriptions(desk: Desk) -> list[tuple[Seat, Subscription]]:
    """All subscriptions of attached sessions."""
    return [(seat, sub) for seat in desk.books.attached for sub in seat.subscriptions.values()]


def _creditable(desk: Desk) -> Iterable[Args]:
    """Numbers of messages; 0 is credit without end."""
    return [(seat.name, sub.name, n) for n in (*_COUNTS, 0) for seat, sub in subscriptions(desk)]


def flow(desk: Desk, seat: Seat, destination: str, count: int) -> None:
    """Credit for this many messages, or unlimited credit."""
    subscription = seat.subscriptions[destination]
    if not count or subscription.credit == UNBOUNDED:
        subscription.credit = UNBOUNDED
    else:
        subscription.credit += count
    desk.peer(seat).flow(destination, seat.session.channel, messages=count or UNBOUNDED)
    desk.settled(seat)
    desk.settle()


def _each(desk: Desk) -> Iterable[Args]:
    return [(seat.name, sub.name) for seat, sub in subscriptions(desk)]


def _stop(desk: Desk, seat: Seat, destination: str) -> None:
    """All credit is revoked; no message may be in transit then (message.stop)."""
    desk.call(seat, "message.stop", destination=destination)
    _without_credit(desk, seat, seat.subscriptions[destination])


def _flush(desk: Desk, seat: Seat, destination: str) -> None:
    """What credit allows is transferred, then there is none (message.flush)."""
    desk.call(seat, "message.flush", destination=destination)
    _without_credit(desk, seat, seat.subscriptions[destination])


def _without_credit(desk: Desk, seat: Seat, subscription: Subscription) -> None:
    subscription.credit = 0
    # In both units: the next flow must be enough for messages of any size.
    desk.peer(seat).flow(subscription.name, seat.session.channel, octets=UNBOUNDED)
    # What was transferred before goes back into no window.
    seat.open = {number: sub for number, sub in seat.open.items() if sub is not subscription}


def cancel(desk: Desk, seat: Seat, destination: str) -> None:
    """A subscription ends; its transfers stay (message.cancel)."""
    desk.call(seat, "message.cancel", destination=destination)
    stock = seat.subscriptions.pop(destination).stock
    if stock.name in desk.books.owners and not desk.books.subscriptions_of(stock):
        desk.books.drop(stock.name)  # the last subscription to an auto-delete queue is gone (queue.declare)


def _opening(desk: Desk) -> Iterable[Args]:
    return [(seat.name,) for seat in desk.books.attached if seat.open]


def _complete(desk: Desk, seat: Seat) -> None:
    """Transfers are completed, whatever happens to them: windows open."""
    ids = list(seat.open)
    seat.completed()
    desk.peer(seat).complete(ids, seat.session.channel)
    desk.settled(seat)


# --- outcomes


def _acquired(desk: Desk) -> Iterable[Args]:
    for seat in desk.books.attached:
        yield from ((seat.name, number) for number, held in seat.held.items() if held.acquired)


def _acquired_outside(desk: Desk) -> Iterable[Args]:
    return [(name, number) for name, number in _acquired(desk) if desk.books.seats[str(name)].work is None]


def ranges(number: int) -> tuple[tuple[int, int], ...]:
    """A set of one id."""
    return ((number, number),)


def _accept(desk: Desk, seat: Seat, number: int) -> None:
    held = seat.held.pop(number)
    desk.call(seat, "message.accept", transfers=ranges(number))
    if seat.work is not None:
        seat.work.accepted[number] = held
    else:
        held.copy.stock.drop(held.copy, "accepted")


def _reject(desk: Desk, seat: Seat, number: int) -> None:
    held = seat.held.pop(number)
    desk.call(seat, "message.reject", transfers=ranges(number), code=0)
    held.copy.stock.drop(held.copy, "rejected")


def _release(desk: Desk, seat: Seat, number: int, *, marked: bool) -> None:
    """A message is returned, and may be delivered again immediately."""
    held = seat.held.pop(number)
    held.copy.stock.give_back(held.copy, marked=marked)
    desk.call(seat, "message.release", transfers=ranges(number), set_redelivered=marked)


def _shown(desk: Desk) -> Iterable[Args]:
    for seat in desk.books.attached:
        shown = [number for number, held in seat.held.items() if not held.acquired]
        yield from ((seat.name, number) for number in shown if seat.work is None)


def _acquire(desk: Desk, seat: Seat, number: int) -> None:
    """A message that was shown is acquired if no one else has it: the result shows it (message.acquire)."""
    copy = seat.held[number].copy
    is_there, is_sure = copy in copy.stock.ready, not (copy.unsure or desk.books.is_doubtful(copy.stock))
    result = desk.call(seat, "message.acquire", transfers=ranges(number))
    got = bool(result.fields.get("transfers"))
    # One that went back keeps no claim to be the message that was shown.
    if (got and not is_there) or (is_there and is_sure and copy.fresh and not got):
        wanted = f"m{copy.number} acquired" if is_there else "nothing acquired"
        raise Violation("wrong result of acquire", wanted, str(result.fields.get("transfers")))
    if got:
        copy.stock.take(copy.body)
        seat.held[number] = Held(copy)


# --- transactions


def _selectable(desk: Desk) -> Iterable[Args]:
    for seat in desk.books.attached:
        kinds = {sub.kind for sub in seat.subscriptions.values()}
        if seat.work is None and NONE not in kinds:
            yield (seat.name,)


def _select(desk: Desk, seat: Seat) -> None:
    desk.call(seat, "tx.select")
    seat.work = Work()


def _working(desk: Desk) -> Iterable[Args]:
    return [(seat.name,) for seat in desk.books.attached if seat.work is not None]


def _commit(desk: Desk, seat: Seat) -> None:
    work, seat.work = seat.work or Work(), Work()
    desk.books.committed(work)
    desk.call(seat, "tx.commit")


def _rollback(desk: Desk, seat: Seat) -> None:
    """What was published is forgotten; what was accepted is still acquired (tx.rollback)."""
    work, seat.work = seat.work or Work(), Work()
    desk.call(seat, "tx.rollback")
    seat.held |= work.accepted


VERBS: Table[Desk] = {
    "publish": Verb(_targets, on_seat(_publish), 8),
    "subscribe": Verb(_subscribable, on_seat(_subscribe), 4),
    "flow": Verb(_creditable, on_seat(flow), 5),
    "stop": Verb(_each, on_seat(_stop)),
    "flush": Verb(_each, on_seat(_flush)),
    "cancel": Verb(_each, on_seat(cancel)),
    "complete": Verb(_opening, on_seat(_complete), 3),
    "accept": Verb(_acquired, on_seat(_accept), 4),
    "release": Verb(_acquired_outside, on_seat(partial(_release, marked=False)), 2),
    "release-marked": Verb(_acquired_outside, on_seat(partial(_release, marked=True))),
    "reject": Verb(_acquired_outside, on_seat(_reject)),
    "acquire": Verb(_shown, on_seat(_acquire), 3),
    "select": Verb(_selectable, on_seat(_select), 2),
    "commit": Verb(_working, on_seat(_commit), 3),
    "rollback": Verb(_working, on_seat(_rollback), 3),
}
