"""Units of work: what a transaction puts off until it is committed, and transfers that wait for their outcome.

Knows: what commit and rollback do to messages. Must not know: commands, sessions' states, branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amqpspec.reference.model import Entry, Queue


@dataclass(slots=True, eq=False)
class Held:
    """One transfer in explicit mode that has no outcome yet.

    ``book`` is where its session keeps it by ``number``; ``redelivered`` is what the queue said before it.
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
        """Put the message back in its place; whether it counts as delivered before, too."""
        if self.acquired:
            self.entry.deliveries = int(redelivered or self.redelivered)
            self.queue.requeue([self.entry])

    def settle(self) -> None:
        """The message is the client's."""
        self.queue.settle(self.entry)


@dataclass(slots=True, eq=False)
class Work:
    """One unit of work; ``ends_with_session`` is that of a local transaction."""

    ends_with_session: bool = True
    publishes: list[Callable[[], object]] = field(default_factory=list)
    accepted: list[Held] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing to commit."""
        return not (self.publishes or self.accepted)

    def commit(self) -> None:
        """Put everything into effect, in its order; the next unit begins."""
        publishes, accepted = self._taken()
        for held in accepted:
            held.settle()
        for publish in publishes:
            publish()

    def hold_again(self) -> None:
        """Forget everything: who had accepted messages still holds them."""
        _, accepted = self._taken()
        for held in accepted:
            held.book[held.number] = held

    def give_back(self) -> None:
        """Forget everything: what was accepted goes back to its queue."""
        _, accepted = self._taken()
        for held in accepted:
            held.give_back(redelivered=True)
        for queue in {id(held.queue): held.queue for held in accepted}.values():
            queue.dispatch()

    def _taken(self) -> tuple[list[Callable[[], object]], list[Held]]:
        publishes, accepted = self.publishes, self.accepted
        self.publishes, self.accepted = [], []
        return publishes, accepted
