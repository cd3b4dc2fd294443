"""Frames: octets in, frames out, at any granularity; frames to octets, legal or not.

Knows: a dialect's frame layout. Must not know: what payloads mean, sockets, time.
Bounded: a frame that announces more than ``max_payload_octets`` is an error before its payload is stored.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from amqpspec.spec.methods import FrameLayout
from amqpspec.wire import framing
from amqpspec.wire.framing import Reader

_new = tuple.__new__
"""Makes a frame without the detour through its class's constructor."""


class Frame(NamedTuple):
    """One frame; ``offset`` is where it began in the stream it was read from."""

    type: int
    channel: int
    payload: bytes
    offset: int = 0
    cycle: int = 0


def header_struct(layout: FrameLayout) -> struct.Struct:
    """The frame header of a layout as one struct."""
    return framing.header_struct(layout.header)


def encode_frame(
    layout: FrameLayout, frame: Frame, *, size: int | None = None, end: int | None = None
) -> bytes:
    """A frame as octets; ``size`` and ``end`` may be wrong if they are given. EncodeError for what does not fit."""
    values = {"type": frame.type, "cycle": frame.cycle, "channel": frame.channel}
    return framing.encode(layout, values, frame.payload, size=size, end=end)


class FrameWriter:
    """Legal frames to octets, with the layout's struct."""

    def __init__(self, layout: FrameLayout) -> None:
        self._layout = layout
        self._pack = header_struct(layout).pack
        names = tuple(name for name, _ in layout.header)
        self._plain = names == ("type", "channel", "size")
        self._with_cycle = names == ("type", "cycle", "channel", "size")
        self._end = bytes((layout.end,))

    def frame(self, type_code: int, channel: int, payload: bytes, cycle: int = 0) -> bytes:
        """One frame; EncodeError for a type or channel that does not fit."""
        # The two layouts in use are written out; the general writer reports whatever they cannot pack.
        try:
            if self._plain:
                return self._pack(type_code, channel, len(payload)) + payload + self._end
            if self._with_cycle:
                return self._pack(type_code, cycle, channel, len(payload)) + payload + self._end
        except struct.error:
            pass
        return encode_frame(self._layout, Frame(type_code, channel, payload, 0, cycle))


class FrameReader(Reader[Frame]):
    """An incremental reader of one direction of a connection: see ``Reader``.

    A protocol header begins with the octet of a frame type that no version defines, so that a first octet decides
    which of them a stream begins with (0-9-1 §4.2.2).
    """

    def __init__(
        self,
        layout: FrameLayout,
        *,
        max_payload_octets: int = 1 << 20,
        header_allowed: bool = True,
        name: str = "server→client",
    ) -> None:
        super().__init__(layout, max_size=max_payload_octets, header_allowed=header_allowed, name=name)
        names = [field for field, _ in layout.header]
        self._type, self._channel = names.index("type"), names.index("channel")
        self._cycle = names.index("cycle") if "cycle" in names else None

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> Frame:
        cycle = 0 if self._cycle is None else values[self._cycle]
        payload = bytes(self._buffer[begin : end - 1])
        return _new(Frame, (values[self._type], values[self._channel], payload, self.offset, cycle))
