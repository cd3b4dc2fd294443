"""The interface of a connection for its channels and handles.

Knows: the methods that they use. Must not know: the implementation.
"""

from __future__ import annotations

from typing import Protocol

from amqpspec.reference.amqp_fast_0_8.destinations import Destinations
from amqpspec.reference.core import Core
from amqpspec.reference.model import User


class Carrier(Protocol):
    """One connection."""

    core: Core
    user: User | None
    frame_max_octets: int
    congested: bool
    aliases: dict[str, str]

    @property
    def destinations(self) -> Destinations:
        """The destinations of the virtual host."""

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""

    def refuse(self, rule: str, text: str, code: int = 0) -> None:
        """Raise for a broken rule; return if a fault tolerates it."""

    def has_output(self) -> None:
        """Something waits on a channel to be written."""

    def pump(self) -> None:
        """Windows have changed: let every queue look again that this connection reads."""
