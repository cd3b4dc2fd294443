"""From the octets of a server to what the reference agent of AMQP 0-10 looks at.

Knows: frames that break a rule by themselves. Must not know: sessions, how a refusal is sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.peer.amqp_0_10.listening import AssemblyListener
from amqpspec.peer.events import Arrival
from amqpspec.run.amqp_0_10.agent_checks import Violated, framing
from amqpspec.spec.model import Dialect
from amqpspec.wire.amqp_0_10.frames import Frame


@dataclass(frozen=True, slots=True)
class Wrong(Arrival):
    """A frame that breaks a rule by itself."""

    violated: Violated

    @property
    def kind(self) -> str:
        """What it is."""
        return "wrong"

    def describe(self, dialect: Dialect) -> str:
        """Why."""
        return str(self.violated)


class FrameWatcher(AssemblyListener):
    """Counts the frames of each assembly, and holds back frames that break a rule."""

    def __init__(self) -> None:
        super().__init__()
        self.frames_of_assembly = 0
        self.counts: list[int] = []

    def _frame(self, frame: Frame) -> None:
        violated = framing(frame)
        self.frames_of_assembly += 1
        if violated is not None:
            self._ready.append(Wrong(violated))
            return
        super()._frame(frame)
        if frame.assembly is not None:
            self.counts.append(self.frames_of_assembly)
            self.frames_of_assembly = 0
