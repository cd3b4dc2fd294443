"""Where a program of AMQP/Fast meets the target: connections, channels, handles, and the waiting for what is due.

Knows: peers, books. Must not know: verbs, which step comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from amqpspec.fuzz.amqp_fast_0_8.sequences.books import Books, Channel, Handle
from amqpspec.fuzz.sequences.desk import Desk, Due, pause, sure
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Stock
from amqpspec.peer.amqp_fast_0_8.arrivals import CLOSES, CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import BudgetSpent, Context, Unmet
from amqpspec.run.driver import driver_of
from amqpspec.wire.transport import StreamEnded

AUDITOR = 0
_PROBE = 2
"""The auditor's handle that asks whether there is a queue; its first one lists what queues hold."""


class CommandDesk(Desk[Peer]):
    """One program's dealings with one target."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.books = Books()
        self._prefix = context.name("topic")
        self._handles: dict[int, int] = {}
        self._finished = False

    def peer(self, channel: Channel) -> Peer:
        """The connection of a channel."""
        return self.peers[channel.peer]

    # --- connections, channels, handles

    def connect(self, number: int) -> None:
        """Open a connection; raises Violation."""
        peer = self.peers[number] = Peer(self.context)
        self._handles[number] = 0
        self.owed("connection not opened", peer.open_connection)

    def open_channel(self, number: int, *, transacted: bool) -> None:
        """Open a channel; raises Violation."""
        taken = {channel.id for channel in self.books.channels_of(number)}
        id = next(id for id in range(1, len(taken) + 2) if id not in taken)
        channel = Channel(self.books.name("c"), number, id, transacted)
        self.owed("channel not opened", lambda: self.peers[number].open_channel(id, transacted=transacted))
        self.books.channels[channel.name] = channel

    def open_handle(self, channel: Channel) -> None:
        """Open a handle with all rights; raises Violation."""
        self._handles[channel.peer] += 1
        handle = Handle(self.books.name("h"), channel, self._handles[channel.peer])
        self.owed("handle not opened", lambda: self.peer(channel).open_handle(handle.id, channel.id))
        self.books.handles[handle.name] = handle

    def call(self, handle: Handle, command: str, **fields: object) -> None:
        """A command on a handle that has to be confirmed; raises Violation."""
        peer = self.peer(handle.channel)
        self.owed(f"{command} not confirmed", lambda: peer.call(command, handle_id=handle.id, **fields))

    def ask(self, channel: Channel, command: str, **fields: object) -> None:
        """A command on a channel that has to be confirmed; raises Violation."""
        peer = self.peer(channel)
        self.owed(f"{command} not confirmed", lambda: peer.call(command, channel_id=channel.id, **fields))

    def quiet(self, channel: Channel) -> None:
        """Nothing is on its way on a channel any more; raises Violation."""
        self.owed("no round trip", lambda: self.peer(channel).barrier(channel.id))

    def stock(self, name: str) -> Stock:
        """A queue that all may use, which is made when it is first needed; raises Violation."""
        if name not in self.books.stocks:
            auditor = self.auditor()
            address = self.owed("queue not made", lambda: auditor.named_queue(name))
            self.books.stocks[name] = Stock(name, address)
        return self.books.stocks[name]

    def address(self, place: str) -> str:
        """A queue, or a topic, as the target knows it."""
        found = self.books.stocks.get(place)
        return found.address if found is not None else f"{self._prefix}.{place}"

    # --- what arrives

    def collect(self) -> None:
        """Book the messages that have arrived; raises Violation."""
        self._collect(list(self.books.handles.values()))
        for number, peer in self.peers.items():
            if peer.is_over():
                seen = peer.closed_by.describe(peer.dialect) if peer.closed_by else str(peer.ended)
                raise Violation("connection ended", "an open connection", f"{seen} on connection {number}")
            if closed := peer.stashed(lambda a: isinstance(a, CommandArrived) and a.name in CLOSES):
                seen = closed[0].describe(peer.dialect)
                raise Violation(f"{closed[0].kind} without need", "no close", f"{seen} on {number}")

    def _collect(self, handles: Iterable[Handle]) -> None:
        """Book messages for handles in the order of their connections, as numbers count on channels."""
        wanted = {(handle.channel.peer, handle.id): handle for handle in handles}
        for number in sorted({number for number, _ in wanted}):
            for message in self.peers[number].messages(id for n, id in wanted if n == number):
                self.books.delivered(wanted[number, message.handle], message)

    def due(self) -> Sequence[Due]:
        """The messages for which readers have room."""
        return [
            Due(handle.channel.peer, f"m{copy.number} of {copy.stock.name} for {handle.name}")
            for copy, handle in self.books.owed()
        ]

    # --- counts

    def auditor(self) -> Peer:
        """A connection beside those of the program, which looks into queues; raises Violation."""
        if AUDITOR not in self.peers:
            peer = self.peers[AUDITOR] = Peer(self.context)
            self.owed("connection not opened", lambda: peer.open_handle(1))
        return self.peers[AUDITOR]

    def look(self) -> None:
        """Queues hold what they have to, with or without what channels hold of it; raises Violation."""
        for stock in list(self.books.stocks.values()):
            if not any(handle.reader and handle.reader.exclusive for handle in self.books.readers_of(stock)):
                self._count(stock)

    def _count(self, stock: Stock) -> None:
        auditor = self.auditor()
        low, high = len(stock.certain), len(stock.ready) + len(self.books.held_in(stock))
        until_s = auditor.now() + self.patience_s
        while not low <= (found := len(self.numbers(stock))) <= high:
            if auditor.now() > until_s:
                raise Violation(
                    "wrong message count", f"{low} to {high} messages in {stock.name}", str(found)
                )
            pause(auditor)

    def numbers(self, stock: Stock) -> list[int]:
        """The numbers of the messages that a queue shows; raises Violation."""
        auditor = self.auditor()
        return self.owed("query not answered", lambda: auditor.numbers(stock.address))

    def vanished(self, stocks: Iterable[Stock]) -> None:
        """Wait until the temporary queues of a connection that ended are gone; raises Violation."""
        for stock in stocks:
            auditor = self.auditor()
            until_s = auditor.now() + self.patience_s
            while self._exists(self.auditor(), stock):
                if auditor.now() > until_s:
                    raise Violation(
                        "temporary queue outlives its connection", f"no queue {stock.name}", "it is there"
                    )
                pause(auditor)

    def _exists(self, auditor: Peer, stock: Stock) -> bool:
        """Whether a queue can be read."""
        sure("handle not opened", lambda: auditor.open_handle(_PROBE))
        try:
            auditor.consume(stock.address, _PROBE, prefetch=1)
        except Unmet as unmet:
            if unmet.seen is None or unmet.seen.refusal is None:
                raise Violation("no queue not refused", "a CLOSE", unmet.observed) from unmet
            if getattr(unmet.seen, "name", "") != "handle.close":
                self.drop(AUDITOR)  # more than the handle is closed, which is allowed
            return False
        sure("close not answered", lambda: auditor.close_handle(_PROBE))
        return True

    # --- ends

    def ending(
        self, kind: str, handles: list[Handle], act: Callable[[], object], book: Callable[[], object]
    ) -> None:
        """End handles; what arrived for them before the answer was theirs. Raises Violation."""
        sure(kind, act)
        self._collect(handles)
        book()
        self.collect()

    def leave(self, number: int) -> None:
        """Close a connection in good order: nothing of it is left; raises Violation."""
        peer, handles = self.peers[number], self.books.handles_of(*self.books.channels_of(number))
        closed = peer.close()
        if getattr(closed, "name", "") != "connection.close":
            raise Violation("close not answered", "connection.close", closed.describe(peer.dialect))
        self._collect(handles)
        self.drop(number)
        self.vanished(self.books.end_peer(number, suddenly=False))

    def reset(self, number: int) -> None:
        """End a connection without a close: nothing of it is left; raises Violation."""
        super().reset(number)
        self.vanished(self.books.end_peer(number, suddenly=True))

    def finish(self) -> None:
        """End all connections, and compare what queues hold with the books; raises Violation."""
        for number in [number for number in self.peers if number != AUDITOR]:
            self.leave(number)
        for stock in self.books.stocks.values():
            self._drain(stock)
        self._finished = True

    def _drain(self, stock: Stock) -> None:
        """Fetch all: what has to be there is, and nothing else; raises Violation."""
        auditor = self.auditor()
        found = sure("queue not readable", lambda: auditor.left_in(stock.address))
        for body in found:
            stock.drop(stock.take(body), "fetched at the end")
        if stock.certain:
            raise Violation("lost", f"m{stock.certain[0].number} in {stock.name}", f"{len(found)} messages")

    def give_up(self) -> None:
        """Leave, and take out what queues hold, which cannot be deleted, as far as the target allows it."""
        self.hang_up()
        made = [(kind, name) for _, kind, name in self.context.cleanup.entities]
        if made and not self._finished:
            with suppress(Unmet, StreamEnded, BudgetSpent):
                driver_of(self.context.dialect).delete(self.context, made)
