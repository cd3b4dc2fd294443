"""From the octets of a target to arrivals.

Knows: the reader of frames. Must not know: sessions, links, how arrivals are waited for.
A body that cannot be read is Garbled, and so is the loss of framing; the reader goes on behind the former.
"""

from __future__ import annotations

from collections import deque

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.events import Arrival, Garbled, HeaderArrived
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.amqp_1_0.problems import Problem
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader

LEAST_READABLE_OCTETS, UNLIMITED_OCTETS = 1 << 20, 16 << 20
_KEPT_FRAMES = 4096
_KEPT_PROBLEMS = 200


class Listener:
    """Makes arrivals of octets; keeps the last frames, and what is wrong with values in any of them."""

    def __init__(self) -> None:
        self.reader = TypedReader(max_frame_octets=LEAST_READABLE_OCTETS)
        self.frames: deque[TypedFrame] = deque(maxlen=_KEPT_FRAMES)
        self.problems: list[Problem] = []
        self.largest_frame_octets = 0
        self._ready: deque[Arrival] = deque()
        self._broken = False

    def agree(self, max_frame_octets: int | None) -> None:
        """The largest frame that the target was told to send; too large a one is still read, as far as bearable."""
        # Twice the limit, so that a target which sends too large a frame (§2.7.1 max-frame-size) is seen doing it.
        wanted = UNLIMITED_OCTETS if max_frame_octets is None else 2 * max_frame_octets
        self.reader.max_size = min(max(LEAST_READABLE_OCTETS, wanted), UNLIMITED_OCTETS)

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self.reader.feed(octets)
        if self._broken:
            return
        try:
            while (item := self.reader.next()) is not None:
                self._take(item)
        except WireError as error:
            self._broken = True
            self._ready.append(Garbled(error))

    def next(self) -> Arrival | None:
        """The next arrival, or None until more octets come."""
        return self._ready.popleft() if self._ready else None

    def _take(self, item: TypedFrame | ProtocolHeader) -> None:
        if isinstance(item, ProtocolHeader):
            self._ready.append(HeaderArrived(item))
            return
        self.frames.append(item)
        self.largest_frame_octets = max(self.largest_frame_octets, len(item.octets))
        if item.error is not None:
            self._ready.append(Garbled(item.error))
            return
        if len(self.problems) < _KEPT_PROBLEMS:
            self.problems.extend(item.problems)
        self._ready.append(FrameArrived(item))
