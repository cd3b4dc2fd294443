"""One input on one connection: the way into its state, the input, the reaction; octets in, octets out, deadlines.

Knows: steps, what ends the waiting. Must not know: sockets; times are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from zlib import crc32

from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.follow_up import FollowUp
from amqpspec.fuzz.executor.heard import Decode, Heard, learned
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.result import End, InputResult, Obedience, Spoken, Timing
from amqpspec.fuzz.executor.reusable import Medium, ReusableConnection, reusable
from amqpspec.fuzz.executor.silence import Silence
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.states.follow_up import has_no_excuse, is_long, opens, traces, used_channels
from amqpspec.fuzz.states.model import BROKEN, Step, Traces, Values
from amqpspec.fuzz.states.part import states_part
from amqpspec.fuzz.states.ways import octets_of_step, way
from amqpspec.spec.model import Refusal, Scope

ASKED_ONE_IN = 8
"""Of inputs that were answered, or end inside a frame, one in this many is followed up if no claim applies."""

_PARTIAL = frozenset({Scope.CHANNEL, Scope.SESSION, Scope.LINK, Scope.HANDLE, Scope.DELIVERY})
"""Refusals after which a connection has to continue."""
_MOST_ARRIVALS, _MOST_SPOKEN_OCTETS = 64, 1 << 20
"""What is kept of a target's answers and of a conversation; a hostile target never ends."""
_QUIET_S = 0.1
"""After the last octets, before it is assumed that nothing may come for a while."""
_AT_ONCE_S = 0.5
"""What ends a connection sooner is no silence, whatever was announced."""


def _ends_all(refusal: Refusal) -> bool:
    return refusal.scope not in _PARTIAL


class _Stage(Enum):
    """How far a conversation has come: on the way into the state, at the input, or after it."""

    WAY = 0
    INPUT = 1
    FOLLOW_UP = 2


