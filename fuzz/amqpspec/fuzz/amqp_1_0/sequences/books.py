"""The books of a program of AMQP 1.0: what nodes hold, what receivers hold unsettled, what is uncertain.

Knows: the rules of deliveries (1.0 §2.6, §3.4). Must not know: how a step is sent, what follows.

A copy is ``unsure`` where a race leaves open whether it is in its node; a node has no count that could be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy, Stock, Words, in_order
from amqpspec.peer.amqp_1_0.books import Delivery, Link


@dataclass(eq=False, slots=True)
class Terminus:
    """One end of a link of the program: ``peer`` is the number of its connection, ``credit`` is what a receiver gave.

    ``held`` are unsettled deliveries in order, ``last`` the place of the last fresh message that arrived.
    """

    name: str
    peer: int
    link: Link
    node: Stock
    credit: int = 0
    held: list[tuple[Delivery, Copy]] = field(default_factory=list)
    last: int = 0


class Books(Words):
    """All nodes, and the ends of links by name; what ``ending`` receivers hold may have been given back already."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[str, Stock] = {}
        self.senders: dict[str, Terminus] = {}
        self.receivers: dict[str, Terminus] = {}
        self.ending: list[Terminus] = []

    def new(self, node: Stock) -> Copy:
        """A message that is sent to a node."""
        return node.put(self.number())

    def owed(self) -> list[tuple[Copy, Terminus]]:
        """Copies that have to be delivered, each with a receiver that has credit for it."""
        return [
            (copy, receiver)
            for receiver in self.receivers.values()
            if receiver.credit
            for copy in receiver.node.certain
        ]

    def delivered(self, receiver: Terminus, delivery: Delivery) -> None:
        """A delivery has arrived; raises Violation."""
        copy = self.taken(receiver.node, body_of(delivery))
        if receiver.credit < 1:
            raise Violation(
                "delivered without credit", "no delivery without credit", f"m{copy.number} on {receiver.name}"
            )
        receiver.credit -= 1
        receiver.last = in_order(receiver.last, copy)
        if delivery.settled:
            copy.stock.drop(copy, "delivered settled")
        else:
            receiver.held.append((delivery, copy))

    def delivered_late(self, receiver: Terminus, delivery: Delivery) -> None:
        """A delivery that was in progress to a link that has ended; it may have been given to another one since."""
        if any(copy.body == delivery.body for copy in receiver.node.ready):
            self.delivered(receiver, delivery)

    def taken(self, node: Stock, body: bytes) -> Copy:
        """Take a message out of a node; raises Violation if it cannot be there."""
        self._returned(node, body)
        return node.take(body, self._holder(node, body))

    def _returned(self, node: Stock, body: bytes) -> None:
        for receiver in self.ending:
            for held in [held for held in receiver.held if held[1].stock is node and held[1].body == body]:
                receiver.held.remove(held)
                node.give_back(held[1])

    def _holder(self, node: Stock, body: bytes) -> str:
        for receiver in self.receivers.values():
            if any(copy.body == body and copy.stock is node for _, copy in receiver.held):
                return "unsettled at a receiver"
        return ""

    def end(self, receiver: Terminus, *, unsure: bool = False) -> None:
        """A receiver is gone: what it held unsettled goes back."""
        self.receivers.pop(receiver.name, None)
        self.ending = [other for other in self.ending if other is not receiver]
        for _, copy in receiver.held:
            copy.stock.give_back(copy, unsure=unsure)
        receiver.held = []

    def end_peer(self, peer: int) -> None:
        """All links of a connection are gone."""
        for receiver in [r for r in self.receivers.values() if r.peer == peer]:
            self.end(receiver)
        self.senders = {name: sender for name, sender in self.senders.items() if sender.peer != peer}


def body_of(delivery: Delivery) -> bytes:
    """The body of a delivery; a description if it is not data."""
    body = delivery.body
    return body if isinstance(body, bytes) else repr(body).encode()
