"""The books of a program: what queues hold, what channels hold unacknowledged, who consumes, what is uncertain.

Knows: the rules of messages (0-9-1 basic, tx, confirm). Must not know: how a step is sent, what follows.

Where several things happen at once, a copy of a message is ``unsure``: it may be there or not. Whether it was seen
before may be unknown as well; both stay so until the target shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation

PLAIN, CONFIRM, TX = "plain", "confirm", "tx"


@dataclass(eq=False, slots=True)
class Copy:
    """A message in one queue. ``seen`` is whether it was delivered before, None if that is unknown.

    ``fresh``: it was never given back, so that its ``place`` in the order of the queue is known. ``refused`` are the
    channels that gave it back: a target need not deliver it to them again (0-9-1 basic.reject).
    """

    number: int
    queue: Queue
    seen: bool | None = False
    fresh: bool = True
    unsure: bool = False
    refused: set[Channel] = field(default_factory=set)
    place: int = 0

    @property
    def body(self) -> bytes:
        """What is sent: the number."""
        return b"m%d" % self.number


@dataclass(eq=False, slots=True)
class Queue:
    """A queue; ``owner`` is the connection of an exclusive one. ``gone`` are copies that left it, and how."""

    name: str
    owner: int | None = None
    bound: bool = False
    ready: list[Copy] = field(default_factory=list)
    gone: dict[int, str] = field(default_factory=dict)
    alive: bool = True

    @property
    def certain(self) -> list[Copy]:
        """The copies that have to be there."""
        return [copy for copy in self.ready if not copy.unsure]


@dataclass(eq=False, slots=True)
class Consumer:
    """A consumer; ``last`` is the place of the last fresh message that it received."""

    tag: str
    queue: Queue
    no_ack: bool
    exclusive: bool = False
    last: int = 0


@dataclass(eq=False, slots=True)
class Channel:
    """A channel: mode, unacknowledged copies by tag, consumers by tag, what a transaction holds back.

    ``ending``: what it holds may be given back from now on.
    """

    link: int
    number: int
    mode: str = PLAIN
    ending: bool = False
    last_tag: int = 0
    unacked: dict[int, Copy] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    published: list[Copy] = field(default_factory=list)
    acked: set[int] = field(default_factory=set)
    sent: int = 0
    unconfirmed: set[int] = field(default_factory=set)

    @property
    def open_tags(self) -> list[int]:
        """Tags that can be settled."""
        return [tag for tag in self.unacked if tag not in self.acked]

    def upto(self, tag: int, *, multiple: bool) -> list[int]:
        """The tags that settling a tag settles."""
        return [t for t in self.open_tags if t <= tag] if multiple else [tag]


class Books:
    """All queues and channels. ``channels`` has the open ones by connection and number."""

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.links: set[int] = set()
        self.channels: dict[tuple[int, int], Channel] = {}
        self.messages = self.placed = 0

    # --- looking

    def consumers_of(self, queue: Queue) -> Iterator[tuple[Channel, Consumer]]:
        """Who consumes from a queue."""
        for channel in self.channels.values():
            for consumer in channel.consumers.values():
                if consumer.queue is queue:
                    yield channel, consumer

    def owed(self) -> list[tuple[Copy, Channel]]:
        """Copies that have to be delivered, each with a channel that consumes them."""
        return [
            (copy, channel)
            for queue in self.queues.values()
            for channel, _ in self.consumers_of(queue)
            for copy in queue.certain
            if channel not in copy.refused
        ]

    def has_unsure(self, queue: Queue) -> bool:
        """Whether it is open what a queue holds."""
        return any(copy.unsure for copy in queue.ready)

    # --- messages

    def new(self, queues: list[Queue]) -> list[Copy]:
        """The copies of a new message."""
        self.messages += 1
        return [Copy(self.messages, queue) for queue in queues]

    def enqueue(self, copy: Copy) -> None:
        """A copy has reached its queue."""
        if copy.queue.alive:
            self.placed += 1
            copy.place = self.placed
            copy.queue.ready.append(copy)

    def publish(self, channel: Channel, queues: list[Queue]) -> Copy | None:
        """Publish a message on a channel to these queues; gives a copy of it, if there is one."""
        copies = self.new(queues)
        if channel.mode == TX:
            channel.published += copies
        else:
            for copy in copies:
                self.enqueue(copy)
        if channel.mode == CONFIRM:
            channel.sent += 1
            channel.unconfirmed.add(channel.sent)
        return copies[0] if copies else None

    def settle(self, channel: Channel, tags: list[int], *, requeue: bool, how: str) -> None:
        """Acknowledge, reject or give back."""
        if channel.mode == TX:
            channel.acked.update(tags)
            return
        for tag in tags:
            copy = channel.unacked.pop(tag)
            if requeue:
                copy.refused.add(channel)
                self.give_back(copy)
            else:
                copy.queue.gone[copy.number] = how

    def give_back(self, copy: Copy, *, seen: bool | None = True) -> None:
        """A copy returns to its queue, at any place of it."""
        copy.seen, copy.fresh = seen, False
        if copy.queue.alive:
            copy.queue.ready.append(copy)

    def commit(self, channel: Channel) -> None:
        """Everything that the transaction held back happens."""
        for copy in channel.published:
            self.enqueue_committed(copy)
        for tag in channel.acked:
            copy = channel.unacked.pop(tag)
            copy.queue.gone[copy.number] = "acknowledged in a transaction"
        channel.published, channel.acked = [], set()

    def enqueue_committed(self, copy: Copy) -> None:
        """A copy reaches its queue, or perhaps the one that has taken its name: the specification leaves that open."""
        self.enqueue(copy)
        if not copy.queue.alive and copy.queue.name in self.queues:
            self.enqueue(Copy(copy.number, self.queues[copy.queue.name], fresh=False, unsure=True))

    def roll_back(self, channel: Channel) -> None:
        """Nothing of it happens; what was acknowledged is unacknowledged again."""
        for copy in channel.published:
            copy.queue.gone[copy.number] = "rolled back"
        channel.published, channel.acked = [], set()

    # --- ends

    def end_channel(self, channel: Channel) -> None:
        """A channel ends: what it holds goes back, its transaction is undone."""
        self.channels.pop((channel.link, channel.number), None)
        self.roll_back(channel)
        for copy in channel.unacked.values():
            self.give_back(copy)
        for consumer in channel.consumers.values():
            # What may have arrived late may have been in flight to the channel.
            for copy in consumer.queue.ready:
                copy.seen = None if copy.unsure else copy.seen
        channel.unacked, channel.consumers = {}, {}

    def end_link(self, link: int) -> None:
        """A connection ends: its channels, and its exclusive queues."""
        self.links.discard(link)
        for channel in [c for c in self.channels.values() if c.link == link]:
            self.end_channel(channel)
        for queue in [q for q in self.queues.values() if q.owner == link]:
            self.remove(queue, "deleted with its connection")

    def remove(self, queue: Queue, how: str) -> None:
        """A queue ends: its messages and consumers with it; what is unacknowledged can still be settled."""
        queue.alive = False
        self.queues.pop(queue.name, None)
        self.empty(queue, how)
        for channel, consumer in list(self.consumers_of(queue)):
            del channel.consumers[consumer.tag]

    def empty(self, queue: Queue, how: str) -> None:
        """Its messages are gone."""
        queue.gone.update((copy.number, how) for copy in queue.ready)
        queue.ready = []

    # --- what arrives

    def delivered(
        self, channel: Channel, consumer: Consumer, tag: int, body: bytes, *, redelivered: bool
    ) -> None:
        """A message was delivered; raises Violation."""
        copy = self.taken(consumer.queue, body, redelivered=redelivered)
        if copy.fresh and copy.place < consumer.last:
            raise Violation(
                "delivered out of order",
                "messages in the order of the queue",
                f"m{copy.number} behind a later one",
            )
        consumer.last = max(consumer.last, copy.place) if copy.fresh else consumer.last
        self.hold(channel, tag, copy, no_ack=consumer.no_ack)

    def got(self, queue: Queue, body: bytes, *, redelivered: bool, among: int) -> Copy:
        """A message was fetched, one of the first few if their order is known; raises Violation."""
        in_order = all(copy.fresh and not copy.unsure for copy in queue.ready)
        first = queue.ready[:among]
        copy = self.taken(queue, body, redelivered=redelivered)
        if in_order and copy not in first:
            raise Violation(
                "fetched out of order", f"m{first[0].number}, the first of the queue", f"m{copy.number}"
            )
        return copy

    def taken(self, queue: Queue, body: bytes, *, redelivered: bool) -> Copy:
        """Take the copy with a body out of a queue; raises Violation if it cannot be there."""
        self._returned(queue, body)
        copy = next((copy for copy in queue.ready if copy.body == body), None)
        if copy is None:
            raise Violation(
                f"delivered: {self._where(queue, body)}",
                f"a message that {queue.name} holds",
                self._shown(queue, body),
            )
        if copy.seen is not None and copy.seen != redelivered:
            expected = "delivered for the first time" if not copy.seen else "delivered before"
            raise Violation(
                f"redelivered is {str(redelivered).lower()}", f"redelivered as of a message {expected}",
                f"redelivered={redelivered} for m{copy.number}",
            )  # fmt: skip
        queue.ready.remove(copy)
        return copy

    def _returned(self, queue: Queue, body: bytes) -> None:
        """A channel that is ending may have given back a copy already."""
        for channel in self.channels.values():
            for tag, copy in list(channel.unacked.items()) if channel.ending else ():
                if copy.queue is queue and copy.body == body:
                    del channel.unacked[tag]
                    self.give_back(copy)

    def hold(self, channel: Channel, tag: int, copy: Copy, *, no_ack: bool) -> None:
        """A channel holds a copy until it settles it; raises Violation for a tag that is not new."""
        if tag <= channel.last_tag:
            raise Violation("delivery tag not new", f"a delivery tag above {channel.last_tag}", str(tag))
        channel.last_tag, copy.unsure = tag, False
        if no_ack:
            copy.queue.gone[copy.number] = "delivered without acknowledgement"
        else:
            channel.unacked[tag] = copy

    def _where(self, queue: Queue, body: bytes) -> str:
        """Describe the state of a message."""
        number = int(body[1:]) if body[:1] == b"m" and body[1:].isdigit() and len(body) < 12 else 0
        if any(
            copy.body == body and copy.queue is queue
            for c in self.channels.values()
            for copy in c.unacked.values()
        ):
            return "unacknowledged at a channel"
        if any(
            copy.body == body and copy.queue is queue for c in self.channels.values() for copy in c.published
        ):
            return "published in a transaction that is open"
        return queue.gone.get(number, "never published to this queue")

    def _shown(self, queue: Queue, body: bytes) -> str:
        return f"{body[:32].decode('ascii', 'backslashreplace')}: {self._where(queue, body)}"
