"""Messages, and messages in a queue.

Knows: the properties for routing, order and durability. Must not know: how properties are encoded; ``header`` has
the publisher's octets, unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LEVELS = 10


@dataclass(frozen=True, slots=True)
class Message:
    """A published message; the same object serves every queue that it was routed to.

    ``deaths`` counts how often it was dead-lettered, so that a circle of dead-letter exchanges ends.
    ``children`` are contents within the content, where a dialect has such: what they consist of, in wire order.
    ``more_keys`` route as ``routing_key`` does (CC and BCC).
    """

    exchange: str
    routing_key: str
    header: bytes
    body: bytes
    priority: int = 0
    persistent: bool = False
    headers: Mapping[str, Any] = field(default_factory=dict)
    publisher: object = None
    deaths: int = 0
    children: tuple[tuple[str, bytes], ...] = ()
    more_keys: tuple[str, ...] = ()

    @property
    def size_octets(self) -> int:
        """What a prefetch window in octets counts."""
        return len(self.body)

    @property
    def level(self) -> int:
        """The priority as one of ten levels."""
        return min(self.priority, LEVELS - 1)


@dataclass(slots=True, eq=False)
class Entry:
    """A message in one queue: its place there and what has happened to it."""

    message: Message
    position: int
    deliveries: int = 0
    expires_at_s: float | None = None
    refused_by: set[int] = field(default_factory=set)

    @property
    def redelivered(self) -> bool:
        """Whether someone has had it before."""
        return self.deliveries > 0