class Conversation:
    """A conversation without a socket: the driver sends what is in ``out``, and reports what arrives and when.

    After an input that was not refused, the conversation continues legally: always if only silence can be expected,
    because the answer shows that the input was read; otherwise for one input in several, or for all with ``thorough``.
    With ``on``, the way into the state starts on a connection that another input left open.
    """

    def __init__(
        self, item: FuzzInput, values: Values, tempo: Tempo, now_s: float, *, thorough: bool = False,
        on: ReusableConnection | None = None,
    ) -> None:  # fmt: skip
        self.item, self._values, self._tempo, self._thorough = item, values, tempo, thorough
        self._steps: tuple[Step, ...] = way(item.dialect, item.state, values.mechanism)
        self._decode: Decode | None = None
        self._dialect, self._rules = executor_part(item.dialect), states_part(item.dialect).handshake
        self._silence = Silence(now_s)
        self._before: frozenset[int] = frozenset()
        self._waiting: list[str] = []
        self._stage = _Stage.WAY
        self._owed = item.expectation.must_refuse
        self.out = bytearray()
        self._since_s = self._begun_s = self._moved_s = now_s
        self._sent_s: float | None = None
        self._way_took_s = self._slowest_s = self._slowest_until_s = self._answered_s = 0.0
        self._until_s = now_s + tempo.way_s
        self._looked = False
        self._arrivals: list[str] = []
        self._refused: Heard | None = None
        self._astray: Heard | None = None
        self._latency_s: float | None = None
        self._next_step = self._sent_octets = self._received_octets = 0
        self._traces: Traces | None = None
        self._follow_up: FollowUp | None = None
        self.result: InputResult | None = None
        self.spoken: list[Spoken] | None = None
        if on is not None:
            self._take_over(on)

    def _take_over(self, on: ReusableConnection) -> None:
        self._steps, self._before = on.steps, on.channels
        self._decode, self._silence, settled = on.medium.decode, on.medium.silence, on.medium.settled
        # What a session was called by the connection is its name as long as the connection continues.
        self._values = replace(settled, queue=self._values.queue)

    @property
    def is_reused(self) -> bool:
        """Whether another input was sent on this connection before."""
        return bool(self._before)

    @property
    def reusable(self) -> ReusableConnection | None:
        """What the next input needs; None if the target does not continue, or if there is no way back."""
        if self._follow_up is None or self._decode is None or self.out:
            return None
        medium = Medium(self._decode, self._silence, self._values)
        return reusable(self.item, self._left, self._follow_up, self._refused, medium)

    # --- what the driver says

    @property
    def deadline_s(self) -> float:
        """The latest time at which the driver looks at the clock again."""
        return min(self._until_s, self._silence.due_s)

    @property
    def has_begun(self) -> bool:
        """Whether the state has been reached."""
        return self._stage is not _Stage.WAY

    def only_waits(self, now_s: float) -> bool:
        """Whether everything was sent and nothing arrived for a while: only the end of the wait is missing."""
        return self.has_begun and not self.out and now_s - self._moved_s >= _QUIET_S

    def postponed(self, pause_s: float) -> None:
        """No one listened for this long: it counts neither as the target's delay nor as waiting time."""
        self._moved_s += pause_s
        self._until_s += pause_s
        if self._sent_s is not None:
            self._sent_s += pause_s

    def connected(self, now_s: float) -> None:
        """The stream is open."""
        self._go_on(now_s)

    def flushed(self, now_s: float) -> None:
        """All of ``out`` was sent."""
        if self._stage is _Stage.INPUT and self._sent_s is None:
            self._sent_s = self._moved_s = now_s
            self._until_s = now_s + (self._tempo.refusal_s if self._owed else self._tempo.settle_s)

    def heard(self, octets: bytes, now_s: float) -> None:
        """Octets have arrived."""
        self._received_octets += len(octets)
        self._moved_s = now_s
        if self.spoken is not None and self._received_octets <= _MOST_SPOKEN_OCTETS:
            self.spoken.append(Spoken("in", octets, int(now_s * 1e9)))
        self._decode = self._decode or decoder(self.item.dialect)
        for said in self._decode(octets):
            self._take(said, now_s)
            if self.result is not None:
                return

    def ended(self, end: End, now_s: float) -> None:
        """The stream has ended."""
        if self._stage is not _Stage.WAY and self._is_due_to_silence(now_s):
            self._kept_silent()
            return
        if self._follow_up is not None:
            self._follow_up.ended(end)
            # The end of a stream whose input was cut short is an answer to what came after it.
            self._finish(end if self._left.whole else End.OPEN, True)
            return
        reached = self._stage is not _Stage.WAY and end is not End.REFUSED
        self._finish(end, reached, "" if reached else f"{end} while waiting for {self._waited}")

    def tick(self, now_s: float) -> None:
        """The clock has moved; past the deadline, waiting is over."""
        if self.result is not None or now_s < self.deadline_s:
            return
        if now_s < self._until_s:
            self._live(now_s)
        elif self._follow_up is not None:
            self._kept_silent()
        elif self._stage is _Stage.INPUT and self._sent_s is not None:
            self._settled(now_s, self._sent_s)
        elif self._stage is _Stage.INPUT:
            self._finish(End.OPEN, True, "not all octets were taken")
        else:
            self._finish(End.OPEN, False, f"no {self._waited} in time", late=True)

    # --- the way

    @property
    def _waited(self) -> str:
        return self._waiting[0] if self._waiting else "the stream"

    def _take(self, said: Heard, now_s: float) -> None:
        if said.limits is not None or self._stage is _Stage.WAY:
            self._values = learned(self._values, said)
        if said.idle_s:
            self._silence.announced(said.idle_s, now_s)
        if (
            said.refusal is not None
            and self._stage is not _Stage.WAY
            and self._is_due_to_silence(now_s, said)
        ):
            self._kept_silent()
            return
        if self._astray is None and said.channel > 1 and self._is_astray(said):
            self._astray = said
        if said.name in self._rules.life:
            return
        if self._stage is _Stage.WAY:
            self._on_the_way(said, now_s)
        elif self._stage is _Stage.INPUT:
            self._react(said, now_s)
        else:
            self._obey(said, now_s)

    def _on_the_way(self, said: Heard, now_s: float) -> None:
        if said.refusal is not None:
            self._finish(End.OPEN, False, f"{said.refusal.scope} {said.refusal.code} for {self._waited}")
        elif self._waiting and said.name == self._waiting[0]:
            del self._waiting[0]
            if now_s - self._since_s > self._slowest_s:
                self._slowest_s, self._slowest_until_s = now_s - self._since_s, now_s
            self._since_s = now_s
            if not self._waiting:
                self._go_on(now_s)

    def _go_on(self, now_s: float) -> None:
        """Send steps until one needs an answer, or until the input is sent."""
        while not self._waiting and self._next_step < len(self._steps):
            step = self._steps[self._next_step]
            self._next_step += 1
            self._say(octets_of_step(self.item.dialect, step, self._values), now_s)
            self._waiting = list(step.wait_for)
        self._since_s = now_s
        self._until_s = now_s + self._tempo.way_s
        if not self._waiting:
            self._stage = _Stage.INPUT
            self._way_took_s = now_s - self._begun_s
            self._say(self._dialect.counted(self.item.octets, self._values), now_s)

    # --- the input

    @property
    def _left(self) -> Traces:
        """What the input leaves behind."""
        if self._traces is None:
            self._traces = traces(self.item.dialect, self.item.octets)
        return self._traces

    def _live(self, now_s: float) -> None:
        """Send a sign of life, if a whole frame may legally be sent now."""
        before, names = self.item.state, () if self._stage is _Stage.WAY else self._left.names
        ended = before in self._rules.mute or not self._rules.ends.isdisjoint(names)
        whole = self._stage is _Stage.WAY or (self._left.whole and self._sent_s is not None)
        if (
            self.out
            or ended
            or not whole
            or not (opens(self.item.dialect, before) or self._rules.opened_by in names)
        ):
            self._silence.cannot_be_broken()
        else:
            self._say(self._dialect.sign_of_life, now_s)

    def _is_due_to_silence(self, now_s: float, said: Heard | None = None) -> bool:
        """Whether the target ends the connection because nothing more was sent: that is no answer to the input."""
        waited_s = 0.0 if self._sent_s is None else now_s - self._sent_s
        if waited_s < _AT_ONCE_S or (
            said is not None and said.refusal is not None and not _ends_all(said.refusal)
        ):
            return False
        if self._silence.ends_it(now_s) or (said is not None and said.blames_silence):
            return True
        return 0 < self._dialect.settled_silence_s(self.item.octets) <= waited_s

    def _kept_silent(self) -> None:
        """Nothing that counts arrived after the input, or after the follow-up."""
        if self._follow_up is not None:
            self._follow_up.silent()
        self._finish(End.OPEN, True)

    def _react(self, said: Heard, now_s: float) -> None:
        self._note(said, now_s)
        if said.refusal is not None:
            self._refused = said
            if not (said.refusal.scope in _PARTIAL and self._is_asked and self._ask(now_s, said)):
                self._finish(End.OPEN, True)
        elif not self._owed and self._sent_s is not None:
            # A target that never ends is left at that.
            self._until_s = min(now_s + self._tempo.settle_s, self._sent_s + self._longest_s)

    @property
    def _longest_s(self) -> float:
        """How long a target may continue to answer."""
        return max(self._tempo.refusal_s, self._tempo.quiet_s)

    def _note(self, said: Heard, now_s: float) -> None:
        if len(self._arrivals) < _MOST_ARRIVALS:
            self._arrivals.append(said.name)
        if self._latency_s is None:
            self._latency_s = max(0.0, now_s - (self._sent_s if self._sent_s is not None else now_s))
            self._answered_s = now_s

    def _settled(self, now_s: float, sent_s: float) -> None:
        """Nothing arrived for a while: wait longer if an answer may yet come, follow up, or finish."""
        if self._owed:
            self._finish(End.OPEN, True)
            return
        if not self._arrivals and not self._looked:
            self._looked = True
            if self._left.owes or not self._ask(now_s):
                self._until_s = sent_s + (self._tempo.quiet_s if self._left.whole else self._tempo.partial_s)
            return
        if not (self._is_asked and self._ask(now_s)):
            self._finish(End.OPEN, True)

    @property
    def _is_asked(self) -> bool:
        """Whether to follow up after an answer: always if the target has no excuse not to obey."""
        item = self.item
        by_chance = self._thorough or crc32(str(item.id).encode()) % ASKED_ONE_IN == 0
        if by_chance or is_long(item.octets):
            return by_chance
        return has_no_excuse(item.dialect, item.state, self._left, tuple(self._arrivals))

    # --- beyond it

    def _ask(self, now_s: float, refused: Heard | None = None) -> bool:
        """Continue legally, if that is possible."""
        follow_up = FollowUp(self.item.dialect, self.item.state, self._left, tuple(self._arrivals))
        octets = follow_up.begin(self._values) if follow_up.possible else b""
        if not octets:
            return False
        if refused is not None:
            octets = follow_up.farewell(refused, self._values) + octets
        self._follow_up, self._stage = follow_up, _Stage.FOLLOW_UP
        if self._latency_s is None:
            # What arrives from now on answers the new question: the silence before was no delay.
            self._sent_s = now_s
        self._say(octets, now_s)
        self._until_s = now_s + self._ask_s
        return True

    @property
    def _ask_s(self) -> float:
        assert self._follow_up is not None
        return self._tempo.refusal_s if self._follow_up.has_no_excuse else self._tempo.quiet_s

    def _obey(self, said: Heard, now_s: float) -> None:
        assert self._follow_up is not None
        reply = self._follow_up.take(said, self._values)
        if reply is None:
            self._note(said, now_s)
            if said.refusal is not None and self._refused is None:
                self._refused = said
                self._say(self._follow_up.farewell(said, self._values), now_s)
            return
        if self._follow_up.obedience is Obedience.ENDS and self._left.whole and self._refused is None:
            self._refused = said if said.refusal is not None else None
        if self._follow_up.obedience is not Obedience.NOT_ASKED:
            self._finish(End.OPEN, True)
            return
        self._say(reply, now_s)
        self._until_s = now_s + self._ask_s

    def _is_astray(self, said: Heard) -> bool:
        """Whether an answer arrived on a channel that neither the way nor a readable input has used."""
        if not self._dialect.answers_where_asked or (
            self._follow_up is not None and self._stage is _Stage.FOLLOW_UP
        ):
            return False
        used = used_channels(self.item.dialect, self.item.state, BROKEN) | self._before
        if said.channel in used:
            return False
        return self._stage is _Stage.WAY or (self._left.whole and said.channel not in self._left.channels)

    def _say(self, octets: bytes, now_s: float) -> None:
        self.out += octets
        self._moved_s = now_s
        self._sent_octets += len(octets)
        self._silence.broken(now_s)
        if self.spoken is not None and octets:
            self.spoken.append(Spoken("out", octets, int(now_s * 1e9)))

    def _finish(self, end: End, reached: bool, why: str = "", *, late: bool = False) -> None:
        follow_up = self._follow_up
        self.result = InputResult(
            self.item, reached, tuple(self._arrivals), self._refused.refusal if self._refused is not None else None,
            end, Timing(self._latency_s, self._way_took_s, self._slowest_s, self._answered_s, self._slowest_until_s),
            self._sent_octets, self._received_octets,
            why, follow_up.obedience if follow_up is not None else Obedience.NOT_ASKED,
            follow_up.complaint if follow_up is not None else "",
            f"{self._astray.name} on channel {self._astray.channel}" if self._astray is not None else "",
            late,
        )  # fmt: skip


Filling = Callable[[int], Values]
"""What fills the slots of connection number n."""
