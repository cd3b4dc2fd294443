"""The legal part of a conversation after an input: what is sent next, and whether the target still obeys.

Knows: what may be said, by name and channel. Must not know: sockets, time.
"""

from __future__ import annotations

from amqpspec.fuzz.executor.heard import UNREADABLE, Heard
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.result import Obedience
from amqpspec.fuzz.states.follow_up import (
    exchange_on,
    farewell,
    fresh_channel,
    has_no_excuse,
    rest,
    used_channels,
)
from amqpspec.fuzz.states.model import Step, Traces, Values
from amqpspec.fuzz.states.part import states_part
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.spec.model import Scope


class FollowUp:
    """Sends the rest of the handshake, then an exchange on an unused channel if ``fresh``."""

    def __init__(self, dialect: str, state: str, found: Traces, answers: tuple[str, ...]) -> None:
        self.dialect, self._part = dialect, states_part(dialect)
        self._answers_where_asked = executor_part(dialect).answers_where_asked
        self._used = used_channels(dialect, state, found)
        self._limit = states(dialect)[state].channel_max
        steps = rest(dialect, state, found, answers)
        self.possible = steps is not None
        self.has_no_excuse = has_no_excuse(dialect, state, found, answers)
        self._steps = list(steps or ())
        self.fresh: int | None = None
        self._chosen = False
        self._answered_on: int | None = None
        self._leaves_open = False
        self.expected = ""
        self.obedience = Obedience.NOT_ASKED
        self.actual = ""

    @property
    def complaint(self) -> str:
        """What was expected and what arrived instead; empty if the target obeys, refuses, or has an excuse."""
        if not self.has_no_excuse or self.obedience not in (Obedience.SILENT, Obedience.WRONG):
            return ""
        where = f" on channel {self.fresh}" if self.fresh is not None else ""
        return f"expected {self.expected}{where}, actual {self.actual}"

    @property
    def open(self) -> int | None:
        """The channel that the exchange leaves open."""
        return self.fresh if self._leaves_open else None

    def begin(self, values: Values) -> bytes:
        """The first octets; none if there is nothing to send."""
        return self._next(values)

    def silent(self) -> None:
        """No answer arrived in time."""
        self.obedience, self.actual = Obedience.SILENT, "nothing"

    def ended(self, how: str) -> None:
        """The stream has ended."""
        self.obedience, self.actual = Obedience.ENDS, how

    def take(self, said: Heard, values: Values) -> bytes | None:
        """Return what to send after an answer, or None if the answer belongs to the input. ``obedience`` is set at the
        end.
        """
        if self._is_expected(said):
            self._answered_on = said.channel
            del self._steps[0]
            return self._next(values)
        if said.name in self._part.handshake.ends:
            self.ended(said.name)
        elif said.name == UNREADABLE or self._is_astray(said):
            self.obedience = Obedience.WRONG
            where = f" on channel {said.channel}" if self._answers_where_asked else ""
            self.actual = said.name + ("" if said.name == UNREADABLE else where)
        elif self.fresh is not None and self._answers_where_asked and said.channel == self.fresh:
            self.obedience, self.actual = Obedience.WRONG, f"{said.name} on channel {said.channel}"
            if said.refusal is not None:
                self.ended(f"{said.refusal.scope} {said.refusal.code}")
        else:
            return None
        return b""

    def farewell(self, said: Heard, values: Values) -> bytes:
        """The answer to a closed channel or an ended session; empty for any other refusal."""
        scope = said.refusal.scope if said.refusal is not None else None
        if scope not in (Scope.CHANNEL, Scope.SESSION) or said.channel not in self._used:
            return b""
        return octets_of_step(self.dialect, farewell(self.dialect, said.channel), values)

    # --- inside

    def _next(self, values: Values) -> bytes:
        if not self._steps and not self._chosen:
            self._chosen = True
            limit = values.channel_max if self._limit is None else min(self._limit, values.channel_max)
            self.fresh = fresh_channel(self._used, limit)
            if self.fresh is not None:
                exchange = exchange_on(self.dialect, self.fresh)
                self._steps, self._leaves_open = list(exchange.steps), exchange.leaves_open
                self._answered_on = None
        if not self._steps:
            if self.expected:
                self.obedience = Obedience.GOES_ON
            return b""
        step: Step = self._steps[0]
        self.expected = step.wait_for[-1]
        return octets_of_step(self.dialect, step, values)

    def _is_expected(self, said: Heard) -> bool:
        if said.name != self.expected or not said.good:
            return False
        if self.fresh is None:
            return True
        if self._answers_where_asked:
            return said.channel == self.fresh
        # The first answer names our channel; later ones come on the channel that the target chose.
        return said.remote == self.fresh if self._answered_on is None else said.channel == self._answered_on

    def _is_astray(self, said: Heard) -> bool:
        """Whether the target answers on a channel that no one has used, or answers on such a channel."""
        if self._answers_where_asked:
            return said.channel not in self._used and said.channel != self.fresh
        return said.remote is not None and said.remote not in self._used | {self.fresh}
