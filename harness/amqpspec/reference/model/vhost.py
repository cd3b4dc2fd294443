"""A virtual host: names, lifetimes, bindings, the route of a message, and the effect of a restart.

Knows: which exchanges are there from the start, default bindings, auto-delete, exclusive owners, dead letters. Must
not know: permissions, which results are protocol errors (the caller decides).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from itertools import count
from typing import Any

from amqpspec.reference.deviations import NONE, Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.late import Later, at_once
from amqpspec.reference.model.exchanges import Binding, Exchange, route
from amqpspec.reference.model.messages import Message
from amqpspec.reference.model.queues import Consumer, Queue
from amqpspec.reference.model.values import as_text

DEAD_LETTER_QUEUE = "amq.dead-letter"
EXCHANGE_GRACE_S = 0.2
MAX_DEATHS = 16
_PREDECLARED = (
    ("", "direct"),
    ("amq.direct", "direct"),
    ("amq.fanout", "fanout"),
    ("amq.topic", "topic"),
    ("amq.headers", "headers"),
    ("amq.match", "headers"),
)


class Routed(Enum):
    """The result for a published message."""

    QUEUED = "queued"
    UNROUTABLE = "unroutable"
    NO_CONSUMERS = "no consumers"


class VirtualHost:
    """One virtual host."""

    def __init__(
        self,
        name: str,
        on: Deviations = NONE,
        clock: Callable[[], float] = time.monotonic,
        later: Later = at_once,
    ) -> None:
        self.name, self._on, self.faulty, self._clock, self._later = name, on, on.faulty, clock, later
        self.exchanges = {
            n: Exchange(n, kind, durable=True, predeclared=True)
            for n, kind in _PREDECLARED
            if not (n and self._lacks(kind))
        }
        self.queues: dict[str, Queue] = {}
        self._numbers = count(1)
        self._left_over: dict[str, Exchange] = {}
        self._unused_since_s: dict[Exchange, float] = {}
        self._timed_queues: set[Queue] = set()
        self.declare_queue(DEAD_LETTER_QUEUE, durable=True)

    def _lacks(self, kind: str) -> bool:
        """Whether a fault leaves out the standard exchanges of a type."""
        if self.faulty("standard-exchanges-in-one-virtual-host") and self.name != "/":
            return True
        return {
            "direct": self.faulty("direct-exchange-not-predeclared"),
            "fanout": self.faulty("fanout-exchange-not-predeclared"),
            "topic": self.faulty("topic-exchange-not-predeclared"),
            "headers": self.faulty("headers-exchange-not-predeclared"),
        }[kind]

    # --- exchanges

    def declare_exchange(
        self,
        name: str,
        type: str,
        *,
        durable: bool = False,
        auto_delete: bool = False,
        internal: bool = False,
        arguments: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """Create an exchange, or return the one of that name."""
        if name in self.exchanges:
            return self.exchanges[name]
        exchange = Exchange(name, type, durable, auto_delete, internal, arguments or {})
        if self.faulty("exchange-delete-leaves-bindings") and name in self._left_over:
            exchange.bindings = self._left_over.pop(name).bindings
        self.exchanges[name] = exchange
        if self.faulty("unused-exchange-goes-before-its-first-binding"):
            self._unused(exchange)
        return exchange

    def delete_exchange(self, exchange: Exchange) -> None:
        """Delete an exchange, its bindings and the bindings to it."""
        self.exchanges.pop(exchange.name, None)
        self._unused_since_s.pop(exchange, None)
        self._left_over[exchange.name] = exchange
        self._forget(exchange)

    def bind(self, source: Exchange, binding: Binding) -> None:
        """Add a route."""
        source.bind(binding, self._on)
        self._unused_since_s.pop(source, None)

    def unbind(self, source: Exchange, binding: Binding) -> bool:
        """Remove a route; an auto-delete exchange without any goes soon. False if there was no such route."""
        removed = source.unbind(binding)
        if self.faulty("unbind-in-vain-ends-exchange"):
            self._unused(source)
        if removed:
            self._unused(source)
        return removed

    def _forget(self, destination: object) -> None:
        for exchange in tuple(self.exchanges.values()):
            if exchange.forget(destination):
                self._unused(exchange)

    def _unused(self, exchange: Exchange) -> None:
        if not exchange.auto_delete or exchange.bindings or self.faulty("auto-delete-exchange-stays"):
            return
        if self.faulty("unused-exchange-goes-at-once"):
            self.delete_exchange(exchange)
        else:
            self._unused_since_s[exchange] = self._clock()

    # --- queues

    def new_queue_name(self) -> str:
        """A name that no queue has."""
        number = 1 if self.faulty("generated-names-repeat") else next(self._numbers)
        return f"amq.gen-{number:08d}"

    def declare_queue(
        self,
        name: str,
        *,
        durable: bool = False,
        auto_delete: bool = False,
        owner: object = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> Queue:
        """Create a queue with its default binding, or return the one of that name."""
        if name in self.queues:
            return self.queues[name]
        queue = Queue(
            name, self._on, self._dead_letter,
            durable=durable, auto_delete=auto_delete, owner=owner, arguments=arguments, clock=self._clock,
            later=self._later,
        )  # fmt: skip
        self.queues[name] = queue
        if queue.timed:
            self._timed_queues.add(queue)
        if not self.faulty("no-default-binding"):
            self.bind(self.exchanges[""], Binding(queue, name, {}))
        return queue

    def delete_queue(self, queue: Queue) -> int:
        """Delete a queue, its bindings and consumers; returns how many messages waited in it."""
        waiting = tuple(queue.ready())
        queue.deleted = True
        self._timed_queues.discard(queue)
        self.queues.pop(queue.name, None)
        self._forget(queue)
        consumers, queue.consumers = queue.consumers, []
        for consumer in consumers:
            consumer.taker.cancelled(consumer)
        queue.purge()
        if "x-dead-letter-exchange" in queue.arguments:
            for entry in waiting:
                self._dead_letter(queue, entry.message)
        return len(waiting)

    def add_consumer(self, consumer: Consumer) -> None:
        """Add a consumer to the round; it is served with the next ``dispatch``."""
        consumer.queue.had_consumer = True
        consumer.queue.consumers.append(consumer)

    def remove_consumer(self, consumer: Consumer) -> None:
        """End a consumer; an auto-delete queue goes with its last one."""
        queue = consumer.queue
        if consumer in queue.consumers:
            queue.consumers.remove(consumer)
        self.collect(queue)

    def collect(self, queue: Queue) -> None:
        """Delete an auto-delete queue that is not in use any more."""
        if not queue.auto_delete or self.faulty("auto-delete-queue-stays"):
            return
        used = queue.had_consumer or self.faulty("auto-delete-without-a-consumer-ever")
        unused = not queue.consumers or self.faulty("auto-delete-after-first-consumer")
        if used and unused and not queue.deleted:
            self.delete_queue(queue)

    def release_owner(self, owner: object) -> None:
        """A connection has ended: its exclusive queues go."""
        for queue in tuple(self.queues.values()):
            if queue.owner is owner and not self.faulty("exclusive-queue-outlives-connection"):
                self.delete_queue(queue)

    # --- messages

    def publish(self, exchange: Exchange, message: Message, *, immediate: bool = False) -> Routed:
        """Send a message through an exchange into the queues that it reaches."""
        queues = route(exchange, message, self.exchanges, self._on)
        if self.faulty("first-queue-only"):
            queues = queues[:1]
        if not queues and self.faulty("unbound-queue-reached") and message.routing_key in self.queues:
            queues = (self.queues[message.routing_key],)
        if not queues:
            return Routed.UNROUTABLE
        if immediate and not self.faulty("immediate-ignored"):
            queues = tuple(queue for queue in queues if queue.can_deliver_now(message))
        for queue in queues:
            queue.enqueue(message)
        return Routed.QUEUED if queues else Routed.NO_CONSUMERS

    def _dead_letter(self, queue: Queue, message: Message) -> None:
        target = as_text(queue.arguments.get("x-dead-letter-exchange"))
        if message.deaths >= MAX_DEATHS:
            return
        if target is None:
            self.queues[DEAD_LETTER_QUEUE].enqueue(message)
        elif target in self.exchanges and not self.faulty("dead-letters-dropped"):
            key = as_text(queue.arguments.get("x-dead-letter-routing-key"))
            self.publish(self.exchanges[target], _readdressed(message, target, key))

    # --- time and restarts

    def tick(self) -> None:
        """Let time pass: messages, queues and exchanges that are too old go."""
        for queue in tuple(self._timed_queues):
            if queue.unused_too_long:
                self.delete_queue(queue)
            else:
                queue.expire()
        now_s = self._clock()
        for exchange, since_s in tuple(self._unused_since_s.items()):
            if now_s - since_s >= EXCHANGE_GRACE_S:
                self.delete_exchange(exchange)

    @property
    def timed(self) -> bool:
        """Whether anything here can grow too old."""
        return bool(self._timed_queues or self._unused_since_s)

    def restart(self) -> None:
        """Stop and start again: what is durable stays, with persistent messages; the rest is gone."""
        for queue in tuple(self.queues.values()):
            if self._queue_survives(queue):
                queue.keep_persistent()
            else:
                self.delete_queue(queue)
        for exchange in tuple(self.exchanges.values()):
            if not self._exchange_survives(exchange):
                self.delete_exchange(exchange)
        if self.faulty("durable-binding-lost"):
            for name, exchange in self.exchanges.items():
                exchange.bindings = exchange.bindings if name == "" else {}

    def _queue_survives(self, queue: Queue) -> bool:
        if queue.durable:
            return not self.faulty("durable-queue-lost") or queue.name == DEAD_LETTER_QUEUE
        return self.faulty("transient-queue-survives")

    def _exchange_survives(self, exchange: Exchange) -> bool:
        if exchange.predeclared:
            return True
        if exchange.durable:
            return not self.faulty("durable-exchange-lost")
        return self.faulty("transient-exchange-survives")


def _readdressed(message: Message, exchange: str, key: str | None) -> Message:
    return Message(
        exchange,
        message.routing_key if key is None else key,
        message.header,
        message.body,
        message.priority,
        message.persistent,
        message.headers,
        message.publisher,
        message.deaths + 1,
        message.children,
    )


FAULTS = fault_table("""
first-queue-only: of the queues that fit only one gets the message
    [exchange/required-types confirm/all-queues queue/bind/routing-key/direct-exchange-key-matching]
