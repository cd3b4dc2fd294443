"""Converts the octets of a target to arrivals: complete assemblies.

Knows: the codec's frames. Must not know: sessions, how arrivals are waited for.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.events import Garbled
from amqpspec.peer.listening import FrameListener
from amqpspec.wire.amqp_0_10.frames import Frame
from amqpspec.wire.amqp_0_10.problems import Problem
from amqpspec.wire.amqp_0_10.reader import FrameReader


class AssemblyListener(FrameListener[Frame]):
    """``problems`` are violations of the specification in readable frames and values."""

    reader: FrameReader

    def __init__(self) -> None:
        super().__init__(FrameReader())
        self.problems: list[Problem] = []

    def _frame(self, frame: Frame) -> None:
        """An arrival is the frame that completes an assembly; misplaced or unreadable data are garbled."""
        self.problems += frame.problems
        error = frame.error or (frame.assembly.error if frame.assembly else None)
        if error is not None:
            self._ready.append(Garbled(error))
        elif frame.assembly is not None:
            self.problems += frame.assembly.problems
            self._ready.append(AssemblyArrived(frame.assembly))
