"""The incremental reader of one direction: greetings, and frames with the segments and assemblies that they complete.

Knows: which frame continues which assembly, per channel and track. Must not know: sessions, sockets, time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    LAYOUT,
    MAX_FRAME_OCTETS,
    Frame,
)
from amqpspec.wire.amqp_0_10.instructions import BODY
from amqpspec.wire.amqp_0_10.segments import Assembly, Segment, made
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import Reader

Key = tuple[int, int]
"""Channel and track."""

MAX_OPEN = 4096
MAX_SEGMENTS = 16
MAX_READ_OCTETS = 1 << 20
"""How large a segment may be whose values are read: a body's are not."""


@dataclass(slots=True)
class _Open:
    """An assembly that is not complete: its finished segments, and the one that is being put together."""

    offset: int
    rest: bool
    segments: list[Segment] = field(default_factory=list)
    type: int | None = None
    first: bool = False
    begin: int = 0
    octets: bytearray = field(default_factory=bytearray)
    last: bool = False
    held: int = 0


class Assembler:
    """Puts frames together, per channel and track.

    Bounded: all that is held at a time by ``max_octets``, the number of assemblies that are begun, the segments of
    each, and what of them is read as values. A frame that has no place gets an ``error``; what it would have continued
    is dropped, and so is what follows of it.
    """

    def __init__(self, *, max_octets: int = 1 << 26) -> None:
        self.max_octets = max_octets
        self.held_octets = 0
        self._open: dict[Key, _Open] = {}
        self._expected: set[Key] = set()

    def expect_rest(self, channel: int, track: int = LAYOUT.tracks["command"]) -> None:
        """The next assembly there may lack its beginning, as it does after a command-point with an offset."""
        self._expected.add((channel, track))

    def forget(self, channel: int) -> None:
        """Drop what is begun on a channel, as at the end of a session's attachment."""
        for key in [key for key in self._open if key[0] == channel]:
            self._drop(key)

    def begun(self, channel: int, track: int) -> bytes | bytearray:
        """The octets so far of the segment that is being put together there, not to be kept or changed."""
        state = self._open.get((channel, track))
        return state.octets if state is not None else b""

    def take(self, frame: Frame) -> Frame:
        """The frame with the segment and the assembly that it completes, or with the error why it cannot be placed."""
        key = frame.channel, frame.track
        try:
            state = self._state(key, frame)
            self._append(key, state, frame)
        except WireError as error:
            self._drop(key)
            return frame._replace(error=error)
        if not frame.flags & LAST_FRAME:
            return frame
        segment = _finish(state)
        if not state.last:
            return frame._replace(segment=segment)
        self._drop(key)
        return frame._replace(segment=segment, assembly=_made(key, state))

    # --- places

    def _state(self, key: Key, frame: Frame) -> _Open:
        state = self._open.get(key)
        if state is None:
            return self._begin(key, frame)
        wrong = _out_of_place(state, frame)
        if wrong is not None:
            raise _error(frame, *wrong)
        return state

    def _begin(self, key: Key, frame: Frame) -> _Open:
        both = FIRST_SEGMENT | FIRST_FRAME
        rest = key in self._expected and frame.flags & both != both
        if frame.flags & both != both and not rest:
            raise _error(frame, "the first frame of an assembly", _flags(frame))
        self._expected.discard(key)
        if len(self._open) >= MAX_OPEN:
            raise _error(frame, f"at most {MAX_OPEN} assemblies at a time", "another one")
        state = self._open[key] = _Open(frame.offset, rest)
        return state

    def _append(self, key: Key, state: _Open, frame: Frame) -> None:
        if state.type is None:
            if len(state.segments) >= MAX_SEGMENTS:
                raise _error(frame, f"at most {MAX_SEGMENTS} segments", "another one")
            state.type, state.begin = frame.type, frame.offset + LAYOUT.header_octets
            state.first, state.last = bool(frame.flags & FIRST_SEGMENT), bool(frame.flags & LAST_SEGMENT)
        size = len(state.octets) + len(frame.payload)
        if frame.type != BODY and size > MAX_READ_OCTETS:
            raise _error(frame, f"a segment of at most {MAX_READ_OCTETS} octets", f"{size} octets")
        if self.held_octets + len(frame.payload) > self.max_octets:
            raise _error(
                frame, f"at most {self.max_octets} octets of assemblies that are not complete", "more"
            )
        state.octets += frame.payload
        state.held += len(frame.payload)
        self.held_octets += len(frame.payload)

    def _drop(self, key: Key) -> None:
        state = self._open.pop(key, None)
        if state is not None:
            self.held_octets -= state.held


def _out_of_place(state: _Open, frame: Frame) -> tuple[str, str] | None:
    """What a frame after others of its assembly should be, and what it is; None if it is that."""
    begins = bool(frame.flags & FIRST_FRAME)
    if begins == (state.type is not None):
        expected = "the next frame of the segment" if begins else "the first frame of a segment"
        return expected, _flags(frame)
    if begins and frame.flags & FIRST_SEGMENT:
        return "the next segment of the assembly", _flags(frame)
    if not begins and frame.type != state.type:
        return f"type {state.type} as before", f"type {frame.type}"
    if not begins and bool(frame.flags & LAST_SEGMENT) != state.last:
        return "the same last-segment flag in all frames of a segment", _flags(frame)
    if not begins and bool(frame.flags & FIRST_SEGMENT) != state.first:
        return "the same first-segment flag in all frames of a segment", _flags(frame)
    return None


def _finish(state: _Open) -> Segment:
    segment = Segment(-1 if state.type is None else state.type, bytes(state.octets), state.begin)
    state.segments.append(segment)
    state.type, state.octets = None, bytearray()
    return segment


def _made(key: Key, state: _Open) -> Assembly:
    return made(*key, state.segments, state.offset, rest=state.rest)


def _flags(frame: Frame) -> str:
    """The flags of a frame by their names."""
    return ", ".join(name for name, bit in LAYOUT.flags.items() if frame.flags & bit) or "no flags"


def _error(frame: Frame, expected: str, actual: str) -> WireError:
    return WireError(f"frame on channel {frame.channel} track {frame.track}", frame.offset, expected, actual)


class FrameReader(Reader[Frame]):
    """An incremental reader of one direction of a connection: see ``Reader``.

    It begins with a protocol header where the stream does: both sides send one. Frames say what they hold; only
    a size that cannot be makes the reader lose them.
    """

    def __init__(
        self,
        *,
        max_frame_octets: int = MAX_FRAME_OCTETS,
        max_octets: int = 1 << 26,
        header_allowed: bool = True,
        name: str = "server→client",
    ) -> None:
        super().__init__(LAYOUT, max_size=max_frame_octets, header_allowed=header_allowed, name=name)
        self.assembler = Assembler(max_octets=max_octets)

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> Frame:
        flags, kind, _, reserved_1, track, channel, reserved_2 = values
        payload = bytes(self._buffer[begin:end])
        return self.assembler.take(
            Frame(flags, kind, reserved_1, track, channel, reserved_2, payload, self.offset)
        )