direct-exchange-not-predeclared: there is no amq.direct [exchange/required-instances/direct]
fanout-exchange-not-predeclared: there is no amq.fanout [exchange/required-instances/amq-type]
topic-exchange-not-predeclared: there is no amq.topic [exchange/required-instances/amq-type]
headers-exchange-not-predeclared: there is neither amq.headers nor amq.match [exchange/required-instances/amq-type]
standard-exchanges-in-one-virtual-host: only the first virtual host has the standard exchanges
    [exchange/required-instances/amq-type exchange/required-instances/direct]
durable-exchange-lost: a restart takes durable exchanges [exchange/declare/durable/restart]
transient-exchange-survives: a restart leaves transient exchanges [exchange/declare/durable/restart]
auto-delete-exchange-stays: an auto-delete exchange without bindings stays [exchange/declare/auto-delete/unused]
unused-exchange-goes-at-once: an auto-delete exchange is deleted at the moment when it loses its last binding
    [exchange/declare/auto-delete/delay]
unused-exchange-goes-before-its-first-binding: an auto-delete exchange that was never bound is deleted too
    [exchange/declare/auto-delete/never-used]
unbind-in-vain-ends-exchange: an unbind that finds no binding ends an auto-delete exchange that has none
    [exchange/declare/auto-delete/never-used]
