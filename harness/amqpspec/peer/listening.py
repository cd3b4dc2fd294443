"""Converts the octets of a target to arrivals, for dialects whose frames a ``Reader`` cuts.

Knows: readers, protocol headers, which frames arrived last. Must not know: any dialect, how to wait for arrivals.
"""

from __future__ import annotations

from collections import deque
from typing import Generic

from amqpspec.peer.events import Arrival, Garbled, HeaderArrived
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import F, Reader
from amqpspec.wire.greeting import ProtocolHeader

_KEPT_FRAMES = 4096


class FrameListener(Generic[F]):
    """``feed`` octets, then take arrivals from ``next`` until it returns None; dialects define how a frame becomes an
    arrival.

    ``frames`` are the last ones, and ``largest_frame_octets`` is the size of the largest one, for cases that judge
    frames and not their contents.
    """

    def __init__(self, reader: Reader[F]) -> None:
        self.reader = reader
        self.frames: deque[F] = deque(maxlen=_KEPT_FRAMES)
        self.largest_frame_octets = 0
        self._ready: deque[Arrival] = deque()

    def feed(self, octets: bytes) -> None:
        """Add octets and convert them to arrivals."""
        self.reader.feed(octets)
        try:
            while (item := self.reader.next()) is not None:
                self._take(item)
        except WireError as error:
            self._ready.append(Garbled(error))

    def next(self) -> Arrival | None:
        """The next arrival, or None until more octets arrive."""
        return self._ready.popleft() if self._ready else None

    def _take(self, item: F | ProtocolHeader) -> None:
        if isinstance(item, ProtocolHeader):
            self._ready.append(HeaderArrived(item))
            return
        self.frames.append(item)
        self.largest_frame_octets = max(self.largest_frame_octets, self.reader.offset - item.offset)
        self._frame(item)

    def _frame(self, frame: F) -> None:
        """Convert a frame to arrivals; raises WireError for an unreadable one."""
        raise NotImplementedError
