"""What families of the methods dialects put together: methods with given arguments, contents, tables, as octets.

Knows: the codec. Must not know: what is odd about what is put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from amqpspec.fuzz.families.base import next_productions
from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.methods.grammar import CHANNEL
from amqpspec.fuzz.methods.samples import SMALL_FRAME_MAX_OCTETS
from amqpspec.fuzz.states.model import State
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect, TypeTag
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.frames import FrameWriter


class Kit:
    """Frames of one dialect."""

    def __init__(self, dialect_id: str) -> None:
        dialect = tables(dialect_id)
        assert isinstance(dialect, MethodDialect)
        self.dialect = dialect
        self.codec: Codec = codec_for(widest(dialect_id))
        self._types, self._write = dialect.layout.types, FrameWriter(dialect.layout).frame

    def method(self, name: str, channel: int = CHANNEL, **args: Any) -> bytes:
        """A method frame; arguments that the dialect's method lacks are left out."""
        keys = {f.key for f in self.dialect.methods[name].fields}
        kept = {key: value for key, value in args.items() if key in keys}
        return self.payload("method", self.codec.encode_method(name, kept), channel)

    def has(self, name: str) -> bool:
        """Whether the dialect has a method."""
        return name in self.dialect.methods

    def payload(self, kind: str, payload: bytes, channel: int = CHANNEL) -> bytes:
        """A frame of a type by name around a payload."""
        return self._write(self._types[kind], channel, payload)

    def header(self, body_size: int, channel: int = CHANNEL, *, weight: int = 0, **properties: Any) -> bytes:
        """A content header frame of class basic."""
        index = self.dialect.classes_by_name["basic"].index
        header = ContentHeader(index, body_size, properties, weight)
        return self.payload("header", self.codec.encode_header(header), channel)

    def body(self, octets: bytes, channel: int = CHANNEL) -> bytes:
        """A body frame."""
        return self.payload("body", octets, channel)

    def publish(
        self,
        body: bytes = b"",
        channel: int = CHANNEL,
        *,
        exchange: str = "",
        routing_key: Any = "amqpspec.fuzz.none",
        properties: Mapping[str, Any] | None = None,
    ) -> bytes:
        """A whole message."""
        method = self.method("basic.publish", channel, exchange=exchange, routing_key=routing_key)
        header = self.header(len(body), channel, **(properties or {}))
        return method + header + (self.body(body, channel) if body else b"")

    def delivered(self, key: str, header: bytes, body: bytes) -> bytes:
        """A message to the queue that the channel declared last, over a binding of its own, in small frames."""
        bind = self.method("queue.bind", exchange="amq.direct", routing_key=key)
        publish = self.method("basic.publish", exchange="amq.direct", routing_key=key)
        step = SMALL_FRAME_MAX_OCTETS - self.dialect.layout.overhead_octets
        parts = (self.body(body[at : at + step]) for at in range(0, len(body), step))
        return b"".join((bind, publish, header, *parts))

    def tag(self, primitive: str) -> TypeTag | None:
        """The tag of a primitive, where the dialect has one."""
        return next((t for t in self.dialect.table_tags if t.primitive == primitive), None)


@cache
def kit(dialect_id: str) -> Kit:
    """The kit of a dialect."""
    return Kit(dialect_id)


def can_say(dialect_id: str, state: State, name: str) -> bool:
    """Whether a method may legally come next in a state."""
    return any(p.name.endswith(f"/{name}") for p in next_productions(dialect_id, state))