exchange-delete-leaves-bindings: bindings wait for an exchange of the same name [exchange/delete]
unbound-queue-reached: a message that matches no binding goes to the queue that its key names
    [queue/unattached queue/bind/unbound]
no-default-binding: a new queue is not bound to the default exchange
    [queue/declare/default-binding exchange/default-exchange exchange/required-instances/direct]
generated-names-repeat: every generated queue name is the same [queue/declare/queue/default-name-generated]
durable-queue-lost: durable queues do not survive a restart
    [queue/declare/durable/restart queue/declare/durable/persistence]
transient-queue-survives: transient queues survive a restart [queue/declare/durable/restart]
durable-binding-lost: durable bindings do not survive a restart [queue/bind/durable-exchange]
exclusive-queue-outlives-connection: an exclusive queue stays when its connection ends
    [wire/errors/connection-scope queue/declare/exclusive/lifetime]
auto-delete-queue-stays: an auto-delete queue is not deleted with its last consumer
    [queue/declare/auto-delete/last-consumer]
auto-delete-after-first-consumer: an auto-delete queue is deleted with the first consumer that ends
    [queue/declare/auto-delete/last-consumer]
auto-delete-without-a-consumer-ever: an auto-delete queue is deleted although it never had a consumer
    [queue/declare/auto-delete/never-consumed]
dead-letters-dropped: dead messages are lost [basic/deliver/poison]
immediate-ignored: an immediate message waits for a consumer
    [basic/publish/immediate/return basic/publish/immediate/implemented constant/no-consumers]
""")
