"""Queues: order, priorities, the next consumer, messages that return.

Knows: ten priority levels, first in first out within a level, round robin over the consumers that can take a
message, a message's own place to which it returns, lifetimes.
Must not know: exchanges and bindings (the virtual host does), windows (a taker says whether it has room).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.late import Later, at_once
from amqpspec.reference.model.messages import LEVELS, Entry, Message

MAX_REDELIVERIES = 5

DeadLetter = Callable[["Queue", Message], None]


class Taker(Protocol):
    """Where a consumer's messages go: a channel or a session of the protocol above."""

    key: int
    owner: object

    @property
    def flowing(self) -> bool:
        """Whether it takes messages at all just now."""

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether its windows allow one more message."""

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Take a message."""

    def cancelled(self, consumer: Consumer) -> None:
        """Hear that a consumer has ended without having been asked to."""


@dataclass(slots=True, eq=False)
class Consumer:
    """A standing request for the messages of one queue."""

    tag: str
    queue: Queue
    taker: Taker
    no_ack: bool = False
    no_local: bool = False
    exclusive: bool = False
    choosy: bool = False
    """Whether its taker refuses some messages for what they are: those after them may overtake."""


class Queue:
    """One queue."""

    def __init__(
        self,
        name: str,
        on: Deviations,
        dead_letter: DeadLetter,
        *,
        durable: bool = False,
        auto_delete: bool = False,
        owner: object = None,
        arguments: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        later: Later = at_once,
    ) -> None:
        self.name, self.durable, self.auto_delete, self.owner = name, durable, auto_delete, owner
        self.arguments: Mapping[str, Any] = arguments or {}
        self.consumers: list[Consumer] = []
        self.watchers: dict[int, Callable[[], object]] = {}
        """Those who look at messages without taking them; they are notified when something may have changed."""
        self.unacked: set[Entry] = set()
        self.had_consumer = self.deleted = False
        self.faulty = on.faulty
        self._dead_letter, self._clock, self._later = dead_letter, clock, later
        self._levels: tuple[deque[Entry], ...] = tuple(deque() for _ in range(LEVELS))
        self._next_position = 0
        self._dispatching = False
        self.used_at_s = clock()
        self.max_redeliveries: float = MAX_REDELIVERIES

    # --- what it holds

    @property
    def exclusive(self) -> bool:
        """Whether it belongs to one connection."""
        return self.owner is not None

    @property
    def ready_count(self) -> int:
        """Messages that wait for a consumer."""
        return sum(map(len, self._levels))

    @property
    def active_consumer_count(self) -> int:
        """Consumers that are not paused."""
        if self.faulty("consumer-count-includes-paused"):
            return len(self.consumers)
        return sum(consumer.taker.flowing for consumer in self.consumers)

    def ready(self) -> Iterator[Entry]:
        """Waiting messages, the next one first."""
        levels = self._levels if self.faulty("low-priority-first") else reversed(self._levels)
        for level in levels:
            yield from level

    # --- coming in

    def enqueue(self, message: Message) -> None:
        """Put a message at the end of its level; hand out what can be handed out."""
        ttl_ms = _number(self.arguments.get("x-message-ttl"))
        expires_at_s = None if ttl_ms is None else self._clock() + ttl_ms / 1000
        self._insert(Entry(message, self._next_position, expires_at_s=expires_at_s))
        self._next_position += 1
        self.wake()
        self._overflow()

    def requeue(self, entries: Iterable[Entry]) -> None:
        """Put messages back in their places; one that returned too often is dead."""
        for entry in entries:
            if entry not in self.unacked:
                continue
            self.unacked.discard(entry)
            if self.deleted:
                continue
            if entry.deliveries > self.max_redeliveries and not self.faulty("deliveries-not-counted"):
                self._dead_letter(self, entry.message)
            else:
                self._put_back(entry)

    def _put_back(self, entry: Entry) -> None:
        if self.faulty("redelivered-forgotten-on-requeue"):
            entry.deliveries = 0
        self._insert(entry)

    def _insert(self, entry: Entry) -> None:
        level = self._levels[self._level(entry.message)]
        # A message that returns goes to its own place, not to the end: order holds within a level (0-9-1 §4.7).
        at = len(level)
        while at and level[at - 1].position > entry.position:
            at -= 1
        if self.faulty("persistent-overtakes-transient") and entry.message.persistent:
            at = 0
        if self.faulty("last-in-first-out"):
            at = 0
        level.insert(at, entry)

    def _level(self, message: Message) -> int:
        if self.faulty("priority-ignored"):
            return 0
        if self.faulty("priority-five-is-low"):
            return 9 if message.level > 5 else 0
        return message.level

    def _overflow(self) -> None:
        limit = _number(self.arguments.get("x-max-length"))
        if limit is None:
            return
        while self.ready_count > limit:
            entry = next((e for e in self.ready() if not e.message.persistent), None)
            if entry is None:
                return
            self._remove(entry)
            self._dead_letter(self, entry.message)

    # --- going out

    def can_deliver_now(self, message: Message) -> bool:
        """Whether a consumer would receive a message at once, after the deliveries in progress."""
        self.dispatch()
        return not self.ready_count and self._taker_of(Entry(message, 0)) is not None

    def wake(self) -> None:
        """Something has changed: hand out messages later."""
        self._later(self.dispatch)

    def give_back(self, entries: list[Entry]) -> None:
        """Put messages back later, and hand out what can be handed out then."""
        self._later(lambda: self._give_back(entries))

    def _give_back(self, entries: list[Entry]) -> None:
        self.requeue(entries)
        self.dispatch()

    def dispatch(self) -> None:
        """Hand out messages for as long as some consumer can take one."""
        if (
            self._dispatching
        ):  # a delivery can settle others and lead back here; the loop below sees what that changed
            return
        self._dispatching = True
        try:
            while (pair := self._next_pair()) is not None:
                self._hand_over(*pair)
        finally:
            self._dispatching = False
        for look in tuple(self.watchers.values()):
            look()

    def _next_pair(self) -> tuple[Entry, Consumer] | None:
        if not self.consumers:
            return None
        choosy = any(consumer.no_local or consumer.choosy for consumer in self.consumers)
        for entry in self.ready():
            consumer = self._taker_of(entry)
            if consumer is not None:
                return entry, consumer
            if not (choosy or entry.refused_by):
                return None  # no one has room for it, and what is after it must not overtake it
        return None

    def _taker_of(self, entry: Entry) -> Consumer | None:
        return next((c for c in self.consumers if self._may_take(c, entry)), None)

    def _may_take(self, consumer: Consumer, entry: Entry) -> bool:
        taker, message = consumer.taker, entry.message
        if not taker.flowing or not taker.has_room(consumer, message):
            return False
        if taker.key in entry.refused_by and not self.faulty("rejected-goes-back-to-rejecter"):
            return False
        local = consumer.no_local and (message.publisher is taker.owner or self.faulty("no-local-blocks-all"))
        return not local or self.faulty("no-local-ignored")

    def _hand_over(self, entry: Entry, consumer: Consumer) -> None:
        # Round robin: who was served last follows all others.
        if not self.faulty("first-consumer-served-always"):
            self.consumers.remove(consumer)
            if not self.faulty("consumer-ends-with-first-message"):
                self.consumers.append(consumer)
        redelivered = self.take(entry, keep=not consumer.no_ack)
        consumer.taker.deliver(consumer, entry, redelivered)

    def take(self, entry: Entry, *, keep: bool) -> bool:
        """Take a waiting message out, to be acknowledged or gone; returns whether it was delivered before."""
        self._remove(entry)
        redelivered = entry.redelivered
        entry.deliveries += 1
        if keep or self.faulty("no-ack-waits-for-ack"):
            self.unacked.add(entry)
        return redelivered

    def first_for(self, key: int) -> Entry | None:
        """The next message that a taker has not refused."""
        self.used_at_s = self._clock()
        if self.faulty("rejected-goes-back-to-rejecter"):
            return next(self.ready(), None)
        return next((entry for entry in self.ready() if key not in entry.refused_by), None)

    def settle(self, entry: Entry) -> None:
        """Forget a message that was acknowledged."""
        self.unacked.discard(entry)

    def discard(self, entry: Entry) -> None:
        """Give up a message that no one wants: dead-letter it if that is configured."""
        self.unacked.discard(entry)
        if not self.deleted and "x-dead-letter-exchange" in self.arguments:
            self._dead_letter(self, entry.message)

    def _remove(self, entry: Entry) -> None:
        level = self._levels[self._level(entry.message)]
        if level[0] is entry:
            level.popleft()
        else:
            level.remove(entry)

    # --- ends

    def purge(self) -> int:
        """Drop what waits; returns how many there were."""
        count = self.ready_count
        for level in self._levels:
            level.clear()
        if self.faulty("purge-drops-unacked"):
            self.unacked.clear()
        return count

    def keep_persistent(self) -> None:
        """What a restart leaves of the messages: the persistent ones."""
        kept = [e for e in self.ready() if e.message.persistent]
        self.purge()
        if not self.faulty("persistent-message-lost"):
            for entry in kept:
                entry.refused_by.clear()
                self._insert(entry)

    def expire(self) -> None:
        """Dead-letter what has waited for longer than the queue allows."""
        now_s = self._clock()
        for entry in tuple(self.ready()):
            if entry.expires_at_s is not None and entry.expires_at_s <= now_s:
                self._remove(entry)
                self._dead_letter(self, entry.message)

    @property
    def timed(self) -> bool:
        """Whether it, or something in it, can grow too old."""
        return "x-message-ttl" in self.arguments or "x-expires" in self.arguments

    @property
    def unused_too_long(self) -> bool:
        """Whether ``x-expires`` has passed without a consumer."""
        limit_ms = _number(self.arguments.get("x-expires"))
        if self.consumers:
            self.used_at_s = self._clock()
        return limit_ms is not None and self._clock() - self.used_at_s > limit_ms / 1000


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


