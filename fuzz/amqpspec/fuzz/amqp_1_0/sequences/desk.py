"""Where a program of AMQP 1.0 meets the target: the books, the connections, and the waiting for what is due.

Knows: peers, books. Must not know: verbs, which step comes next.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from amqpspec.fuzz.amqp_1_0.sequences.books import Books, Node
from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Arg, Violation
from amqpspec.peer.amqp_1_0.books import Delivery
from amqpspec.peer.amqp_1_0.peer import FETCHED, Peer
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Ended, Garbled, Quiet

_SLICE_S = 0.02


class Desk:
    """One program's dealings with one target. All connections are of one container: a link's name means the same."""

    def __init__(self, context: Context) -> None:
        self.context, self.books = context, Books()
        self.peers: dict[int, Peer] = {}
        self._container = context.name("container")

    @property
    def patience_s(self) -> float:
        """How long an owed answer may take."""
        return self.context.patience.reply_s

    def connect(self, number: int) -> None:
        """Open a connection with one session; raises Violation."""
        peer = self.peers[number] = Peer(self.context)
        peer.container_id = self._container
        self.owed("connection not opened", lambda: peer.begin(0))

    def node(self, name: Arg) -> Node:
        """A node, which is made when it is first needed."""
        found = self.books.nodes.get(str(name))
        if found is None:
            peer = next(iter(self.peers.values()))
            found = self.books.nodes[str(name)] = Node(str(name), peer.node(str(name)))
        return found

    def owed(self, kind: str, act: Callable[[], object]) -> None:
        """Do what has to happen; raises Violation."""
        try:
            act()
        except Unmet as unmet:
            raise Violation(kind, unmet.expected, unmet.observed) from unmet
        self.collect()

    # --- messages

    def collect(self) -> None:
        """Book what receivers have received; raises Violation."""
        try:
            for receiver in self.books.ending:
                while receiver.link.inbox:
                    self.books.delivered_late(receiver, receiver.link.inbox.popleft())
            for receiver in list(self.books.receivers.values()):
                while receiver.link.inbox:
                    self.books.delivered(receiver, receiver.link.inbox.popleft())
        except Unmet as unmet:
            raise Violation("a message that cannot be read", unmet.expected, unmet.observed) from unmet
        self._look()

    def _look(self) -> None:
        """Nothing may have ended that no step has ended; raises Violation."""
        for number, peer in self.peers.items():
            if (over := peer.over(None)) is not None:
                seen = over.describe(peer.dialect)
                raise Violation("connection ended", "an open connection", f"{seen} on connection {number}")
        for end in (*self.books.receivers.values(), *self.books.senders.values()):
            peer = self.peers[end.peer]
            if (over := peer.over(end.link)) is not None:
                raise Violation("link ended", f"an attached link {end.name}", over.describe(peer.dialect))

    def settle(self) -> None:
        """Wait for the deliveries that are owed; raises Violation."""
        count, until_s = -1, 0.0
        while owed := self.books.owed():
            peers = sorted({receiver.peer for _, receiver in owed})
            now_s = self.peers[peers[0]].now()
            if len(owed) != count:
                count, until_s = len(owed), now_s + self.patience_s
            elif now_s > until_s:
                first = owed[0][0]
                expected = f"delivery of m{first.number} from {first.node.name}"
                raise Violation("not delivered", expected, f"nothing in {self.patience_s:.1f} s")
            self.glance(peers, until_s)

    def glance(self, peers: list[int], until_s: float) -> None:
        """Listen to connections for a moment."""
        for number in peers:
            peer = self.peers[number]
            arrival = peer.read(min(until_s, peer.now() + _SLICE_S))
            while not isinstance(arrival, Quiet | Ended | Garbled):
                arrival = peer.read(0.0)
            if isinstance(arrival, Garbled):
                raise Violation("octets that cannot be read", "frames", arrival.describe(peer.dialect))
        self.collect()

    # --- ends

    def reset(self, number: int) -> None:
        """End a connection without a close."""
        end_by_reset(self.peers.pop(number).transport)

    def leave(self, number: int) -> None:
        """Close a connection in good order; raises Violation."""
        peer = self.peers[number]
        try:
            peer.close()
        except Unmet as unmet:
            raise Violation("close not answered", unmet.expected, unmet.observed) from unmet
        self.drop(number)

    def drop(self, number: int) -> None:
        """Hang up a connection that has said all it had to say."""
        self.peers.pop(number).hang_up()

    def hang_up(self) -> None:
        """End all connections."""
        for peer in self.peers.values():
            peer.hang_up()
        self.peers = {}

    # --- the end

    def finish(self) -> None:
        """End all connections, and compare what nodes hold with the books; raises Violation."""
        for number in list(self.peers):
            self.leave(number)
            self.books.end_peer(number)
        if self.books.nodes:
            auditor = self.peers[0] = Peer(self.context)
            for node in self.books.nodes.values():
                self._drain(auditor, node)

    def _drain(self, auditor: Peer, node: Node) -> None:
        """Fetch all: what has to be there is, and nothing else; raises Violation."""
        try:
            found = _all_of(auditor, node)
            for delivery in found:
                copy = self.books.taken(node, delivery.body)
                node.gone[copy.number] = "fetched at the end"
        except Unmet as unmet:
            raise Violation("node not readable", unmet.expected, unmet.observed) from unmet
        if node.certain:
            raise Violation(
                "lost", f"m{node.certain[0].number} in {node.name}", f"{len(found)} other messages"
            )


def _all_of(auditor: Peer, node: Node) -> list[Delivery]:
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
