"""Octets of a hostile server of the 0-9 family, in the frames and by the tables of any dialect.

Knows: frames that break one rule each. Must not know: which dialect, triggers, scenarios.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.run.clients.provoking import followed
from amqpspec.spec.methods import FrameLayout
from amqpspec.wire.hostility import Deed
from amqpspec.wire.methods.codec import ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, encode_frame

_DEPTH = 20_000
_ENDLESS_OCTETS = 16 << 20


class Octets:
    """What a server of one dialect can send."""

    def __init__(self, dialect_id: str) -> None:
        self.dialect_id = dialect_id
        self.codec = codec_for(dialect_id)
        self.layout: FrameLayout = self.codec.dialect.layout
        self._channel_at = self.layout.offset_of("channel")

    # --- frames

    def channel_of(self, frame: bytes) -> int:
        """The channel that a frame arrived on; 0 for the connection's own."""
        return int.from_bytes(frame[self._channel_at : self._channel_at + 2], "big")

    def payload_of(self, frame: bytes) -> bytes:
        """What a frame carries."""
        return frame[self.layout.header_octets : -1]

    def frame_of(
        self,
        kind: str | int,
        payload: bytes,
        channel: int,
        *,
        size: int | None = None,
        end: int | None = None,
    ) -> bytes:
        """A frame; ``size`` and ``end`` may be wrong."""
        code = kind if isinstance(kind, int) else self.layout.types[kind]
        return encode_frame(self.layout, Frame(code, channel, payload), size=size, end=end)

    def method(self, name: str, channel: int, **args: Any) -> bytes:
        """A method frame."""
        return self.frame_of("method", self.codec.encode_method(name, args), channel)

    def header(self, channel: int, size: int, class_id: int = 60, weight: int = 0) -> bytes:
        """A content header."""
        payload = self.codec.encode_header(ContentHeader(class_id, size, {}, weight))
        return self.frame_of("header", payload, channel)

    def body(self, channel: int, octets: bytes) -> bytes:
        """A body frame."""
        return self.frame_of("body", octets, channel)

    def delivery(self, channel: int, tag: str = "agent", number: int = 100) -> bytes:
        """A deliver without its content."""
        args = {"consumer_tag": tag, "delivery_tag": number, "routing_key": "x"}
        return self.method("basic.deliver", channel, **args)

    def start(
        self,
        version: tuple[int, int] | None = None,
        mechanisms: bytes = b"PLAIN",
        properties: bytes | None = None,
    ) -> bytes:
        """A connection.start; ``properties`` are octets in place of an empty table."""
        named = version or self.codec.dialect.version
        table = struct.pack(">I", 0) if properties is None else properties
        strings = b"".join(struct.pack(">I", len(s)) + s for s in (mechanisms, b"en_US"))
        return self.frame_of("method", struct.pack(">HHBB", 10, 10, *named) + table + strings, 0)

    # --- deeds

    def behind(self, octets: Callable[[int], bytes]) -> Deed:
        """The frame, and octets after it on its channel."""
        return followed(lambda frame: octets(self.channel_of(frame)))

    def payload_changed(self, change: Callable[[bytes], bytes]) -> Deed:
        """The frame with another payload, its size adjusted."""

        def deed(frame: bytes) -> Iterable[bytes]:
            return [self.frame_of(frame[0], change(self.payload_of(frame)), self.channel_of(frame))]

        return deed

    def lying_size(self, announced: int, octets: int = 70_000) -> Deed:
        """The frame, and after it one that announces this many octets."""
        method = self.layout.types["method"]
        return self.behind(lambda channel: self.frame_of(method, bytes(octets), channel, size=announced)[:-1])

    def endless_body(self, channel: int) -> Iterable[bytes]:
        """A delivery that announces 1 TiB, and the first octets of its body."""
        yield self.delivery(channel) + self.header(channel, 1 << 40)
        body = self.body(channel, bytes(65_536))
        for _ in range(_ENDLESS_OCTETS // len(body)):
            yield body


def deep_table(levels: int = _DEPTH) -> bytes:
    """A table in a table in a table."""
    lengths = [7 * level for level in range(levels, 0, -1)]
    return b"".join(struct.pack(">I", n) + b"\x01aF" for n in lengths) + struct.pack(">I", 0)
