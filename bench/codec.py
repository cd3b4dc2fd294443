"""Our codec beside pamqp's, on the same octets in one run: decode and encode, methods, content headers, tables.

Knows: both codecs' way from octets to objects and back. Must not know: sockets, brokers.

Decoding goes from a frame's octets to an object. Encoding goes back from the very objects that each codec decoded,
so both have to write the same octets, which is checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pamqp import commands, frame, header

from amqpspec.wire.methods.codec import Call, ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter
from bench.row import Row, beside, each

CODEC = codec_for("rabbitmq-0-9-1")
LAYOUT = CODEC.dialect.layout
TYPES = LAYOUT.types
UNIT = "frames/s"

_SENT = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
_CAPABILITIES = {
    "authentication_failure_close": True,
    "basic.nack": True,
    "connection.blocked": True,
    "consumer_cancel_notify": True,
    "consumer_priorities": True,
    "exchange_exchange_bindings": True,
    "per_consumer_qos": True,
    "publisher_confirms": True,
}
_SERVER = {
    "capabilities": _CAPABILITIES,
    "cluster_name": "rabbit@node1.example.org",
    "copyright": "Copyright (c) 2007-2026",
    "information": "Licensed under the MPL 2.0",
    "platform": "Erlang/OTP 27.1",
    "product": "RabbitMQ",
    "version": "4.0.5",
}
_DEATH = {
    "count": 70_000,
    "exchange": "orders",
    "queue": "orders.incoming",
    "reason": "rejected",
    "routing-keys": ["orders.eu.new", "orders.eu"],
    "time": _SENT,
}
_ARGUMENTS = {
    "x-dead-letter-exchange": "orders.dead",
    "x-max-length": 100_000,
    "x-max-priority": 10,
    "x-message-ttl": 60_000,
    "x-queue-type": "classic",
    "x-single-active-consumer": True,
}

METHODS: Sequence[Any] = (
    commands.Connection.Tune(2047, 131_072, 60),
    commands.Channel.Close(404, "NOT_FOUND - no queue 'orders' in vhost '/'", 50, 10),
    commands.Queue.Declare(queue="orders.incoming", durable=True),
    commands.Queue.DeclareOk("orders.incoming", 17, 2),
    commands.Queue.BindOk(),
    commands.Basic.Publish(exchange="amq.topic", routing_key="orders.eu.new", mandatory=True),
    commands.Basic.Deliver("ctag1.orders", 4711, False, "amq.topic", "orders.eu.new"),
    commands.Basic.Ack(4711, True),
)
HEADERS: Sequence[Any] = (
    header.ContentHeader(body_size=12),
    header.ContentHeader(body_size=800, properties=commands.Basic.Properties("text/plain", delivery_mode=2)),
    header.ContentHeader(
        body_size=65_536,
        properties=commands.Basic.Properties(
            content_type="application/json",
            delivery_mode=2,
            priority=4,
            correlation_id="6f1e1c5e-7b8c-4b52-9d55-0a8d2c1d7f10",
            reply_to="amq.rabbitmq.reply-to",
            message_id="0001",
            timestamp=_SENT,
            app_id="shop",
        ),
    ),
)
TABLES: Sequence[Any] = (
    commands.Connection.Start(server_properties=dict(_SERVER)),
    commands.Queue.Declare(queue="orders.incoming", durable=True, arguments=dict(_ARGUMENTS)),
    header.ContentHeader(
        body_size=100,
        properties=commands.Basic.Properties(headers={"x-death": [_DEATH, _DEATH], "trace": "a"}),
    ),
)


def rows() -> Iterator[Row]:
    """The six figures."""
    for name, corpus in (("methods", METHODS), ("headers", HEADERS), ("tables", TABLES)):
        frames = [frame.marshal(item, 1) for item in corpus]
        yield beside(f"codec.decode.{name}", UNIT, our_decoder(frames), their_decoder(frames))
        yield beside(f"codec.encode.{name}", UNIT, our_encoder(frames), their_encoder(frames))


def our_decoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """All frames through our reader and codec."""
    reader, method = FrameReader(LAYOUT), TYPES["method"]

    def decode() -> int:
        for octets in frames:
            reader.feed(octets)
            item = reader.next()
            assert type(item) is Frame
            if item.type == method:
                CODEC.decode_method(item.payload)
            else:
                CODEC.decode_header(item.payload)
        return len(frames)

    return decode


def their_decoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """All frames through pamqp."""
    return each(frame.unmarshal, frames)


def our_encoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """What we decode of the frames, back to octets."""
    items = [decoded(octets) for octets in frames]
    writer, method, content = FrameWriter(LAYOUT), TYPES["method"], TYPES["header"]

    def one(item: Call | ContentHeader) -> bytes:
        if isinstance(item, Call):
            return writer.frame(method, 1, CODEC.encode_method(item.name, item.args))
        return writer.frame(content, 1, CODEC.encode_header(item))

    assert [one(item) for item in items] == list(frames), "ours writes other octets"
    return each(one, items)


def their_encoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """What pamqp decodes of the frames, back to octets."""
    items = [frame.unmarshal(octets)[2] for octets in frames]
    one = partial(frame.marshal, channel_id=1)
    assert [one(item) for item in items] == list(frames), "pamqp writes other octets"
    return each(one, items)


def decoded(octets: bytes) -> Call | ContentHeader:
    """One frame's octets as our object."""
    reader = FrameReader(LAYOUT)
    reader.feed(octets)
    item = reader.next()
    assert isinstance(item, Frame)
    return (CODEC.decode_method if item.type == TYPES["method"] else CODEC.decode_header)(item.payload)
