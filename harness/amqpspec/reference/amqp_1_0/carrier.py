"""The interface of a connection for its sessions and links.

Knows: the methods that they use. Must not know: the implementation.
"""

from __future__ import annotations

from typing import Any, Protocol

from amqpspec.reference.amqp_1_0.nodes import Nodes
from amqpspec.reference.amqp_1_0.transactions import Transactions
from amqpspec.reference.core import Core
from amqpspec.reference.model import User, VirtualHost


class Carrier(Protocol):
    """One connection; ``last_id`` is the last delivery-id that any of its sessions has given."""

    core: Core
    user: User | None
    vhost: VirtualHost
    container: str
    max_frame_octets: int
    congested: bool
    last_id: int
    transactions: Transactions

    @property
    def nodes(self) -> Nodes:
        """The nodes and termini of the virtual host."""

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault tolerates it."""

    def send(self, channel: int, name: str, fields: dict[str, Any], payload: bytes = b"") -> int:
        """Send one performative; returns how many octets its frame has."""

    def write_frame(self, channel: int, body: bytes) -> int:
        """Send one frame with a body."""

    def forget(self, channel: int) -> None:
        """A session has ended in both directions: its channel is free."""
