"""Where programs run: a target that is reached over sockets, with a transcript where one is wanted.

Knows: subjects, recorded streams. Must not know: hypothesis, models, what a violation leads to.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from secrets import token_hex
from threading import Event

from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.sequences.part import World, sequences_part
from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Context, Login, Patience
from amqpspec.record.transcript import Transcript
from amqpspec.run.driver import driver_of
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Stopped, Streams
from amqpspec.spec.dialects import widest

PROGRAM_S = 120.0
"""How long one program may take at most, in seconds."""
_HASTY_REPLY_S = 1.5


class _Hosted:
    """A world whose streams are closed, and whose transcript ends, with it."""

    def __init__(self, world: World, streams: Streams) -> None:
        self._world, self._streams = world, streams
        self.options, self.take, self.finish = world.options, world.take, world.finish

    def give_up(self) -> None:
        """Leave, whatever the time says."""
        self._streams.budget.until_s = max(self._streams.budget.until_s, monotonic_s() + _HASTY_REPLY_S)
        with suppress(BudgetSpent, Stopped):
            self._world.give_up()
        self._streams.hang_up()
        self._streams.transcript.close()


@dataclass(slots=True)
class Stage:
    """A target; ``hasty`` worlds wait less for answers that are owed: while a program is shrunk."""

    subject: Subject
    patience: Patience
    hasty: bool = False
    _tag: str = field(default_factory=lambda: f"amqpspec-{token_hex(3)}")
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    def of(cls, subject: Subject) -> Stage:
        """A stage with the patience that the target needs. Raises Unanswered."""
        return cls(subject, Patience.measured(subject.round_trip_s(), subject.patience))

    def begin(self, transcript: Transcript = NO_TRANSCRIPT) -> World:
        """A world; nothing has been sent yet."""
        subject = self.subject
        streams = Streams(subject.address.endpoint, transcript, Budget(monotonic_s() + PROGRAM_S, Event()))
        reply_s = min(_HASTY_REPLY_S, self.patience.reply_s) if self.hasty else self.patience.reply_s
        context = Context(
            dialect=widest(subject.dialect), requirements=(), dial=streams.dial, login=_login(subject),
            patience=Patience(reply_s, self.patience.quiet_s, self.patience.ending_s),
            tag=f"{self._tag}-{next(self._numbers)}",
        )  # fmt: skip
        return _Hosted(sequences_part(subject.dialect).world(context), streams)

    def transcript(self, path: Path) -> Transcript:
        """A transcript of a program."""
        family, dialect, password = (
            driver_of(self.subject.dialect),
            widest(self.subject.dialect),
            self.subject.values.password,
        )
        return Transcript(
            path, lambda way: family.direction(dialect, way), (password,) if password != "guest" else ()
        )


def _login(subject: Subject) -> Login:
    values = subject.values
    return Login(values.user, values.password, values.vhost, values.mechanism)
