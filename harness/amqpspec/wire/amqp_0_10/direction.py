"""One direction of a connection of AMQP 0-10 as evidence shows it.

Knows: frames, what is secret in the segments that they are parts of. Must not know: files, times, which case runs.

A response with wrong sizes may end in the middle of its secret, or continue after its frame. After a client's response,
parts of frames and of segments are hidden until the client sends something else that can be read. If something cannot
be read before the login is complete, everything after it is hidden.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.amqp_0_10.describe import describe_frame
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, HEADER_OCTETS, LAYOUT, Frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.secrets import begins_secret, secret_span
from amqpspec.wire.direction import FrameDecoder, reader_name
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import header_struct
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MASK, masked, said

_HEADER = header_struct(LAYOUT.header)


class _Latest(FrameReader):
    """A reader that keeps the frame that it gave last, None if it gave none."""

    latest: Frame | ProtocolHeader | None = None

    def next(self) -> Frame | ProtocolHeader | None:
        """See ``Reader``."""
        self.latest = None
        self.latest = super().next()
        return self.latest


class AssemblyDirection(FrameDecoder[Frame]):
    """A direction, ``out`` or ``in``."""

    def __init__(self, direction: str) -> None:
        self._frames_of = _Latest(name=reader_name(direction))
        super().__init__(self._frames_of)
        self._login = direction == "out"
        self._greeted = self._answered = self._header_shown = False

    def _describe(self, item: Frame | ProtocolHeader) -> dict[str, Any]:
        if isinstance(item, Frame) and self._hides(item):
            return {"type": "unknown", "text": f"unreadable frame, {item.size} octets"}
        return describe_frame(item)

    def _follow(self, item: Frame | ProtocolHeader) -> None:
        self._greeted = True
        if not isinstance(item, Frame) or not self._login:
            return
        # A size that is wrong can leave a whole response after its frame, which is then read as the next one.
        self._hiding = self._hiding or _is_unread(item) or (self._answered and _is_lost(item))
        assembly = item.assembly
        if begins_secret(_segment(self._frames_of, item)):
            self._answered = True
        elif assembly is not None and assembly.error is None:
            self._answered = False
            # Nothing is proven any more once limits are agreed.
            self._login = assembly.name != "connection.tune-ok"

    def _hides(self, frame: Frame) -> bool:
        """Whether a frame may be the rest of a secret, or one in the wrong kind of segment."""
        if self._hiding or (self._answered and _is_lost(frame)):
            return True
        misplaced = frame.type != CONTROL or frame.error is not None
        return misplaced and self._may_be_secret(frame.type) and _span(self._frames_of, frame) is not None

    def _may_be_secret(self, kind: int) -> bool:
        # A body may begin with the same octets; before the login is over, there is none.
        return self._login or kind in (CONTROL, COMMAND)

    def _lost(self, error: WireError) -> str:
        self._header_shown = not (self._hiding or self._answered)
        # What is lost before the login is over may have been a response.
        self._hiding = self._hiding or (self._login and self._greeted)
        return said(error, None if self._header_shown else "framing lost")

    def _starred(self, octets: bytes) -> bytes:
        item = self._frames_of.latest
        if self._hiding and self._header_shown:
            return _payload_masked(octets)
        if self._hiding or (isinstance(item, Frame) and self._answered and _is_lost(item)):
            return MASK * len(octets)
        if isinstance(item, ProtocolHeader):
            return octets
        return self._tail_starred(octets) if item is None else self._frame_starred(item, octets)

    def _frame_starred(self, frame: Frame, octets: bytes) -> bytes:
        if self._answered and frame.assembly is None:
            return _payload_masked(octets)
        span = _span(self._frames_of, frame) if self._may_be_secret(frame.type) else None
        return masked(octets, [span]) if span else octets

    def _tail_starred(self, octets: bytes) -> bytes:
        """The first octets of a frame: if it belongs to a response, all of its payload may be secret."""
        if self._answered:
            return MASK * len(octets)
        if len(octets) <= HEADER_OCTETS:
            return octets
        flags, kind, _, _, track, channel, _ = _HEADER.unpack_from(octets)
        before = b"" if flags & FIRST_FRAME else self._frames_of.assembler.begun(channel, track)
        begins = bytes(before[:HEADER_OCTETS]) + octets[HEADER_OCTETS:]
        secret = self._may_be_secret(kind) and begins_secret(begins)
        return _payload_masked(octets) if secret else octets


def _is_unread(frame: Frame) -> bool:
    """Whether a frame has no place, or is empty for nothing, or what it completes cannot be read."""
    unread = frame.assembly is not None and frame.assembly.error is not None
    return unread or frame.error is not None or not (frame.payload or frame.segment)


def _is_lost(frame: Frame) -> bool:
    """Whether a frame is none that a client sends when it keeps the protocol."""
    return _is_unread(frame) or bool(frame.problems)


def _segment(reader: FrameReader, frame: Frame) -> bytes | bytearray:
    """The segment of a frame up to its end; of one that has no place, its own octets."""
    if frame.segment is not None:
        return frame.segment.octets
    if frame.error is not None:
        return frame.payload
    return reader.assembler.begun(frame.channel, frame.track)


def _span(reader: FrameReader, frame: Frame) -> tuple[int, int] | None:
    """Where in a frame's octets a secret stands, which may have begun in the frames of the segment before it."""
    segment, whole = _segment(reader, frame), frame.segment is not None
    found = secret_span(segment, whole)
    if found is None:
        return None
    shift = HEADER_OCTETS - (len(segment) - len(frame.payload))
    start, stop = (max(at + shift, HEADER_OCTETS) for at in found)
    return (start, stop) if start < stop else None


def _payload_masked(octets: bytes) -> bytes:
    return octets[:HEADER_OCTETS] + MASK * (len(octets) - HEADER_OCTETS)
