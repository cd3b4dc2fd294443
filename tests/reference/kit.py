"""What tests of the model share: a clock that is set, a channel that records, messages."""

from __future__ import annotations

from itertools import count
from typing import Any

from amqpspec.reference.deviations import NONE, Deviations
from amqpspec.reference.model import (
    Consumer,
    Deliveries,
    Entry,
    Message,
    Queue,
    Routed,
    VirtualHost,
    Window,
)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Channel:
    """A taker with windows of its own."""

    _keys = count(1)

    def __init__(self, owner: object = None, on: Deviations = NONE) -> None:
        self.key, self.owner = next(self._keys), owner or self
        self.flowing = True
        self.shared = Window(on)
        self.deliveries = Deliveries(on, self.shared)
        self.seen: list[tuple[bytes, bool]] = []
        self.lost: list[str] = []

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        return consumer.no_ack or self.deliveries.admits(message.size_octets)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        self.seen.append((entry.message.body, redelivered))
        if not consumer.no_ack:
            self.deliveries.hold(entry, consumer.queue, consumer)

    def cancelled(self, consumer: Consumer) -> None:
        self.lost.append(consumer.tag)

    def bodies(self) -> list[bytes]:
        return [body for body, _ in self.seen]

    def put_back(self) -> None:
        for delivery in self.deliveries.release_all():
            delivery.queue.requeue([delivery.entry])
            delivery.queue.dispatch()


def message(body: str | int = "", key: str = "q", **more: Any) -> Message:
    return Message(exchange="", routing_key=key, header=b"", body=str(body).encode(), **more)


def consume(vhost: VirtualHost, queue: Queue, channel: Channel, **flags: bool) -> Consumer:
    consumer = Consumer(f"c{channel.key}", queue, channel, **flags)
    vhost.add_consumer(consumer)
    queue.dispatch()
    return consumer


def send(vhost: VirtualHost, *messages: Message, exchange: str = "") -> list[Routed]:
    return [vhost.publish(vhost.exchanges[exchange], m) for m in messages]


def waiting(queue: Queue) -> list[bytes]:
    return [entry.message.body for entry in queue.ready()]
