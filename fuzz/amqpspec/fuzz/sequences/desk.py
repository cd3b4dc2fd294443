"""Where a program meets the target: connections by number, and the waiting for all that is due.

Knows: lines, arrivals, ends. Must not know: any dialect, verbs, what a delivery is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.peer.context import BudgetSpent, Context, Unmet, Withheld
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.peer.line import Line

_SLICE_S, _POLL_S = 0.02, 0.2
P = TypeVar("P", bound=Line)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Due:
    """A delivery that has to arrive: the connection, and a description."""

    peer: int
    words: str


class Ear(Protocol):
    """What listens to the connections of a program."""

    @property
    def patience_s(self) -> float:
        """How long an owed answer may take."""
        ...

    def now_s(self, peer: int) -> float:
        """The clock of a connection."""
        ...

    def glance(self, peers: list[int], until_s: float) -> None:
        """Listen to connections for a moment; raises Violation."""
        ...


def await_due(ear: Ear, due: Callable[[], Sequence[Due]]) -> None:
    """Wait for deliveries as long as one after the other arrives; raises Violation."""
    count, until_s = -1, 0.0
    while owed := due():
        peers = sorted({one.peer for one in owed})
        now_s = ear.now_s(peers[0])
        if len(owed) != count:
            count, until_s = len(owed), now_s + ear.patience_s
        elif now_s > until_s:
            raise Violation("not delivered", owed[0].words, f"nothing in {ear.patience_s:.1f} s")
        ear.glance(peers, until_s)


class Desk(ABC, Generic[P]):
    """One program's dealings with one target; a dialect says what arrives, and what is due."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.peers: dict[int, P] = {}

    @abstractmethod
    def collect(self) -> None:
        """Book what has been received; raises Violation, also where something ended that no step has ended."""

    @abstractmethod
    def due(self) -> Sequence[Due]:
        """The deliveries that have to arrive now."""

    def keep(self, peer: P, arrival: Arrival) -> None:
        """Keep an arrival until it is collected, where the peer does not book it itself."""
        peer.keep(arrival)

    def look(self) -> None:
        """Check the invariants after a step; raises Violation."""

    def unused(self, most: int) -> list[tuple[int]]:
        """The number of the next connection, if there may be one more."""
        return [(number,) for number in range(1, most + 1) if number not in self.peers][:1]

    # --- waiting

    @property
    def patience_s(self) -> float:
        """How long an owed answer may take."""
        return self.context.patience.reply_s

    def now_s(self, peer: int) -> float:
        """The clock of a connection."""
        return self.peers[peer].now()

    def owed(self, kind: str, act: Callable[[], T]) -> T:
        """Do what has to succeed; raises Violation."""
        done = sure(kind, act)
        self.collect()
        return done

    def settle(self) -> None:
        """Wait for the deliveries that are due; raises Violation."""
        await_due(self, self.due)

    def glance(self, peers: list[int], until_s: float) -> None:
        """Listen to connections for a moment; raises Violation."""
        for number in peers:
            peer = self.peers[number]
            arrival = peer.read(min(until_s, peer.now() + _SLICE_S))
            while not isinstance(arrival, Quiet | Ended | Garbled):
                self.keep(peer, arrival)
                arrival = peer.read(0.0)
            if isinstance(arrival, Garbled):
                raise Violation("octets that cannot be read", "frames", arrival.describe(peer.dialect))
        self.collect()

    # --- ends

    def reset(self, number: int) -> None:
        """End a connection without a close; raises Violation where what has to go with it does not."""
        end_by_reset(self.peers.pop(number).transport)

    def drop(self, number: int) -> None:
        """Hang up a connection that has said all it had to say."""
        self.peers.pop(number).hang_up()

    def hang_up(self) -> None:
        """End all connections."""
        for peer in self.peers.values():
            peer.hang_up()
        self.peers = {}


def sure(kind: str, act: Callable[[], T]) -> T:
    """Do what has to succeed; raises Violation, and BudgetSpent where the target holds it back: nothing is judged."""
    try:
        return act()
    except Withheld as held:
        raise BudgetSpent(str(held)) from held
    except Unmet as unmet:
        raise Violation(kind, unmet.expected, unmet.observed) from unmet


def pause(auditor: Line) -> None:
    """Wait a moment before the next question; nothing that comes then answers one."""
    until_s = auditor.now() + _POLL_S
    while not isinstance(auditor.read(until_s), Quiet | Ended | Garbled):
        pass
