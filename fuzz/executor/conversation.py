"""One input on one connection: the way into its state, the input, the reaction; octets in, octets out, deadlines.

Knows: steps, what ends the waiting. Must not know: sockets; times are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fuzz.catalogue import FuzzInput
from fuzz.executor.hearing import Hear, Heard, hearing
from fuzz.executor.outcome import End, Outcome, Timing
from fuzz.states import Step, Values, octets_of_step, states


@dataclass(frozen=True, slots=True)
class Tempo:
    """How long is waited, in seconds; made from the round trip that was measured.

    ``quiet_s``: where nothing is owed and nothing came; ``settle_s``: behind an answer; ``refusal_s``: where a refusal
    is owed; ``way_s``: for each answer on the way.
    """

    quiet_s: float = 1.0
    settle_s: float = 0.03
    refusal_s: float = 5.0
    way_s: float = 8.0

    @classmethod
    def of(cls, round_trip_s: float, patience: float = 1.0, hang_s: float = 10.0) -> Tempo:
        """The tempo of a target whose handshake takes so long, many connections at a time."""
        quiet_s = min(3.0, max(1.0, 8 * round_trip_s)) * patience
        return cls(quiet_s, max(0.03, round_trip_s) * patience, 5.0 * patience, 0.8 * hang_s * patience)

    @property
    def patient(self) -> Tempo:
        """The tempo of a second look: nothing is missed for haste."""
        return replace(self, quiet_s=max(self.quiet_s, 2.0), settle_s=max(self.settle_s, 0.2), refusal_s=13.0)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One piece of a conversation, for a transcript."""

    direction: str
    octets: bytes
    t_ns: int


class Conversation:
    """What goes out stands in ``out``; the driver takes it from there and says what came and when."""

    def __init__(self, item: FuzzInput, values: Values, tempo: Tempo, now_s: float) -> None:
        self.item, self._values, self._tempo = item, values, tempo
        self._steps: tuple[Step, ...] = states(item.dialect)[item.state].steps
        self._hear: Hear = hearing(item.dialect)
        self._next_step = 0
        self._waiting: list[str] = []
        self._in_input = False
        self._owed = item.expectation.must_refuse
        self.out = bytearray()
        self._since_s = self._begun_s = now_s
        self._sent_s: float | None = None
        self._way_took_s = self._slowest_s = 0.0
        self.deadline_s = now_s + tempo.way_s
        self._arrivals: list[str] = []
        self._refused: Heard | None = None
        self._latency_s: float | None = None
        self._sent_octets = self._received_octets = 0
        self.outcome: Outcome | None = None
        self.spoken: list[Spoken] | None = None

    # --- what the driver says

    def connected(self, now_s: float) -> None:
        """The stream is there."""
        self._go_on(now_s)

    def flushed(self, now_s: float) -> None:
        """All of ``out`` has been taken."""
        if self._in_input and self._sent_s is None:
            self._sent_s = now_s
            self.deadline_s = now_s + (self._tempo.refusal_s if self._owed else self._tempo.quiet_s)

    def heard(self, octets: bytes, now_s: float) -> None:
        """Octets have come."""
        self._received_octets += len(octets)
        if self.spoken is not None:
            self.spoken.append(Spoken("in", octets, int(now_s * 1e9)))
        for said in self._hear(octets):
            self._take(said, now_s)
            if self.outcome is not None:
                return

    def ended(self, end: End, now_s: float) -> None:
        """The stream has ended."""
        reached = self._in_input and end is not End.REFUSED
        self._finish(end, reached, "" if reached else f"{end} while waiting for {self._waited}")

    def tick(self, now_s: float) -> None:
        """The clock has moved; past the deadline, waiting is over."""
        if self.outcome is None and now_s >= self.deadline_s:
            if self._in_input and self._sent_s is not None:
                self._finish(End.OPEN, True)
            elif self._in_input:
                self._finish(End.OPEN, True, "not all octets were taken")
            else:
                self._finish(End.OPEN, False, f"no {self._waited} in time")

    # --- inside

    @property
    def _waited(self) -> str:
        return self._waiting[0] if self._waiting else "the stream"

    def _take(self, said: Heard, now_s: float) -> None:
        if said.limits is not None:
            channel_max, frame_max = said.limits
            self._values = replace(
                self._values, channel_max=channel_max or 65_535, frame_max_octets=frame_max or 131_072
            )
        if not self._in_input:
            self._on_the_way(said, now_s)
            return
        self._arrivals.append(said.name)
        if self._latency_s is None:
            self._latency_s = max(0.0, now_s - (self._sent_s if self._sent_s is not None else now_s))
        if said.refusal is not None:
            self._refused = said
            self._finish(End.OPEN, True)
        elif not self._owed and self._sent_s is not None:
            self.deadline_s = now_s + self._tempo.settle_s

    def _on_the_way(self, said: Heard, now_s: float) -> None:
        if said.refusal is not None:
            self._finish(End.OPEN, False, f"{said.refusal.scope} {said.refusal.code} for {self._waited}")
        elif self._waiting and said.name == self._waiting[0]:
            del self._waiting[0]
            self._slowest_s = max(self._slowest_s, now_s - self._since_s)
            self._since_s = now_s
            if not self._waiting:
                self._go_on(now_s)

    def _go_on(self, now_s: float) -> None:
        """Send steps up to one that has to be answered, or the input."""
        while not self._waiting and self._next_step < len(self._steps):
            step = self._steps[self._next_step]
            self._next_step += 1
            self._say(octets_of_step(self.item.dialect, step, self._values), now_s)
            self._waiting = list(step.wait_for)
        self._since_s = now_s
        self.deadline_s = now_s + self._tempo.way_s
        if not self._waiting:
            self._in_input = True
            self._way_took_s = now_s - self._begun_s
            self._say(self.item.octets, now_s)

    def _say(self, octets: bytes, now_s: float) -> None:
        self.out += octets
        self._sent_octets += len(octets)
        if self.spoken is not None:
            self.spoken.append(Spoken("out", octets, int(now_s * 1e9)))

    def _finish(self, end: End, reached: bool, why: str = "") -> None:
        timing = Timing(self._latency_s, self._way_took_s, self._slowest_s)
        refused = self._refused.refusal if self._refused is not None else None
        self.outcome = Outcome(
            self.item, reached, tuple(self._arrivals), refused, end, timing,
            self._sent_octets, self._received_octets, why,
        )  # fmt: skip


Filling = Callable[[int], Values]
"""What fills the slots of connection number n."""
