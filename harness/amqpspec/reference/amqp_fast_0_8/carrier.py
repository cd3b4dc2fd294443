"""What a connection is to its channels and handles.

Knows: what they use of it. Must not know: channels, handles, commands.
"""

from __future__ import annotations

from abc import abstractmethod

from amqpspec.reference.amqp_fast_0_8.destinations import Destinations
from amqpspec.reference.connection import BrokerConnection


class Carrier(BrokerConnection):
    """One connection."""

    frame_max_octets: int
    aliases: dict[str, str]

    @property
    @abstractmethod
    def destinations(self) -> Destinations:
        """The destinations of the virtual host."""

    @abstractmethod
    def refuse(self, rule: str, text: str, code: int = 0) -> None:
        """Raise for a broken rule; return if a fault tolerates it."""

    def has_output(self) -> None:
        """Something waits on a channel to be written."""
        self.core.with_output.add(self)
