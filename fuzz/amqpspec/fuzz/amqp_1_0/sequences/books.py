"""The books of a program of AMQP 1.0: what nodes hold, what receivers hold unsettled, what is uncertain.

Knows: the rules of deliveries (1.0 §2.6, §3.4). Must not know: how a step is sent, what follows.

A copy is ``unsure`` where a race leaves open whether it is in its node; a node has no count that could be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation
from amqpspec.peer.amqp_1_0.books import Delivery, Link


@dataclass(eq=False, slots=True)
class Copy:
    """A message in its node. ``fresh``: it was never given back, so that its place in the order is known."""

    number: int
    node: Node
    fresh: bool = True
    unsure: bool = False

    @property
    def body(self) -> bytes:
        """What is sent: the number."""
        return b"m%d" % self.number


@dataclass(eq=False, slots=True)
class Node:
    """A queue; ``gone`` are the messages that left it, and how."""

    name: str
    address: str
    ready: list[Copy] = field(default_factory=list)
    gone: dict[int, str] = field(default_factory=dict)

    @property
    def certain(self) -> list[Copy]:
        """The copies that have to be there."""
        return [copy for copy in self.ready if not copy.unsure]


@dataclass(eq=False, slots=True)
class Terminus:
    """One end of a link of the program: ``peer`` is the number of its connection, ``credit`` is what a receiver gave.

    ``held`` are unsettled deliveries in order, ``last`` the last fresh message that arrived.
    """

    name: str
    peer: int
    link: Link
    node: Node
    credit: int = 0
    held: list[tuple[Delivery, Copy]] = field(default_factory=list)
    last: int = 0


class Books:
    """All nodes, and the ends of links by name; what ``ending`` receivers hold may have been given back already."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.senders: dict[str, Terminus] = {}
        self.receivers: dict[str, Terminus] = {}
        self.ending: list[Terminus] = []
        self.messages = self.names = 0

    def new(self, node: Node) -> Copy:
        """A message that is sent to a node."""
        self.messages += 1
        copy = Copy(self.messages, node)
        node.ready.append(copy)
        return copy

    def name(self, kind: str) -> str:
        """A name for a link that no other link of the program has."""
        self.names += 1
        return f"{kind}{self.names}"

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
        copy = self.taken(receiver.node, delivery.body)
        if receiver.credit < 1:
            raise Violation(
                "delivered without credit", "no delivery without credit", f"m{copy.number} on {receiver.name}"
            )
        receiver.credit -= 1
        if copy.fresh and copy.number < receiver.last:
            raise Violation(
                "delivered out of order",
                "messages in the order of the node",
                f"m{copy.number} after m{receiver.last}",
            )
        receiver.last = max(receiver.last, copy.number) if copy.fresh else receiver.last
        copy.unsure = False
        if delivery.settled:
            copy.node.gone[copy.number] = "delivered settled"
        else:
            receiver.held.append((delivery, copy))

    def delivered_late(self, receiver: Terminus, delivery: Delivery) -> None:
        """A delivery that was under way to a link that has ended; it may have been given to another one since."""
        if any(copy.body == delivery.body for copy in receiver.node.ready):
            self.delivered(receiver, delivery)

    def taken(self, node: Node, body: object) -> Copy:
        """Take a message out of a node; raises Violation where it cannot be there."""
        self._returned(node, body)
        copy = next((copy for copy in node.ready if copy.body == body), None)
        if copy is None:
            where = self._where(node, body)
            raise Violation(
                f"delivered: {where}", f"a message that {node.name} holds", f"{str(body)[:40]}: {where}"
            )
        node.ready.remove(copy)
        return copy

    def _returned(self, node: Node, body: object) -> None:
        for receiver in self.ending:
            for held in [held for held in receiver.held if held[1].node is node and held[1].body == body]:
                receiver.held.remove(held)
                self.give_back(held[1])

    def _where(self, node: Node, body: object) -> str:
        for receiver in self.receivers.values():
            if any(copy.body == body and copy.node is node for _, copy in receiver.held):
                return "unsettled at a receiver"
        known = {b"m%d" % number: how for number, how in node.gone.items()}
        return (
            known.get(body, "never sent to this node")
            if isinstance(body, bytes)
            else "never sent to this node"
        )

    def give_back(self, copy: Copy, *, unsure: bool = False) -> None:
        """A copy returns to its node, at any place of it."""
        copy.fresh, copy.unsure = False, unsure
        copy.node.ready.append(copy)

    def end(self, receiver: Terminus, *, unsure: bool = False) -> None:
        """A receiver is gone: what it held unsettled goes back."""
        self.receivers.pop(receiver.name, None)
        self.ending = [other for other in self.ending if other is not receiver]
        for _, copy in receiver.held:
            self.give_back(copy, unsure=unsure)
        receiver.held = []

    def end_peer(self, peer: int) -> None:
        """All links of a connection are gone."""
        for receiver in [r for r in self.receivers.values() if r.peer == peer]:
            self.end(receiver)
        self.senders = {name: sender for name, sender in self.senders.items() if sender.peer != peer}
