"""The maximum number of octets of messages in a broker.

Knows: sizes, queues. Must not know: protocols; the connection refuses a message that exceeds the limit.

Counting is cheap: sizes of arrivals are added, and the actual sizes of queues are summed only if the limit may be
exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from amqpspec.reference.model.messages import Message
from amqpspec.reference.model.queues import Queue

MOST_OCTETS = 256 << 20


class OutOfRoom(Exception):
    """The queues hold as much as they may."""


class Room:
    """The room of all queues together."""

    def __init__(self, queues: Callable[[], Iterable[Queue]], most_octets: int) -> None:
        self.most_octets = most_octets
        self._queues, self._known = queues, 0

    def take(self, octets: int) -> None:
        """A message arrives; raises OutOfRoom if it is too much."""
        if self._known + octets > self.most_octets:
            self._known = self._counted()
        if self._known + octets > self.most_octets:
            raise OutOfRoom(f"the queues hold {self._known} octets, {self.most_octets} at most")
        self._known += octets

    def _counted(self) -> int:
        """What queues hold. A message in several of them is there once."""
        held: dict[int, Message] = {}
        for queue in self._queues():
            held.update((id(e.message), e.message) for e in chain(queue.ready(), queue.unacked))
        return sum(message.size_octets for message in held.values())
