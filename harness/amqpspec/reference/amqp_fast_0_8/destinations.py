"""The destinations of a virtual host: queues, topics, and incomplete messages.

Knows: which name is a queue, who subscribes to which topic, what selectors match, numbers for browsing.
Must not know: channels, handles, octets of commands.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Message, Queue, VirtualHost

QUEUE, TOPIC, ANY = 1, 2, 3


@dataclass(slots=True, eq=False)
class Partial:
    """A message that has arrived in part: its head, as much of the body as is here, the hash it should have."""

    head: bytes
    body_size: int
    hash: str = ""
    body: bytearray = field(default_factory=bytearray)


class Destinations:
    """The destinations of one virtual host; ``partials`` are by the octets of their heads."""

    def __init__(self, vhost: VirtualHost) -> None:
        self.vhost, self.faulty = vhost, vhost.faulty
        self._topics: dict[str, list[tuple[Consumer, bool]]] = {}
        self.once_exclusive: set[str] = set()
        self.partials: dict[bytes, Partial] = {}

    # --- queues

    def queue(self, name: str) -> Queue | None:
        """The queue of a name; queues of other dialects' models are excluded."""
        return self.vhost.queues.get(name)

    def make_queue(self, name: str, owner: object) -> Queue:
        """A queue; without a name it gets one of its own and goes with its owner."""
        if not name:
            queue = self.vhost.declare_queue(self._fresh_name(), owner=owner)
        else:
            queue = self.vhost.declare_queue(name, durable=True)
        queue.max_redeliveries = math.inf
        return queue

    def _fresh_name(self) -> str:
        if self.faulty("generated-queue-names-repeat"):
            return "temporary.1"
        return f"temporary.{self.vhost.new_queue_name().rpartition('-')[2]}"

    # --- topics

    def subscribe(self, name: str, consumer: Consumer, no_local: bool) -> None:
        """Give a consumer, which has a separate queue, the messages sent to a topic from now on."""
        self._topics.setdefault(name, []).append((consumer, no_local))

    def unsubscribe(self, consumer: Consumer) -> None:
        """End a subscription."""
        for name, consumers in tuple(self._topics.items()):
            consumers[:] = [pair for pair in consumers if pair[0] is not consumer]
            if not consumers:
                del self._topics[name]

    def topic_queue(self, name: str) -> Queue:
        """A queue of a subscription: it has no name by which a client could find it."""
        queue = Queue(name, self.vhost._on, lambda queue, message: None)
        queue.max_redeliveries = math.inf
        return queue

    # --- messages

    def is_queue(self, service: int, name: str) -> bool:
        """Whether a destination is meant as a queue."""
        if service == ANY and self.faulty("any-is-always-a-topic"):
            return False
        if service == ANY and self.faulty("any-is-always-a-queue"):
            return True
        return service == QUEUE or (service == ANY and name in self.vhost.queues)

    def send(self, service: int, name: str, message: Message) -> None:
        """Put a message where its name leads; what no one has subscribed to is gone."""
        if _is_expired(message, self.faulty):
            return
        if self.is_queue(service, name):
            queue = self.queue(name)
            if queue is not None:
                self._enqueue(queue, message)
            return
        subscribers = list(self._topics.get(name, ()))
        if self.faulty("topic-serves-one-subscriber"):
            subscribers = subscribers[:1]
        for consumer, no_local in subscribers:
            if not (no_local and self._is_local(consumer, message)):
                consumer.queue.enqueue(message)

    def _enqueue(self, queue: Queue, message: Message) -> None:
        queue.enqueue(message)
        if self.faulty("queue-serves-every-reader") and len(queue.consumers) > 1:
            queue.enqueue(message)

    def _is_local(self, consumer: Consumer, message: Message) -> bool:
        if self.faulty("no-local-not-known"):
            return False
        return message.publisher is consumer.taker.owner or self.faulty("no-local-hides-all")


def _is_expired(message: Message, faulty: Any) -> bool:
    expires = message.headers.get(EXPIRATION, 0)
    if not expires and faulty("no-expiration-is-expired"):
        return True
    return bool(expires) and (expires < time.time() or faulty("expiration-drops-early"))


EXPIRATION, FIELDS = "expiration", "fields"
"""Where a message of the model keeps its expiration, and the fields by which selectors choose."""

Selector = Mapping[str, tuple[str, Any]]


def matches(selector: Selector, message: Message, faulty: Any) -> bool:
    """Whether a message has all fields of a selector; an empty value asks for presence only."""
    if faulty("selectors-ignored"):
        return True
    found = [_has(message.headers[FIELDS], name, value, faulty) for name, (_, value) in selector.items()]
    if faulty("selector-needs-one-field"):
        return not found or any(found)
    return all(found)


def _has(fields: Selector, name: str, value: Any, faulty: Any) -> bool:
    if name not in fields:
        return False
    if value == b"" and not faulty("selector-takes-empty-literally"):
        return True
    actual = fields[name][1]
    if faulty("selector-compares-255-octets") and isinstance(actual, bytes) and isinstance(value, bytes):
        return actual[:255] == value[:255]
    return bool(actual == value) or faulty("selector-looks-at-names-only")


_known: WeakKeyDictionary[VirtualHost, Destinations] = WeakKeyDictionary()


def destinations_of(vhost: VirtualHost) -> Destinations:
    """The destinations of a virtual host."""
    if vhost not in _known:
        _known[vhost] = Destinations(vhost)
    return _known[vhost]


FAULTS = fault_table("""
generated-queue-names-repeat: every queue that the broker names has the same name
    [handle/created/unique handle/consume/generated]
any-is-always-a-topic: service type 3 is a topic, always [service-types/any]
any-is-always-a-queue: service type 3 is a queue, always [service-types/any]
topic-serves-one-subscriber: of the subscribers of a topic one gets the message [services/topic]
queue-serves-every-reader: with two readers, a queue delivers each message twice [services/queue]
no-local-not-known: no-local has no effect [handle/consume/no-local]
no-local-hides-all: with no-local, a topic delivers nothing [handle/consume/no-local]
no-expiration-is-expired: a message without expiration is dropped [messages/head/no-expiration]
expiration-drops-early: a message with an expiration is dropped before its time [messages/head/expiration]
selectors-ignored: selectors match every message [handle/consume/selector dictionaries/short-names]
selector-needs-one-field: one field of a selector is enough [handle/consume/selector]
selector-takes-empty-literally: an empty value in a selector matches empty values only [handle/consume/selector]
selector-compares-255-octets: selectors compare the first 255 octets of strings [tables/strings]
selector-looks-at-names-only: selectors compare names, not values [handle/consume/selector]
""")
