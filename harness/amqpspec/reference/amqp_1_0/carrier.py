"""What a connection is to its sessions and links.

Knows: what they use of it. Must not know: sessions, links, performatives.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from amqpspec.reference.amqp_1_0.nodes import Nodes, nodes_of
from amqpspec.reference.amqp_1_0.transactions import Transactions
from amqpspec.reference.connection import BrokerConnection
from amqpspec.reference.model import VirtualHost


class Carrier(BrokerConnection):
    """One connection; ``last_id`` is the last delivery-id that any of its sessions has given."""

    vhost: VirtualHost
    container: str
    max_frame_octets: int
    last_id: int
    transactions: Transactions

    @property
    def nodes(self) -> Nodes:
        """The nodes and termini of the virtual host."""
        return nodes_of(self.vhost)

    @abstractmethod
    def send(self, channel: int, name: str, fields: dict[str, Any], payload: bytes = b"") -> int:
        """Send one performative; returns how many octets its frame has."""

    @abstractmethod
    def write_frame(self, channel: int, body: bytes) -> int:
        """Send one frame with a body."""

    @abstractmethod
    def forget(self, channel: int) -> None:
        """A session has ended in both directions: its channel is free."""
