"""Exchanges, their bindings, and the routing of a message.

Knows: a message reaches an exchange or a queue at most once, regardless of the number of routes and cycles. Must not
know: what a queue does with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model.messages import Message
from amqpspec.reference.model.routing import MATCHERS
from amqpspec.reference.model.values import as_text, canonical

if TYPE_CHECKING:
    from amqpspec.reference.model.queues import Queue

EXCHANGE_TYPES = tuple(MATCHERS)


@dataclass(frozen=True, slots=True)
class Binding:
    """One route out of an exchange, to a queue or to another exchange."""

    destination: Queue | Exchange
    routing_key: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> Hashable:
        """What makes two bindings the same."""
        return (id(self.destination), self.routing_key, canonical(self.arguments))

    @property
    def durable(self) -> bool:
        """Whether the destination survives a restart."""
        return self.destination.durable


@dataclass(slots=True, eq=False)
class Exchange:
    """An exchange; ``predeclared`` ones belong to the virtual host and survive everything."""

    name: str
    type: str
    durable: bool = False
    auto_delete: bool = False
    internal: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)
    predeclared: bool = False
    bindings: dict[Hashable, Binding] = field(default_factory=dict)

    @property
    def alternate(self) -> str | None:
        """The exchange that takes what this one cannot route."""
        return as_text(self.arguments.get("alternate-exchange"))

    def bind(self, binding: Binding, on: Deviations) -> None:
        """Add a route; one that is there already changes nothing."""
        key = binding.key
        if on.faulty("one-binding-per-destination"):
            self.forget(binding.destination)
        if on.faulty("duplicate-bindings-kept"):
            key = (key, len(self.bindings))
        self.bindings.setdefault(key, binding)

    def unbind(self, binding: Binding) -> bool:
        """Remove a route; False if there was none."""
        return self.bindings.pop(binding.key, None) is not None

    def forget(self, destination: object) -> bool:
        """Remove every route to a destination; True if there was one."""
        removed = [key for key, b in self.bindings.items() if b.destination is destination]
        for key in removed:
            del self.bindings[key]
        return bool(removed)

    def matching(self, message: Message, key: str, on: Deviations) -> Iterator[Binding]:
        """The bindings that match a message."""
        matches = MATCHERS[self.type]
        for binding in tuple(self.bindings.values()):
            if matches(binding.routing_key, binding.arguments, key, message.headers, on):
                yield binding


def route(
    start: Exchange, message: Message, exchanges: Mapping[str, Exchange], on: Deviations
) -> tuple[Queue, ...]:
    """The queues that a message reaches from an exchange, each once, in the order of the bindings."""
    queues: list[Queue] = []
    seen: Counter[int] = Counter()
    waiting = [start]
    often = 3 if on.faulty("exchange-reached-again") else 1
    while waiting:
        exchange = waiting.pop(0)
        if seen[id(exchange)] >= often:
            continue
        seen[id(exchange)] += 1
        targets = _targets(exchange, message, on)
        if on.faulty("bindings-shared-by-type"):
            alike = (x for x in exchanges.values() if x is not exchange and x.type == exchange.type)
            targets += [t for x in alike for t in _targets(x, message, on)]
        queues += [t for t in targets if not isinstance(t, Exchange)]
        waiting += [t for t in targets if isinstance(t, Exchange)]
        unrouted = not targets or on.faulty("alternate-exchange-takes-everything")
        alternate = exchanges.get(exchange.alternate) if exchange.alternate else None
        if alternate is not None and unrouted and not on.faulty("alternate-exchange-ignored"):
            waiting.append(alternate)
    repeats = on.faulty("delivered-once-per-binding") or on.faulty("exchange-reached-again")
    return tuple(queues) if repeats else tuple(_once(queues))


def _targets(exchange: Exchange, message: Message, on: Deviations) -> list[Queue | Exchange]:
    keys = (message.routing_key, *message.more_keys)
    targets = [b.destination for key in keys for b in exchange.matching(message, key, on)]
    if on.faulty("bound-exchanges-not-followed"):
        return [t for t in targets if not isinstance(t, Exchange)]
    return targets


def _once(queues: Iterable[Queue]) -> Iterator[Queue]:
    seen: set[int] = set()
    for queue in queues:
        if id(queue) not in seen:
            seen.add(id(queue))
            yield queue


FAULTS = fault_table("""
one-binding-per-destination: a second binding replaces the first one
    [exchange/required-types exchange/bind/duplicates queue/bind/binding-count]
bindings-shared-by-type: exchanges of the same type use each other's bindings [exchange/required-types]
bound-exchanges-not-followed: messages do not pass from exchange to exchange
    [exchange/declare/internal exchange/bind/duplicates exchange/bind/cyclical
    exchange/bind/destination/default-exchange exchange/bind/source/default-exchange]
alternate-exchange-ignored: an alternate exchange gets nothing [extension/alternate-exchange]
alternate-exchange-takes-everything: an alternate exchange also receives routed messages
    [extension/alternate-exchange]
exchange-reached-again: a message passes an exchange once for each path, and loops in cycles
    [exchange/bind/unique exchange/bind/cyclical]
duplicate-bindings-kept: a binding made twice has to be removed twice [queue/bind/duplicates exchange/bind/duplicates]
delivered-once-per-binding: a queue receives a message once for each matching binding
    [queue/bind/unique exchange/bind/unique extension/sender-selected]
""")