FAULTS = fault_table("""
consumer-count-includes-paused: declare-ok counts consumers that flow has paused [queue/declare-ok/consumer-count]
purge-drops-unacked: purge drops messages that await an acknowledgement [queue/purge/unacknowledged]
no-local-blocks-all: a no-local consumer gets nothing at all [domain/no-local]
persistent-message-lost: persistent messages do not survive a restart
    [basic/persistence/respected basic/persistence/storage confirm/all-queues]
priority-ignored: priorities mean nothing [basic/priority/two-levels basic/priority/ten-levels]
priority-five-is-low: priority 5 counts as low [basic/priority/two-levels]
low-priority-first: low priorities go first [basic/priority/two-levels]
persistent-overtakes-transient: persistent messages overtake transient ones [basic/priority/order]
last-in-first-out: the last message of a queue is delivered first [basic/priority/order wire/content/ordering]
no-ack-waits-for-ack: a message delivered without acknowledgement stays in the queue's books
    [basic/no-ack domain/no-ack]
consumer-ends-with-first-message: a consumer gets one message and no more [basic/consume]
first-consumer-served-always: the first consumer receives all messages that it can take [wire/queue/round-robin]
no-local-ignored: a no-local consumer gets what its own connection published [domain/no-local]
redelivered-forgotten-on-requeue: a message that went back to its queue counts as new
    [domain/redelivered/implementation-flag]
deliveries-not-counted: a message may return any number of times [basic/deliver/count basic/deliver/poison]
rejected-goes-back-to-rejecter: a rejected message returns to the channel that rejected it
    [basic/reject/requeue/same-channel basic/nack/requeue/same-channel basic/reject/requeue/alternative
    basic/nack/requeue/alternative]
""")
