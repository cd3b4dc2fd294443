"""Entities of AMQP 0-10 in numbers, and algorithms over them: sessions, queues, bindings, patterns, matches.

Knows: what a target has to store for a frame, and what is expensive to evaluate. Must not know: how it does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amqpspec.fuzz.amqp_0_10.kit import attach, may, say, transfer
from amqpspec.fuzz.amqp_0_10.samples import QUEUE
from amqpspec.fuzz.families.base import Bend, Location, counted_from, each, in_numbers
from amqpspec.fuzz.families.material import MATCHES, RESOURCE_COUNTS, TOPIC_KEYS, TOPIC_PATTERNS
from amqpspec.fuzz.states.model import State
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND

_DECLARE = say("queue.declare", exclusive=True, auto_delete=True)


# --- C13


def resources(_: str, state: State) -> Iterator[Location]:
    """Many of everything."""
    touches = "session/attach/one-session-per-transport"
    yield from in_numbers(_MANY, partial(may, state), RESOURCE_COUNTS, touches)


def _reattached(count: int) -> bytes:
    """One session attached and detached again and again, which has to leave nothing behind."""
    name = b"amqpspec-fuzz-again"
    return (say("session.attach", 2, name=name) + say("session.detach", 2, name=name)) * count


def _waiting(count: int) -> bytes:
    """Sessions that outlive their channel, if for a second only."""
    names = (f"amqpspec-fuzz-{count}-{n}".encode() for n in range(count))
    return b"".join(
        say("session.attach", 2, name=name)
        + say("session.request-timeout", 2, timeout=1)
        + say("session.detach", 2, name=name)
        for name in names
    )


def _queue(number: int) -> bytes:
    return say("queue.declare", queue=f"amqpspec.fuzz.{number}", exclusive=True, auto_delete=True)


def _binding(number: int) -> bytes:
    return say("exchange.bind", exchange="amq.direct", binding_key=f"k{number}")


def _subscription(number: int) -> bytes:
    return say("message.subscribe", destination=f"d{number}")


def _unfinished(count: int) -> bytes:
    """Commands begun on many channels, none of which ends."""
    begun = (
        encode_frame(b"\4\1", type=COMMAND, flags=0x0A, channel=n) for n in range(2, 2 + min(count, 250))
    )
    return b"".join(begun)


_MANY: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "many.sessions": ("session.attach", lambda count: each(attach)(range(2, 2 + min(count, 250)))),
    "many.reattachments": ("session.attach", _reattached),
    "many.waiting": ("session.attach", _waiting),
    "many.queues": ("queue.declare", counted_from(0, _queue)),
    "many.bindings": ("exchange.bind", counted_from(0, _binding, _DECLARE)),
    "many.subscriptions": ("message.subscribe", counted_from(0, _subscription, _DECLARE)),
    "many.transacted": ("tx.select", lambda count: say("tx.select") + transfer(b"x" * 64) * count),
    "many.unfinished": ("message.transfer", _unfinished),
    "many.rejected": ("message.transfer", lambda count: transfer(b"x" * 64) * count),
}


# --- C14


def algorithms(_: str, state: State) -> Iterator[Location]:
    """Patterns that can match in very many ways, and keys that just fail to; headers; selectors."""
    if may(state, "exchange.bind"):
        yield Location("bind.topic", _topics)
        yield Location("bind.headers", _matches, ("exchange/bind/arguments/unknown-argument",))
    if may(state, "message.subscribe"):
        yield Location("subscribe.selector", _selectors)


def _topics() -> Iterator[Bend]:
    for pattern in TOPIC_PATTERNS:
        bind = say("exchange.bind", exchange="amq.topic", binding_key=pattern)
        for key in TOPIC_KEYS:
            sent = transfer(b"", exchange="amq.topic", key=key)
            yield Bend(f"pattern {pattern[:40]!r}, key {key[:20]!r}", (_DECLARE, bind, sent * 4))


def _matches() -> Iterator[Bend]:
    for count in (0, 1, 64, 256):
        for mode in MATCHES:
            wanted = {"x-match": mode, **{f"h{n}": "v" for n in range(count)}}
            bind = say("exchange.bind", exchange="amq.match", binding_key="k", arguments=wanted)
            headers = {f"h{n}": "v" if n else "w" for n in range(count)}
            sent = transfer(b"", exchange="amq.match", message={"application_headers": headers})
            yield Bend(f"{count} headers, x-match {mode!r}", (_DECLARE, bind, sent))


_SELECTORS = (
    "a = 1", "a = 1 AND " * 200 + "a = 1", "(" * 1000 + "a = 1" + ")" * 1000, "NOT " * 500 + "a = 1",
    "a LIKE '" + "%_" * 500 + "'", "a IN (" + ",".join(["'x'"] * 1000) + ")", "'", "--", "", "9" * 400 + " = 1",
    "a BETWEEN 1 AND", "1e999999 = a",
)  # fmt: skip


def _selectors() -> Iterator[Bend]:
    for selector in _SELECTORS:
        for key in ("x-filter-jms-selector", "x-apache-selector", "selector"):
            octets = say("message.subscribe", queue=QUEUE, arguments={key: selector})
            yield Bend(f"{key} {selector[:40]!r} of {len(selector)}", (_DECLARE + octets,))
