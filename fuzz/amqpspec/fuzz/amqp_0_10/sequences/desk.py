"""Where a program of AMQP 0-10 meets the target: connections, sessions, and the waiting for what is due.

Knows: peers, books. Must not know: verbs, which step comes next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from amqpspec.fuzz.amqp_0_10.sequences.books import UNBOUNDED, Books, Seat
from amqpspec.fuzz.sequences.desk import Desk, Due, pause
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Stock
from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.peer import Peer, entries
from amqpspec.peer.context import Context, Unmet
from amqpspec.wire.transport import StreamEnded

AUDITOR = -1
_LASTS_S = 300


class AssemblyDesk(Desk[Peer]):
    """One program's dealings with one target."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.books = Books()
        self.exchange = ""
        self.resumes = True
        """Whether the target has granted sessions that outlive a program's connections."""

    def peer(self, seat: Seat) -> Peer:
        """The connection of a session."""
        return self.peers[seat.peer]

    # --- connections and sessions

    def connect(self, number: int) -> None:
        """Open a connection; raises Violation."""
        peer = self.peers[number] = Peer(self.context)
        self.owed("connection not opened", peer.open_connection)

    def free_channel(self, number: int) -> int:
        """The lowest channel of a connection that no session has."""
        taken = {seat.session.channel for seat in self.books.attached if seat.peer == number}
        return next(channel for channel in range(len(taken) + 1) if channel not in taken)

    def attach(self, number: int, *, lasting: bool) -> Seat:
        """A new session; raises Violation."""
        peer, channel = self.peers[number], self.free_channel(number)
        session = self.owed("session not attached", lambda: peer.attach(channel))
        seat = Seat(self.books.name("s"), session, number, lasting)
        asked_s = _LASTS_S if lasting else 0
        told = self.owed("timeout not answered", lambda: self._timeout(seat, asked_s))
        if lasting and told < _LASTS_S:
            seat.lasting, self.resumes = False, False
            self.owed("timeout not answered", lambda: self._timeout(seat, 0))
        peer.point(channel)
        self.books.seats[seat.name] = seat
        return seat

    def _timeout(self, seat: Seat, wanted_s: int) -> int:
        asked = self.peer(seat).call_control(
            "session.request-timeout", seat.session.channel, timeout=wanted_s
        )
        # No value is a timeout without end (session.timeout).
        return UNBOUNDED if asked["timeout"] is None else int(asked["timeout"])

    def settled(self, seat: Seat) -> None:
        """All commands of a session are done; raises Violation."""
        self.owed("no completion", lambda: self.peer(seat).barrier(seat.session.channel))

    def call(self, seat: Seat, name: str, **args: Any) -> Any:
        """A command that has to be carried out; raises Violation."""
        return self.owed(
            f"{name} not carried out", lambda: self.peer(seat).call(name, seat.session.channel, **args)
        )

    def unplug(self, seat: Seat) -> None:
        """A session has lost its channel."""
        peer = self.peers.get(seat.peer)
        if peer is not None:
            peer.sessions.pop(seat.session.channel, None)
        seat.peer = 0

    def ended(self, seat: Seat) -> None:
        """A session is gone, and so are its exclusive queues; raises Violation."""
        self.unplug(seat)
        addresses = {name: self.books.stocks[name].address for name in self.books.stocks}
        for queue in self.books.end(seat):
            self._gone(addresses[queue])

    def _gone(self, address: str) -> None:
        auditor = self.auditor()
        until_s = auditor.now() + self.patience_s
        while self.query(address).get("queue") is not None:
            if auditor.now() > until_s:
                raise Violation("exclusive queue outlives its session", "no such queue", "it is still there")
            pause(auditor)

    def reset(self, number: int) -> None:
        """End a connection without a close: its lasting sessions are detached, the others gone; raises Violation."""
        seats = [seat for seat in self.books.attached if seat.peer == number]
        super().reset(number)
        for seat in seats:
            self.unplug(seat)
        for seat in seats:
            if not seat.lasting:
                self.ended(seat)

    def resume(self, seat: Seat, number: int) -> None:
        """Attach a session again, and send again what may have been lost; raises Violation."""
        peer, channel, session = self.peers[number], self.free_channel(number), seat.session
        following = session.next_id or 0
        self.owed("session not resumed", lambda: peer.reattach(session, channel))
        seat.peer = number
        peer.point(channel, seat.replay[0].command if seat.replay else following)
        for sent in seat.replay:
            peer.send_octets(self.octets(seat, sent.number, sent.address))
            for copy in sent.copies:
                copy.unsure = False
        session.next_id = following
        seat.replay = []
        self.settled(seat)

    # --- queues

    def stock(self, seat: Seat, name: str) -> Stock:
        """A queue that all may use, which is made when it is first needed; raises Violation."""
        if name not in self.books.stocks:
            self.declare(seat, name, exclusive=False)
        return self.books.stocks[name]

    def declare(self, seat: Seat, name: str, *, exclusive: bool) -> None:
        """Declare a queue; an exclusive one ends with its session. Raises Violation."""
        address = self.context.name(name)
        if not exclusive:
            self.peer(seat).will_clean("queue", address)
        self.call(seat, "queue.declare", queue=address, exclusive=exclusive, auto_delete=exclusive)
        self.books.stocks[name] = Stock(name, address)
        if exclusive:
            self.books.owners[name] = seat.name

    def auditor(self) -> Peer:
        """A connection in addition to those of the program, which inspects queues; raises Violation."""
        if AUDITOR not in self.peers:
            peer = self.peers[AUDITOR] = Peer(self.context)
            self.owed("session not attached", peer.open_session)
        return self.peers[AUDITOR]

    def query(self, address: str) -> Mapping[str, Any]:
        """What the target says of a queue; raises Violation."""
        auditor = self.auditor()
        return self.owed("query not answered", lambda: auditor.query("queue.query", queue=address))

    # --- messages

    def octets(self, seat: Seat, number: int, key: str, exchange: str = "") -> bytes:
        """A transfer to an exchange, or to the queue of that address through the default exchange."""
        return self.peer(seat).encoded(
            "message.transfer", seat.session.channel, header=entries(key), body=b"m%d" % number,
            destination=exchange or None, accept_mode=1, acquire_mode=0,
        )  # fmt: skip

    def collect(self) -> None:
        """Book what sessions have received; raises Violation."""
        for seat in self.books.attached:
            for transfer in self.peer(seat).pending("message.transfer", channel=seat.session.channel):
                holder = self._holder(seat, transfer.body, str(transfer["destination"] or ""))
                seat.arrived(transfer, holder)
        self._check_ends()

    def _holder(self, seat: Seat, body: bytes, destination: str) -> str:
        subscription = seat.subscriptions.get(destination)
        if subscription is None:
            return ""
        self.books.returned(subscription.stock, body)
        return self.books.holder(subscription.stock, body)

    def _check_ends(self) -> None:
        """Nothing may have ended that no step has ended; raises Violation."""
        for number, peer in self.peers.items():
            if peer.is_over():
                end = peer.closed_by or peer.ended
                seen = end.describe(peer.dialect) if isinstance(end, AssemblyArrived) else str(end)
                raise Violation("connection ended", "an open connection", f"{seen} on connection {number}")
        for seat in self.books.attached:
            if not seat.session.attached:
                why = self.peer(seat).pending("execution.exception", channel=seat.session.channel)
                seen = why[0].describe(self.peer(seat).dialect) if why else "session.detached"
                raise Violation("session ended", f"an attached session {seat.name}", seen)

    def due(self) -> Sequence[Due]:
        """The transfers for which subscriptions have credit."""
        return [
            Due(seat.peer, f"transfer of m{copy.number} from {copy.stock.name}")
            for copy, seat in self.books.owed()
        ]

    def look(self) -> None:
        """Count what queues hold; raises Violation."""
        for stock in self.books.stocks.values():
            self.count(stock)

    def count(self, stock: Stock) -> None:
        """A queue holds what it has to, with or without what sessions hold of it; raises Violation."""
        auditor = self.auditor()
        until_s = auditor.now() + self.patience_s
        low = 0 if self.books.is_doubtful(stock) else len(stock.certain)
        high = len(stock.ready) + self.books.held_in(stock)
        while True:
            told = self.query(stock.address).get("message_count")
            if isinstance(told, int) and low <= told <= high:
                return
            if auditor.now() > until_s:
                raise Violation("wrong message count", f"{low} to {high} messages in {stock.name}", str(told))
            pause(auditor)

    # --- the end

    def finish(self) -> None:
        """End all sessions and connections, and compare what queues hold with the books; raises Violation."""
        for seat in list(self.books.seats.values()):
            if not seat.peer:
                if 1 not in self.peers:
                    self.connect(1)
                self.resume(seat, 1)
        for seat in list(self.books.seats.values()):
            self.close(seat)
        for number in [number for number in self.peers if number != AUDITOR]:
            self.leave(number)
        for stock in self.books.stocks.values():
            self._drain(stock)

    def close(self, seat: Seat) -> None:
        """End a session: it does not outlive its channel any more. Raises Violation."""
        seat.is_ending = True
        if seat.lasting:
            self.owed("timeout not answered", lambda: self._timeout(seat, 0))
        self._detached(seat)
        self.ended(seat)

    def detach(self, seat: Seat) -> None:
        """Detach a session, which may be attached again; raises Violation."""
        self._detached(seat)
        self.unplug(seat)

    def _detached(self, seat: Seat) -> None:
        peer, channel = self.peer(seat), seat.session.channel
        seat.is_ending = seat.is_ending or not seat.lasting

        def detach() -> None:
            answer = peer.call_control("session.detach", channel, name=seat.session.name)
            if answer["code"] not in (0, None):
                raise Unmet("session.detached normal", answer.describe(peer.dialect))
            seat.session.attached = True

        self.owed("detach not answered", detach)

    def leave(self, number: int) -> None:
        """Close a connection in good order; raises Violation."""
        peer = self.peers[number]
        closed = peer.close()
        if getattr(closed, "name", "") != "connection.close-ok":
            raise Violation("close not answered", "connection.close-ok", closed.describe(peer.dialect))
        self.drop(number)

    def _drain(self, stock: Stock) -> None:
        """Fetch all: what has to be there is, and nothing else; raises Violation."""
        auditor = self.auditor()

        def taken() -> int:
            name = auditor.subscribe(stock.address, accept_mode=1)
            found = 0
            with suppress(Unmet):
                while len(stock.certain) and (transfer := auditor.transfer()):
                    stock.drop(stock.take(transfer.body), "fetched at the end")
                    found += 1
            auditor.call("message.flush", destination=name)
            auditor.call("message.cancel", destination=name)
            for transfer in auditor.pending("message.transfer"):
                stock.drop(stock.take(transfer.body), "fetched at the end")
                found += 1
            return found

        found = self.owed("queue not readable", taken)
        if stock.certain:
            raise Violation("lost", f"m{stock.certain[0].number} in {stock.name}", f"{found} other messages")

    def give_up(self) -> None:
        """End all sessions and delete the queues, as far as the target allows it."""
        with suppress(Violation, Unmet, StreamEnded):
            self.hang_up()
            self._tidy()
        self.hang_up()

    def _tidy(self) -> None:
        if not self.context.cleanup.entities:
            return
        peer = self.peers[AUDITOR] = Peer(self.context)
        peer.open_connection()
        for seat in self.books.seats.values():
            if seat.lasting:
                self._forget(peer, seat.session)
        peer.open_session()
        for _, kind, name in self.context.cleanup.entities:
            if kind == "queue" and peer.query("queue.query", queue=name).get("queue") is not None:
                peer.call("queue.delete", queue=name)
            elif kind == "exchange":
                peer.call("exchange.delete", exchange=name)

    def _forget(self, peer: Peer, session: Session) -> None:
        with suppress(Unmet):
            peer.reattach(session)
            peer.call_control("session.request-timeout", timeout=0)
            peer.detach()
        peer.sessions.pop(0, None)
