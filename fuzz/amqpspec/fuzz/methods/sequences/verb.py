"""What a verb of programs is: the arguments with which it can come next, and what it does.

Knows: desks. Must not know: single verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from amqpspec.fuzz.methods.sequences.books import Channel, Queue
from amqpspec.fuzz.methods.sequences.desk import Desk
from amqpspec.fuzz.sequences.step import Arg

Args = tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Verb:
    """``options`` gives arguments, the simplest first; ``act`` is called with a desk and one of them."""

    options: Callable[[Desk], Iterable[Args]]
    act: Callable[..., None]


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
