"""Channels, handles, windows and message numbers of AMQP/Fast bent.

Knows: what commands do to them. Must not know: frames, texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.kit import fragment, may, open_handle, say, send
from amqpspec.fuzz.families.base import (
    Bend,
    Location,
    by_role,
    counted_from,
    edges,
    in_numbers,
    locations_at,
    numbers_of,
)
from amqpspec.fuzz.families.material import RESOURCE_COUNTS
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Role
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_NUMBERS = (0, 1, 2, 3, 255, 65_535, 65_536, 10**6, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1)
_NEW_QUEUE: dict[str, Any] = {"service_type": 1, "dynamic": True, "dest_name": ""}
_HANDLES = (0, 2, 255, 256, 32_767, 32_768, 65_534, 65_535)


# --- C7


def ranges(dialect_id: str, state: State) -> Iterator[Location]:
    """Ranges with as many message numbers as a target is willing to count."""
    touches = ("handle/unget/number", "handle/browse/gone")
    yield from locations_at(dialect_id, state, by_role(Role.DELIVERY), numbers_of(edges), *touches)
    if may(state, "channel.ack"):
        yield Location("ack.range", lambda: _acks("channel.ack"), ("channel/ack/open",))
    if may(state, "handle.unget"):
        yield Location("unget.range", lambda: _acks("handle.unget"), touches)
    if may(state, "handle.query"):
        yield Location("query.range", _queries, ("handle/browse/gone",))


def _acks(name: str) -> Iterator[Bend]:
    for number in _NUMBERS:
        yield Bend(f"{name} {number}", (say(name, message_nbr=number),))
        yield Bend(f"{name} {number}, twice", (say(name, message_nbr=number) * 2,))
        unasked = say(name, message_nbr=number, confirm_tag=0)
        yield Bend(f"{name} {number} without a tag, 256 times", (unasked * 256,))
    down = b"".join(say(name, message_nbr=number) for number in range(64, 0, -1))
    yield Bend(f"{name} from 64 down to 1", (down,))


def _queries() -> Iterator[Bend]:
    """The same list asked for from everywhere, then every number of it."""
    for number in _NUMBERS:
        query = say("handle.query", message_nbr=number)
        yield Bend(f"QUERY from {number}", (query,))
        yield Bend(f"QUERY from {number}, then BROWSE", (query + say("handle.browse", message_nbr=number),))
    for count in (64, 512):
        yield Bend(f"{count} QUERYs", (say("handle.query") * count,))
        browses = (say("handle.browse", message_nbr=number) for number in range(count))
        yield Bend(f"{count} BROWSEs", (b"".join(browses),))


# --- C8


def windows(dialect_id: str, state: State) -> Iterator[Location]:
    """Prefetch, pauses, confirmations and pings."""
    if state.name not in ("tuning", "tuned"):
        yield from locations_at(
            dialect_id, state, by_role(Role.SEQUENCE), numbers_of(edges), "handle/consume/prefetch-range"
        )
    if may(state, "connection.ping"):
        yield Location("ping.echo", _pings)
    if may(state, "handle.flow"):
        yield Location("flow.toggled", _flows, ("handle/flow/open",))
    if may(state, "handle.consume"):
        yield Location("prefetch.filled", _prefetches, ("handle/consume/prefetch-range",))


def _pings() -> Iterator[Bend]:
    for respond in (True, False):
        for count in (1, 64, 1024):
            yield Bend(
                f"{count} PINGs, respond {respond}", (say("connection.ping", respond=respond) * count,)
            )


def _flows() -> Iterator[Bend]:
    pause, go_on = (say("handle.flow", flow_pause=paused) for paused in (True, False))
    for count in (1, 2, 32, 512):
        yield Bend(f"paused {count} times", (pause * count,))
        yield Bend(f"paused and let go {count} times", ((pause + go_on) * count,))
    yield Bend("paused, then a message", (pause, send()))
    yield Bend("let go, then a message", (go_on, send()))


def _prefetches() -> Iterator[Bend]:
    """A reader of a topic, and more messages than its window takes."""
    for prefetch in (0, 1, 2, 255, 65_535):
        for more in (0, 1, 64):
            consume = say("handle.consume", prefetch=prefetch)
            yield Bend(f"prefetch {prefetch}, {more} messages", (consume, send(b"") * more))


# --- C9


def order(dialect_id: str, state: State) -> Iterator[Location]:
    """Greetings of every kind; commands on other handles."""
    if state.name == "raw":
        touches = ("initiation/protocol-ids", "initiation/invalid", "syntax/initiation")
        yield Location("greeting", _greetings, touches)
    handles = ("scenarios/opening/order", "handle/open/handle-id", "handle/send/open", "handle/close/open")
    yield from locations_at(
        dialect_id, state, by_role(Role.HANDLE, "frame.handle"), numbers_of(_other_handles), *handles
    )


def _greetings() -> Iterator[Bend]:
    for id in range(256):
        for version in (0, 1, 2, 255):
            yield Bend(f"greeting {id} {version}", (bytes((id, version)),))


def _other_handles(width_octets: int, value: int) -> list[int]:
    return [handle for handle in (*_HANDLES, 1) if handle != value]


# --- C13


def resources(_: str, state: State) -> Iterator[Location]:
    """Many of everything."""
    touches = ("tuning/channel-max", "tuning/handle-max")
    yield from in_numbers(_MANY, partial(may, state), RESOURCE_COUNTS, *touches)


def _reader(number: int) -> bytes:
    return say("handle.consume", dest_name=f"amqpspec.fuzz.r{number}")


def _reopened(count: int) -> bytes:
    """One channel opened and closed again and again, which has to leave nothing behind."""
    return (say("channel.open", channel_id=9) + say("channel.close", channel_id=9)) * count


def _unfinished(count: int) -> bytes:
    """Messages begun on many handles, none of which ends."""
    begun = encode_message(b"x", body_size=1 << 20)
    return b"".join(
        open_handle(n) + fragment(begun, handle_id=n, partial=True) for n in range(2, 2 + min(count, 256))
    )


def _prepared(count: int) -> bytes:
    """Restartable messages that are announced, and never sent."""
    heads = (encode_message(b"", body_size=1 << 20, identifier=f"amqpspec-fuzz-{n}") for n in range(count))
    return b"".join(say("handle.prepare", fragment=head) for head in heads)


_MANY: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "many.channels": ("channel.open", counted_from(1, lambda n: say("channel.open", channel_id=n))),
    "many.reopenings": ("channel.open", _reopened),
    "many.handles": ("handle.open", counted_from(2, open_handle)),
    "many.rehandled": (
        "handle.open",
        lambda count: (open_handle() + say("handle.close", handle_id=7)) * count,
    ),
    "many.queues": ("handle.consume", lambda count: say("handle.consume", **_NEW_QUEUE) * count),
    "many.readers": ("handle.consume", counted_from(0, _reader)),
    "many.unfinished": ("handle.open", _unfinished),
    "many.transacted": ("channel.commit", lambda count: open_handle() + send(b"x" * 64, handle=7) * count),
    "many.prepared": ("handle.prepare", _prepared),
}
