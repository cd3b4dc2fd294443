"""Verbs of connections, sessions and queues in AMQP 0-10, and what has to be refused.

Knows: desks and books. Must not know: messages, how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from amqpspec.fuzz.amqp_0_10.sequences.books import Seat
from amqpspec.fuzz.amqp_0_10.sequences.desk import AssemblyDesk as Desk
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.world import Args, Table, Verb
from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived

SHARED, EXCLUSIVE, KEYS = ("q0", "q1"), "e0", ("k0", "k1")
_PEERS, _SESSIONS = 3, 2
_ENDS = ("session.detached", "session.detach")
NOT_FOUND, LOCKED, DELETED, ILLEGAL_STATE = 404, 405, 408, 409


def usable(desk: Desk, seat: Seat) -> list[str]:
    """Queues that a session may use, whether they are declared yet or not."""
    own = [queue for queue, owner in desk.books.owners.items() if owner == seat.name]
    return [*SHARED, *own]


def on_seat(act: Callable[..., None]) -> Callable[..., None]:
    """A verb of a session, which steps call by its name."""
    return lambda desk, name, *args: act(desk, desk.books.seats[name], *args)


def connections(desk: Desk) -> list[int]:
    """The connections of the program."""
    return sorted(number for number in desk.peers if number > 0)


def _with_room(desk: Desk) -> list[int]:
    busy = [seat.peer for seat in desk.books.attached]
    return [number for number in connections(desk) if busy.count(number) < _SESSIONS]


# --- connections


def _connections(desk: Desk) -> Iterable[Args]:
    return [(n,) for n in connections(desk)]


def _leave(desk: Desk, number: int) -> None:
    """A connection closes without detaching its sessions first."""
    seats = [seat for seat in desk.books.attached if seat.peer == number]
    desk.leave(number)
    for seat in seats:
        desk.unplug(seat)
    for seat in seats:
        if not seat.lasting:
            desk.ended(seat)


# --- sessions


def _attachable(desk: Desk) -> Iterable[Args]:
    kinds = ("brief", "lasting") if desk.resumes else ("brief",)
    return [(n, kind) for kind in kinds for n in _with_room(desk)]


def _attach(desk: Desk, number: int, kind: str) -> None:
    desk.attach(number, lasting=kind == "lasting")


def _attached(desk: Desk) -> Iterable[Args]:
    return [(seat.name,) for seat in desk.books.attached]


def _detach(desk: Desk, seat: Seat) -> None:
    desk.detach(seat)
    if not seat.lasting:
        desk.ended(seat)


def _detached(desk: Desk) -> Iterable[Args]:
    away = [seat.name for seat in desk.books.seats.values() if not seat.peer]
    return [(name, n) for name in away for n in _with_room(desk)]


def _elsewhere(desk: Desk) -> Iterable[Args]:
    return [(seat.name, n) for seat in desk.books.attached for n in _with_room(desk) if n != seat.peer]


def _take_over(desk: Desk, seat: Seat, number: int) -> None:
    """The same session on another connection by force: the first one loses it (session.attach.force)."""
    first, channel = desk.peer(seat), seat.session.channel
    desk.unplug(seat)
    desk.resume(seat, number)
    desk.owed("session not taken away", lambda: first.expect(*_ENDS, channel=channel))


def _attach_twice(desk: Desk, seat: Seat, number: int) -> None:
    """The same name on two connections without force: the second one is refused (session.attach)."""
    peer, channel = desk.peers[number], desk.free_channel(number)
    peer.send("session.attach", channel, name=seat.session.name)
    answer = peer.arrival("session.attached", channel=channel)
    if not isinstance(answer, AssemblyArrived) or answer.code != "session-busy":
        raise Violation(
            "session attached twice", "session.detached session-busy", answer.describe(peer.dialect)
        )
    desk.settled(seat)


# --- queues, bindings


def _declarable(desk: Desk) -> Iterable[Args]:
    if EXCLUSIVE in desk.books.stocks:
        return []
    return [(seat.name, EXCLUSIVE) for seat in desk.books.attached]


def _places(desk: Desk) -> Iterable[Args]:
    """Each attached session with each queue that is there and that it may use."""
    for seat in desk.books.attached:
        for queue in usable(desk, seat):
            if queue in desk.books.stocks:
                yield seat.name, queue


def _is_used(desk: Desk, queue: str) -> bool:
    return bool(desk.books.subscriptions_of(desk.books.stocks[queue]))


def _deletable(desk: Desk) -> Iterable[Args]:
    return [(seat, queue) for seat, queue in _places(desk) if not _is_used(desk, str(queue))]


def _delete(desk: Desk, seat: Seat, queue: str) -> None:
    stock = desk.books.stocks[queue]
    desk.call(seat, "queue.delete", queue=stock.address)
    desk.books.drop(queue)
    if desk.query(stock.address).get("queue") is not None:
        raise Violation("queue there after delete", "no such queue", "it is still there")


def _purge(desk: Desk, seat: Seat, queue: str) -> None:
    stock = desk.books.stocks[queue]
    desk.call(seat, "queue.purge", queue=stock.address)
    for copy in stock.ready:
        stock.drop(copy, "purged")
    stock.ready = []
    desk.count(stock)


def _purgeable(desk: Desk) -> Iterable[Args]:
    stocks = desk.books.stocks
    return [(seat, queue) for seat, queue in _places(desk) if not desk.books.is_doubtful(stocks[str(queue)])]


def _bindable(desk: Desk) -> Iterable[Args]:
    for seat, queue in _places(desk):
        for key in KEYS:
            if (str(queue), key) not in desk.books.bindings:
                yield seat, queue, key


def _bind(desk: Desk, seat: Seat, queue: str, key: str) -> None:
    if not desk.exchange:
        desk.exchange = desk.owed(
            "exchange not declared", lambda: desk.peer(seat).exchange("direct", seat.session.channel)
        )
    address = desk.books.stocks[queue].address
    desk.call(seat, "exchange.bind", exchange=desk.exchange, queue=address, binding_key=key)
    desk.books.bindings.add((queue, key))


def _bound(desk: Desk) -> Iterable[Args]:
    for seat, queue in _places(desk):
        for key in KEYS:
            if (str(queue), key) in desk.books.bindings:
                yield seat, queue, key


def _unbind(desk: Desk, seat: Seat, queue: str, key: str) -> None:
    address = desk.books.stocks[queue].address
    desk.call(seat, "exchange.unbind", exchange=desk.exchange, queue=address, binding_key=key)
    desk.books.bindings.discard((queue, key))


# --- what has to be refused


def refused(desk: Desk, seat: Seat, code: int, what: str) -> None:
    """The session ends with an exception of this code; raises Violation."""
    peer, channel, seat.is_ending = desk.peer(seat), seat.session.channel, True
    answer = peer.arrival("execution.exception", channel=channel)
    if not isinstance(answer, AssemblyArrived) or answer["error_code"] != code:
        raise Violation(f"{what} not refused", f"execution.exception {code}", answer.describe(peer.dialect))
    for transfer in peer.pending("message.transfer", channel=channel):
        seat.arrived(transfer, "")
    desk.unplug(seat)
    desk.owed("session not ended", lambda: peer.expect(*_ENDS, channel=channel))
    desk.ended(seat)


def _subscribe_nothing(desk: Desk, seat: Seat) -> None:
    desk.peer(seat).send(
        "message.subscribe", seat.session.channel, sync=True,
        queue=desk.context.name("none"), destination="d", accept_mode=0, acquire_mode=0,
    )  # fmt: skip
    refused(desk, seat, NOT_FOUND, "subscription to no queue")


def _strangers(desk: Desk) -> Iterable[Args]:
    owners = desk.books.owners
    return [
        (seat.name, queue)
        for seat in desk.books.attached
        for queue, owner in owners.items()
        if owner != seat.name
    ]


def _subscribe_locked(desk: Desk, seat: Seat, queue: str) -> None:
    desk.peer(seat).send(
        "message.subscribe", seat.session.channel, sync=True,
        queue=desk.books.stocks[queue].address, destination="d", accept_mode=0, acquire_mode=0,
    )  # fmt: skip
    refused(desk, seat, LOCKED, "use of an exclusive queue")


def _without_work(desk: Desk) -> Iterable[Args]:
    return [(seat.name,) for seat in desk.books.attached if seat.work is None]


def _commit_nothing(desk: Desk, seat: Seat) -> None:
    desk.peer(seat).send("tx.commit", seat.session.channel, sync=True)
    refused(desk, seat, ILLEGAL_STATE, "commit without transactions")


VERBS: Table[Desk] = {
    "connect": Verb(lambda desk: desk.unused(_PEERS), Desk.connect, 2),
    "attach": Verb(_attachable, _attach, 4),
    "declare": Verb(_declarable, on_seat(partial(Desk.declare, exclusive=True)), 2),
    "purge": Verb(_purgeable, on_seat(_purge)),
    "delete": Verb(_deletable, on_seat(_delete)),
    "bind": Verb(_bindable, on_seat(_bind), 2),
    "unbind": Verb(_bound, on_seat(_unbind)),
    "detach": Verb(_attached, on_seat(_detach), 2),
    "resume": Verb(_detached, on_seat(Desk.resume), 3),
    "take-over": Verb(_elsewhere, on_seat(_take_over)),
    "attach-twice": Verb(_elsewhere, on_seat(_attach_twice)),
    "subscribe-no-queue": Verb(_attached, on_seat(_subscribe_nothing)),
    "subscribe-locked": Verb(_strangers, on_seat(_subscribe_locked)),
    "commit-nothing": Verb(_without_work, on_seat(_commit_nothing)),
    "leave": Verb(_connections, _leave),
    "reset": Verb(_connections, Desk.reset),
}
