"""Assembles frames to segments and assemblies, for one channel and track.

Knows: which sequences of the four flags are legal. Must not know: the contents of segments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.reference.amqp_0_10.wire import Faulty, Incoming, Refuse
from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_0_10 import DIALECT

_FLAGS = DIALECT.layout.flags
FIRST_SEGMENT, LAST_SEGMENT = _FLAGS["first-segment"], _FLAGS["last-segment"]
FIRST_FRAME, LAST_FRAME = _FLAGS["first-frame"], _FLAGS["last-frame"]
Segments = list[tuple[int, bytes]]


@dataclass(slots=True)
class Building:
    """An incomplete assembly: its finished segments, and the current one (``kind`` None: there is none)."""

    faulty: Faulty
    segments: Segments = field(default_factory=list)
    kind: int | None = None
    place: int = 0
    pieces: list[bytes] = field(default_factory=list)
    octets: int = 0

    @property
    def begun(self) -> bool:
        """Whether anything of it has arrived."""
        return bool(self.segments) or self.kind is not None

    def take(self, frame: Incoming, refuse: Refuse) -> Segments | None:
        """Add a frame; returns the segments if it completes the assembly. A misplaced frame is dropped."""
        if (breach := self._misplaced(frame)) is not None:
            refuse(*breach)
            return None
        if self.kind is None:
            self.kind, self.place = frame.type, frame.flags & (FIRST_SEGMENT | LAST_SEGMENT)
        self.pieces.append(frame.payload)
        self.octets += len(frame.payload)
        cut_short = not frame.payload and self.faulty("empty-frames-end-segments")
        if not (frame.flags & LAST_FRAME or cut_short):
            return None
        self.segments.append((self.kind, b"".join(self.pieces)))
        self.kind, self.pieces = None, []
        if not self.place & LAST_SEGMENT:
            return None
        segments, self.segments, self.octets = self.segments, [], 0
        return segments

    def _misplaced(self, frame: Incoming) -> tuple[str, str] | None:
        """The rule that a frame violates, and how; None if it belongs here."""
        place = frame.flags & (FIRST_SEGMENT | LAST_SEGMENT)
        if bool(frame.flags & FIRST_FRAME) != (self.kind is None):
            text = "first-frame within a segment, or not first-frame outside one"
            return "transport/assemblies/flags", text
        if self.kind is None and bool(frame.flags & FIRST_SEGMENT) != (not self.segments):
            text = "first-segment inside of an assembly, or none at its beginning"
            return "transport/assemblies/flags", text
        if self.kind is not None and frame.type != self.kind:
            text = f"a frame of type {frame.type} in a segment of type {self.kind}"
            return "transport/frame/segment-type", text
        if self.kind is not None and place != self.place:
            return "transport/assemblies/flags", "frames of one segment that disagree on its place"
        return None


FAULTS = fault_table("""
empty-frames-end-segments: an empty frame is read as the last one of its segment
    [transport/assemblies/any-cut transport/frame/size]
""")
