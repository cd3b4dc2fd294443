"""Our codec of AMQP 1.0 beside python-qpid-proton's ``Data``, on the same octets in one run.

Knows: both codecs' way from octets to objects and back. Must not know: sockets, brokers.

Frames: ours reads frames from a stream and gives every field by name with its default; theirs is handed each body
without its frame header and gives a described list. Encoding goes back from what each decoded; both have to come to the
same values, which is checked first. Values are bodies of messages with maps and lists in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import proton

from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.amqp_1_0.types import decode, encode
from amqpspec.wire.amqp_1_0.values import Symbol
from bench.row import Row, beside, each

BODY_AT = 8

PERFORMATIVES: Sequence[tuple[str, dict[str, Any]]] = (
    ("begin", {"next_outgoing_id": 0, "incoming_window": 2048, "outgoing_window": 2048, "handle_max": 255}),
    ("flow", {"next_incoming_id": 4711, "incoming_window": 2048, "next_outgoing_id": 99, "outgoing_window": 2048,
              "handle": 0, "delivery_count": 4711, "link_credit": 100}),
    ("transfer", {"handle": 0, "delivery_id": 4711, "delivery_tag": b"\x00\x00\x12\x67", "message_format": 0}),
    ("transfer", {"handle": 1, "delivery_id": 12, "delivery_tag": b"tag", "settled": True, "more": True}),
    ("disposition", {"role": True, "first": 4700, "last": 4711, "settled": True, "state": "accepted"}),
    ("detach", {"handle": 3, "closed": True}),
)  # fmt: skip
OPENINGS: Sequence[tuple[str, dict[str, Any]]] = (
    ("open", {"container_id": "orders-7f10", "hostname": "node1.example.org", "max_frame_size": 65_536,
              "channel_max": 255, "idle_time_out": 30_000, "offered_capabilities": ["ANONYMOUS-RELAY", "SHARED-SUBS"],
              "properties": {"product": "shop", "version": "4.0.5", "platform": "Linux"}}),
    ("attach", {"name": "orders-sender", "handle": 0, "role": "sender", "snd_settle_mode": "unsettled",
                "source": {"address": "orders.client"}, "initial_delivery_count": 0,
                "target": {"address": "orders.incoming", "durable": "unsettled-state", "capabilities": ["queue"]}}),
    ("close", {"error": {"condition": "amqp:not-found", "description": "no node named orders.missing"}}),
)  # fmt: skip
VALUES: Sequence[Any] = (
    {"order": 4711, "customer": "a name", "total": 99.5, "paid": True, "note": None},
    [1, 2, 3, 70_000, -5, "six", b"seven", True, None, UUID(int=9)],
    {"lines": [{"sku": f"A-{n}", "count": n, "price": 1.25 * n} for n in range(8)], "tags": ["eu", "new"]},
    {Symbol("x-opt-routing"): "orders.eu.new", Symbol("x-opt-sequence"): 1 << 40},
)


def rows() -> Iterator[Row]:
    """The six figures."""
    for name, corpus in (("frames", PERFORMATIVES), ("openings", OPENINGS)):
        frames = [performative_frame(performative, 1, **fields) for performative, fields in corpus]
        yield beside(f"codec-1.0.decode.{name}", "frames/s", our_decoder(frames), their_decoder(frames))
        yield beside(f"codec-1.0.encode.{name}", "frames/s", our_encoder(corpus), their_encoder(frames))
    octets = [encode(value) for value in VALUES]
    yield beside("codec-1.0.decode.values", "values/s", each(decode, octets), each(their_value, octets))
    yield beside("codec-1.0.encode.values", "values/s", each(encode, VALUES), their_writer(octets))


def our_decoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """All frames through our reader, their fields taken."""
    reader = TypedReader()

    def decode_all() -> int:
        for octets in frames:
            reader.feed(octets)
            item = reader.next()
            assert type(item) is TypedFrame and item.performative is not None
            item.performative.fields  # noqa: B018  (decodes them)
        return len(frames)

    return decode_all


def their_decoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """All bodies through proton's data."""
    return each(their_value, [octets[BODY_AT:] for octets in frames])


def our_encoder(corpus: Sequence[tuple[str, dict[str, Any]]]) -> Callable[[], int]:
    """Frames from fields by name."""

    def encode_all() -> int:
        for name, fields in corpus:
            performative_frame(name, 1, **fields)
        return len(corpus)

    return encode_all


def their_encoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """Bodies from what proton decodes of them."""
    values = [their_value(octets[BODY_AT:]) for octets in frames]
    for value, octets in zip(values, frames, strict=True):
        ours, theirs = decode(octets[BODY_AT:])[0], decode(their_octets(value))[0]
        assert ours.fields == theirs.fields, f"{ours.name}: proton writes another value"
    return each(their_octets, values)


def their_writer(octets: Sequence[bytes]) -> Callable[[], int]:
    """What proton decodes of the values, back to octets."""
    values = [their_value(value) for value in octets]
    encoded = [their_octets(value) for value in values]
    assert [decode(value)[0] for value in encoded[::3]] == list(VALUES[::3]), "proton writes other values"
    return each(their_octets, values)


def their_value(octets: bytes) -> Any:
    """One value as proton's Python objects; octets in it are copied, for their views outlive nothing."""
    data = proton.Data()
    data.decode(octets)
    data.rewind()
    data.next()
    return _owned(data.get_object())


def _owned(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [_owned(item) for item in value]
    if isinstance(value, proton.Described):
        return proton.Described(value.descriptor, _owned(value.value))
    return value


def their_octets(value: Any) -> bytes:
    """One value as proton writes it."""
    data = proton.Data()
    data.put_object(value)
    return bytes(data.encode())
