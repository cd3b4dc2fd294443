"""C13: resources for each channel and connection.

Knows: what a target has to store for a frame. Must not know: how much it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amqpspec.fuzz.families.base import Location, many
from amqpspec.fuzz.families.material import RESOURCE_COUNTS
from amqpspec.fuzz.methods.kit import Kit, can_say, kit
from amqpspec.fuzz.states.model import State

_MANY_CHANNELS = 2047


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    for role, (method, make) in _ROLES.items():
        if can_say(dialect_id, state, method) and kit(dialect_id).has(method):
            bends = many(role, RESOURCE_COUNTS, partial(make, kit(dialect_id)))
            yield Location(role, bends, ("connection/tune/channel-max",))


def _channels(tools: Kit, count: int) -> bytes:
    channels = range(1, 1 + min(count, _MANY_CHANNELS))
    return b"".join(tools.method("channel.open", channel) for channel in channels)


def _reopened(tools: Kit, count: int) -> bytes:
    """One channel opened and closed again and again, which has to leave nothing behind."""
    close = tools.method("channel.close", reply_code=200, reply_text="bye")
    return (tools.method("channel.open") + close) * count


def _queues(tools: Kit, count: int) -> bytes:
    says = (
        tools.method(
            "queue.declare",
            queue=f"amqpspec.fuzz.{n}",
            exclusive=True,
            auto_delete=True,
            no_wait=True,
            nowait=True,
        )
        for n in range(count)
    )
    return b"".join(says)


def _consumers(tools: Kit, count: int) -> bytes:
    declare = tools.method("queue.declare", queue="amqpspec.fuzz.q", exclusive=True, auto_delete=True)
    says = (
        tools.method("basic.consume", queue="amqpspec.fuzz.q", consumer_tag=f"c{n}") for n in range(count)
    )
    return declare + b"".join(says)


def _bindings(tools: Kit, count: int) -> bytes:
    declare = tools.method("queue.declare", queue="amqpspec.fuzz.q", exclusive=True, auto_delete=True)
    says = (
        tools.method("queue.bind", queue="amqpspec.fuzz.q", exchange="amq.direct", routing_key=f"k{n}")
        for n in range(count)
    )
    return declare + b"".join(says)


def _unfinished(tools: Kit, count: int) -> bytes:
    """Contents begun on many channels, none of which ends."""
    channels = range(2, 2 + min(count, _MANY_CHANNELS - 1))
    parts = (
        tools.method("channel.open", n)
        + tools.method("basic.publish", n)
        + tools.header(1 << 20, n)
        + tools.body(b"x", n)
        for n in channels
    )
    return b"".join(parts)


def _transactions(tools: Kit, count: int) -> bytes:
    return tools.method("tx.select") + tools.publish(b"x" * 64) * count


def _unrouted(tools: Kit, count: int) -> bytes:
    """Messages to return, which no one reads."""
    method = tools.method("basic.publish", routing_key="amqpspec.fuzz.none", mandatory=True)
    return (method + tools.header(64) + tools.body(b"x" * 64)) * count


_ROLES: dict[str, tuple[str, Callable[[Kit, int], bytes]]] = {
    "many.channels": ("channel.open", _channels),
    "many.reopenings": ("channel.open", _reopened),
    "many.queues": ("queue.declare", _queues),
    "many.consumers": ("basic.consume", _consumers),
    "many.bindings": ("queue.bind", _bindings),
    "many.unfinished": ("basic.publish", _unfinished),
    "many.transacted": ("tx.select", _transactions),
    "many.returns": ("basic.publish", _unrouted),
}
