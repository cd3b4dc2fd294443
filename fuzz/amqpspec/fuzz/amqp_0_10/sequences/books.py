"""The books of a program of AMQP 0-10: sessions, what they subscribe to and hold, what queues hold.

Knows: the rules of transfers and sessions (0-10 message, tx, session). Must not know: how a step is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy, Stock, Words, in_order
from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session

EXPLICIT, NONE, BROWSE = "explicit", "none", "browse"
CREDIT, WINDOW = "credit", "window"
UNBOUNDED = 0xFFFFFFFF
GONE = "session ended"


@dataclass(eq=False, slots=True)
class Subscription:
    """A subscription; ``seen`` are the messages that one in mode not-acquired was shown."""

    name: str
    stock: Stock
    kind: str
    flow: str
    credit: int = 0
    last: int = 0
    seen: set[int] = field(default_factory=set)

    def charge(self, copy: Copy) -> None:
        """One more transfer; raises Violation."""
        if not self.credit:
            raise Violation(
                "delivered without credit", "no transfer without credit", f"m{copy.number} for {self.name}"
            )
        self.credit -= self.credit != UNBOUNDED

    def owed(self) -> list[Copy]:
        """Copies that have to be transferred, if no one else gets them."""
        if not self.credit:
            return []
        if self.kind != BROWSE:
            return self.stock.certain
        return [copy for copy in self.stock.certain if copy.fresh and copy.number not in self.seen]


@dataclass(eq=False, slots=True)
class Held:
    """A transfer without an outcome; one in mode not-acquired is still in its queue."""

    copy: Copy
    acquired: bool = True


@dataclass(eq=False, slots=True)
class Work:
    """A transaction in progress: what it publishes, and where to, and what it accepts."""

    published: list[tuple[int, Stock]] = field(default_factory=list)
    accepted: dict[int, Held] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Sent:
    """A message in progress: the id of its command, its number, the address, and the copies made of it."""

    command: int
    number: int
    address: str
    copies: list[Copy] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Seat:
    """A session. ``peer`` is the number of its connection, 0 if it is detached; ``lasting``: it outlives it.

    ``came`` are the transfers of the target by id; ``open`` those that are not completed; ``replay`` are messages that
    may have been lost with a connection.
    """

    name: str
    session: Session
    peer: int
    lasting: bool
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    came: dict[int, bytes] = field(default_factory=dict)
    held: dict[int, Held] = field(default_factory=dict)
    open: dict[int, Subscription] = field(default_factory=dict)
    work: Work | None = None
    replay: list[Sent] = field(default_factory=list)
    is_ending: bool = False
    """Whether it may be gone already, so that others may be given what it held."""

    def arrived(self, transfer: AssemblyArrived, holder: str) -> None:
        """A transfer has arrived; raises Violation."""
        number, body = transfer.id, transfer.body
        subscription = self.subscriptions.get(str(transfer["destination"] or ""))
        if number is None or (subscription is None and number not in self.came):
            raise Violation("transfer for no subscription", "a destination", str(transfer["destination"]))
        if number in self.came:
            if self.came[number] != body:
                raise Violation(
                    "another message with the same id", str(self.came[number][:40]), str(body[:40])
                )
            return
        assert subscription is not None
        self.came[number], self.open[number] = body, subscription
        if subscription.kind == BROWSE:
            self._shown(number, subscription, body)
        else:
            self._taken(number, subscription, transfer, holder)

    def _shown(self, number: int, subscription: Subscription, body: bytes) -> None:
        """An attempt to acquire a message that was shown; meanwhile, another session may have acquired it."""
        stock = subscription.stock
        copy = next((copy for copy in stock.ready if copy.body == body), None) or stock.left(body)
        subscription.charge(copy)
        subscription.seen.add(copy.number)
        self.held[number] = Held(copy, acquired=False)

    def _taken(self, number: int, subscription: Subscription, transfer: AssemblyArrived, holder: str) -> None:
        copy = subscription.stock.take(transfer.body, holder)
        subscription.charge(copy)
        subscription.last = in_order(subscription.last, copy)
        if copy.marked and not transfer.delivery.get("redelivered"):
            raise Violation(
                "redelivered is false", f"m{copy.number} marked as redelivered", "redelivered false"
            )
        if subscription.kind == NONE:
            subscription.stock.drop(copy, "delivered without accept")
        else:
            self.held[number] = Held(copy)

    def completed(self) -> None:
        """All transfers are complete here: windows open again."""
        for subscription in self.open.values():
            if subscription.flow == WINDOW and subscription.credit != UNBOUNDED:
                subscription.credit += 1
        self.open = {}

    def let_go(self, stock: Stock, body: bytes) -> None:
        """A message that it acquired goes back, if it has it."""
        for book in (self.held, self.work.accepted if self.work else {}):
            for number, held in list(book.items()):
                if held.acquired and held.copy.stock is stock and held.copy.body == body:
                    del book[number]
                    stock.give_back(held.copy, marked=True)

    def end(self, *, unsure: bool = False) -> None:
        """The session is gone: what it acquired and did not accept goes back (message.subscribe, tx)."""
        accepted = list(self.work.accepted.values()) if self.work else []
        for subscription in self.subscriptions.values():
            # What was in flight to it loses its place.
            for copy in subscription.stock.ready if subscription.credit else ():
                copy.fresh = False
        for held in (*self.held.values(), *accepted):
            if held.acquired:
                held.copy.stock.give_back(held.copy, unsure=unsure, marked=True)
        self.held, self.subscriptions, self.work = {}, {}, None


class Books(Words):
    """All queues, bindings and sessions of a program, by the program's words."""

    def __init__(self) -> None:
        super().__init__()
        self.stocks: dict[str, Stock] = {}
        self.owners: dict[str, str] = {}
        """Exclusive queues, and the session that declared each."""
        self.bindings: set[tuple[str, str]] = set()
        self.seats: dict[str, Seat] = {}

    def routed(self, number: int, target: str) -> list[Copy]:
        """A message is published to a queue, or to a key of the exchange: a copy for each queue that takes it."""
        if target in self.stocks:
            return [self.stocks[target].put(number)]
        return [self.stocks[queue].put(number) for queue, key in sorted(self.bindings) if key == target]

    def committed(self, work: Work) -> list[Copy]:
        """A transaction takes effect; gives the copies that it publishes to queues that are still there."""
        for held in work.accepted.values():
            held.copy.stock.drop(held.copy, "accepted and committed")
        return [stock.put(number) for number, stock in work.published if self.stocks.get(stock.name) is stock]

    @property
    def attached(self) -> list[Seat]:
        """Sessions that have a channel."""
        return [seat for seat in self.seats.values() if seat.peer]

    def subscriptions_of(self, stock: Stock) -> list[Subscription]:
        """All subscriptions to a queue."""
        return [s for seat in self.seats.values() for s in seat.subscriptions.values() if s.stock is stock]

    def owed(self) -> list[tuple[Copy, Seat]]:
        """Copies that have to be transferred to someone, each with a session that has credit for it."""
        return [
            (copy, seat)
            for seat in self.attached
            for subscription in seat.subscriptions.values()
            if not self.is_doubtful(subscription.stock)
            for copy in subscription.owed()
        ]

    def is_doubtful(self, stock: Stock) -> bool:
        """Whether a detached session may have been given messages that it cannot be sent yet (pdf 3.5.3)."""
        return any(
            s.credit and s.kind != BROWSE and s.stock is stock
            for seat in self.seats.values()
            if not seat.peer
            for s in seat.subscriptions.values()
        )

    def holder(self, stock: Stock, body: bytes) -> str:
        """Whether a session holds a message."""
        for seat in self.seats.values():
            accepted = seat.work.accepted.values() if seat.work else ()
            if any(
                h.acquired and h.copy.stock is stock and h.copy.body == body
                for h in (*seat.held.values(), *accepted)
            ):
                return "acquired by a session"
        return ""

    def returned(self, stock: Stock, body: bytes) -> None:
        """A message may have gone back already from a session that is about to be gone."""
        for seat in self.seats.values():
            if seat.is_ending or not (seat.peer or seat.lasting):
                seat.let_go(stock, body)

    def held_in(self, stock: Stock) -> int:
        """How many messages of a queue sessions hold."""
        return sum(
            held.acquired and held.copy.stock is stock
            for seat in self.seats.values()
            for held in (*seat.held.values(), *(seat.work.accepted.values() if seat.work else ()))
        )

    def end(self, seat: Seat, *, unsure: bool = False) -> list[str]:
        """A session is gone; gives its exclusive queues, which are gone as well (queue.declare.auto-delete)."""
        self.seats.pop(seat.name, None)
        seat.end(unsure=unsure)
        own = [queue for queue, owner in self.owners.items() if owner == seat.name]
        for queue in own:
            self.drop(queue)
        return own

    def drop(self, queue: str) -> None:
        """A queue is gone, with its bindings."""
        self.stocks.pop(queue, None)
        self.owners.pop(queue, None)
        self.bindings = {(name, key) for name, key in self.bindings if name != queue}
