"""Where a program of AMQP 1.0 meets the target: the books, the connections, and the check at the end.

Knows: peers, books. Must not know: verbs, which step comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from amqpspec.fuzz.amqp_1_0.sequences.books import Books, body_of
from amqpspec.fuzz.sequences.desk import Desk, Due, sure
from amqpspec.fuzz.sequences.step import Arg, Violation
from amqpspec.fuzz.sequences.stock import Stock
from amqpspec.peer.amqp_1_0.books import Delivery
from amqpspec.peer.amqp_1_0.peer import FETCHED, Peer
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Arrival


class TypedDesk(Desk[Peer]):
    """One program's dealings with one target. All connections are of one container: a link's name means the same."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.books = Books()
        self._container = context.name("container")

    def connect(self, number: int) -> None:
        """Open a connection with one session; raises Violation."""
        peer = self.peers[number] = Peer(self.context)
        peer.container_id = self._container
        self.owed("connection not opened", lambda: peer.begin(0))

    def node(self, name: Arg) -> Stock:
        """A node, which is made when it is first needed."""
        found = self.books.nodes.get(str(name))
        if found is None:
            peer = next(iter(self.peers.values()))
            found = self.books.nodes[str(name)] = Stock(str(name), peer.node(str(name)))
        return found

    # --- messages

    def keep(self, peer: Peer, arrival: Arrival) -> None:
        """The peer books deliveries itself."""

    def due(self) -> Sequence[Due]:
        """The deliveries for which receivers have credit."""
        return [
            Due(receiver.peer, f"delivery of m{copy.number} from {copy.stock.name}")
            for copy, receiver in self.books.owed()
        ]

    def collect(self) -> None:
        """Book what receivers have received; raises Violation."""
        sure("a message that cannot be read", self._book)
        self._check_ends()

    def _book(self) -> None:
        for receiver in self.books.ending:
            while receiver.link.inbox:
                self.books.delivered_late(receiver, receiver.link.inbox.popleft())
        for receiver in list(self.books.receivers.values()):
            while receiver.link.inbox:
                self.books.delivered(receiver, receiver.link.inbox.popleft())

    def _check_ends(self) -> None:
        """Nothing may have ended that no step has ended; raises Violation."""
        for number, peer in self.peers.items():
            if (over := peer.over(None)) is not None:
                seen = over.describe(peer.dialect)
                raise Violation("connection ended", "an open connection", f"{seen} on connection {number}")
        for end in (*self.books.receivers.values(), *self.books.senders.values()):
            peer = self.peers[end.peer]
            if (over := peer.over(end.link)) is not None:
                raise Violation("link ended", f"an attached link {end.name}", over.describe(peer.dialect))

    # --- the end

    def leave(self, number: int) -> None:
        """Close a connection in good order; raises Violation."""
        sure("close not answered", self.peers[number].close)
        self.drop(number)

    def finish(self) -> None:
        """End all connections, and compare what nodes hold with the books; raises Violation."""
        for number in list(self.peers):
            self.leave(number)
            self.books.end_peer(number)
        if self.books.nodes:
            auditor = self.peers[0] = Peer(self.context)
            for node in self.books.nodes.values():
                self._drain(auditor, node)

    def _drain(self, auditor: Peer, node: Stock) -> None:
        """Fetch all: what has to be there is, and nothing else; raises Violation."""
        found = sure("node not readable", lambda: [body_of(one) for one in _all_of(auditor, node)])
        for body in found:
            node.drop(self.books.taken(node, body), "fetched at the end")
        if node.certain:
            raise Violation(
                "lost", f"m{node.certain[0].number} in {node.name}", f"{len(found)} other messages"
            )

    def give_up(self) -> None:
        """Leave; what nodes hold is removed by the cleanup after a program that was cut off."""
        self.hang_up()


def _all_of(auditor: Peer, node: Stock) -> list[Delivery]:
    """What a node holds: what is due, then what arrives until the credit is used or given up. Raises Unmet."""
    link = auditor.receiver(node.address, credit=FETCHED)
    with suppress(Unmet):
        auditor.until(lambda: len(link.inbox) >= len(node.certain), "deliveries", link=link)
    found = auditor.drain(link)
    for delivery in found:
        if not delivery.settled:
            auditor.disposition(delivery)
    auditor.detach(link)
    return found
