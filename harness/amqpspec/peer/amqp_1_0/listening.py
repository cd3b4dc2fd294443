"""Converts the octets of a target to arrivals.

Knows: the reader of frames. Must not know: sessions, links, how arrivals are waited for. An unreadable body is
Garbled, and so is the loss of framing; the reader continues after an unreadable body.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.events import Garbled
from amqpspec.peer.listening import FrameListener
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.amqp_1_0.problems import Problem

LEAST_READABLE_OCTETS, UNLIMITED_OCTETS = 1 << 20, 16 << 20
_KEPT_PROBLEMS = 200


class Listener(FrameListener[TypedFrame]):
    """Makes arrivals from octets; keeps errors in values: see ``FrameListener``."""

    def __init__(self) -> None:
        super().__init__(TypedReader(max_frame_octets=LEAST_READABLE_OCTETS))
        self.problems: list[Problem] = []

    def agree(self, max_frame_octets: int | None) -> None:
        """The largest frame that the target may send; a larger one is still read, up to a limit."""
        # Twice the limit, so that a frame of the target that is too large (§2.7.1 max-frame-size) is observed.
        wanted = UNLIMITED_OCTETS if max_frame_octets is None else 2 * max_frame_octets
        self.reader.max_size = min(max(LEAST_READABLE_OCTETS, wanted), UNLIMITED_OCTETS)

    def feed(self, octets: bytes) -> None:
        """Add octets; after the loss of framing was reported, they are ignored."""
        if not self.reader.is_broken:
            super().feed(octets)

    def _frame(self, frame: TypedFrame) -> None:
        if frame.error is not None:
            self._ready.append(Garbled(frame.error))
            return
        if len(self.problems) < _KEPT_PROBLEMS:
            self.problems.extend(frame.problems)
        self._ready.append(FrameArrived(frame))
