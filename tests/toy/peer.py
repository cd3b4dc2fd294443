"""What a case drives where Echo is spoken.

Knows: greetings, questions, answers. Must not know: sockets, verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet, Reaction
from amqpspec.peer.line import Line
from amqpspec.peer.listening import FrameListener
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.framing import CutFrame, PlainReader
from tests.toy.tables import DIALECT
from tests.toy.wire import LAYOUT, frame, name_of

_BARRIER = b"barrier"


@dataclass(frozen=True, slots=True)
class FrameArrived(Arrival):
    """A frame of the target."""

    frame: CutFrame

    @property
    def name(self) -> str:
        """What it is."""
        return name_of(self.frame)

    @property
    def payload(self) -> bytes:
        """What it carries."""
        return self.frame.payload

    @property
    def kind(self) -> str:
        """What it is, an error with its code."""
        return f"error {self.payload[0]}" if self.name == "error" else self.name

    @property
    def refusal(self) -> Refusal | None:
        """What an error refuses."""
        return Refusal(Scope.CONNECTION, self.payload[0]) if self.name == "error" else None

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        if self.name == "error":
            return f"error {dialect.code_name(self.payload[0])}"
        return f"{self.name} {self.payload.hex(' ')}".rstrip()


class Listener(FrameListener[CutFrame]):
    """Octets in, arrivals out."""

    def __init__(self) -> None:
        super().__init__(PlainReader(LAYOUT))

    def _frame(self, frame: CutFrame) -> None:
        self._ready.append(FrameArrived(frame))


class Peer(Line):
    """A client of Echo."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, DIALECT, Listener(), lines)

    def another(self) -> Peer:
        """Another connection of the same case."""
        return Peer(self.context, self.lines)

    def open_connection(self) -> Peer:
        """Greet and be greeted; raises Unmet."""
        self.send_header()
        arrival = self.wait(lambda a: isinstance(a, HeaderArrived), self.patience_s)
        if not isinstance(arrival, HeaderArrived) or arrival.header.octets != self.dialect.protocol_header:
            raise Unmet("a greeting", arrival.describe(self.dialect))
        return self

    def send(self, name: str | int, payload: bytes = b"") -> None:
        """Send a frame, legal or not."""
        self.send_octets(frame(name, payload))

    def ask(self, payload: bytes) -> bytes:
        """Ask, and give what returns; raises Unmet."""
        self.send("ask", payload)
        arrival = self.wait(lambda a: isinstance(a, FrameArrived), self.patience_s)
        if not isinstance(arrival, FrameArrived) or arrival.name != "answer":
            raise Unmet("an answer", arrival.describe(self.dialect), arrival)
        return arrival.payload

    def reaction(self, barrier: bool = True) -> Reaction:
        """What the target does about what was sent last, up to the answer to a question after it."""
        if barrier:
            self.send("ask", _BARRIER)
        until_s = self.now() + self.patience_s
        seen: list[Arrival] = []
        while not seen or not _is_last(seen[-1]):
            seen.append(self.read(until_s))
        if isinstance(seen[-1], FrameArrived) and seen[-1].name == "error":
            seen.append(self.expect_end(self.context.patience.quiet_s))
        return Reaction(tuple(seen), refusal_of(seen), seen[-1])


def refusal_of(seen: list[Arrival]) -> Refusal | None:
    """The refusal that arrivals amount to."""
    for arrival in seen:
        if isinstance(arrival, FrameArrived) and arrival.refusal is not None:
            return arrival.refusal
    if not isinstance(seen[-1], Ended):
        return None
    greeted = any(isinstance(arrival, HeaderArrived) for arrival in seen)
    return Refusal(Scope.HEADER if greeted else Scope.SOCKET)


def _is_last(arrival: Arrival) -> bool:
    if isinstance(arrival, FrameArrived):
        return arrival.name == "error" or arrival.payload == _BARRIER
    return isinstance(arrival, Ended | Garbled | Quiet)
