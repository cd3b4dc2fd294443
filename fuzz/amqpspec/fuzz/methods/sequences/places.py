"""What verbs of programs share: which channels and queues they can name.

Knows: desks. Must not know: single verbs.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.fuzz.methods.sequences.books import Channel, Queue
from amqpspec.fuzz.methods.sequences.desk import MethodsDesk as Desk


def channels(desk: Desk, *modes: str) -> list[Channel]:
    """Open channels, of these modes or all."""
    return [c for c in desk.books.channels.values() if not modes or c.mode in modes]


def usable(desk: Desk, link: int) -> list[Queue]:
    """Queues that a connection may use."""
    return [queue for queue in desk.books.queues.values() if queue.owner in (None, link)]


def places(desk: Desk, *modes: str) -> Iterable[tuple[Channel, Queue]]:
    """Each open channel with each queue that it may use."""
    for channel in channels(desk, *modes):
        for queue in usable(desk, channel.link):
            yield channel, queue


def is_guarded(desk: Desk, queue: Queue) -> bool:
    """Whether a consumer keeps others away from a queue (0-9-1 basic.consume exclusive)."""
    return any(consumer.exclusive for _, consumer in desk.books.consumers_of(queue))
