"""Units of work: actions that a transaction defers until commit, and transfers that wait for their outcome.

Knows: what commit and rollback do to messages. Must not know: commands, sessions' states, branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amqpspec.reference.model import Entry, Queue


@dataclass(slots=True, eq=False)
class Held:
    """One transfer in explicit mode without an outcome.

    ``book`` is the session's table of transfers by ``number``; ``redelivered`` is the previous flag of the queue.
    """

    number: int
    book: dict[int, Held]
    queue: Queue
    entry: Entry
    redelivered: bool
    acquired: bool = True

    def acquire(self) -> bool:
        """Take the message out of its queue, if it is still there."""
        if self.acquired or self.entry not in self.queue.ready():
            return False
        self.redelivered = self.queue.take(self.entry, keep=True)
        self.acquired = True
        return True

    def give_back(self, *, redelivered: bool) -> None:
        """Return the message to its position; optionally marked as delivered before."""
        if self.acquired:
            self.entry.deliveries = int(redelivered or self.redelivered)
            self.queue.requeue([self.entry])

    def settle(self) -> None:
        """The client owns the message."""
        self.queue.settle(self.entry)


@dataclass(slots=True, eq=False)
class Work:
    """One unit of work; ``ends_with_session`` is that of a local transaction."""

    ends_with_session: bool = True
    publishes: list[Callable[[], object]] = field(default_factory=list)
    accepted: list[Held] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether it is empty."""
        return not (self.publishes or self.accepted)

    def commit(self) -> None:
        """Carry everything out, in order; the next unit begins."""
        publishes, accepted = self._taken()
        for held in accepted:
            held.settle()
        for publish in publishes:
            publish()

    def hold_again(self) -> None:
        """Discard everything: sessions keep the messages that they had accepted."""
        _, accepted = self._taken()
        for held in accepted:
            held.book[held.number] = held

    def give_back(self) -> None:
        """Discard everything: accepted messages return to their queues."""
        _, accepted = self._taken()
        for held in accepted:
            held.give_back(redelivered=True)
        for queue in {id(held.queue): held.queue for held in accepted}.values():
            queue.dispatch()

    def _taken(self) -> tuple[list[Callable[[], object]], list[Held]]:
        publishes, accepted = self.publishes, self.accepted
        self.publishes, self.accepted = [], []
        return publishes, accepted
