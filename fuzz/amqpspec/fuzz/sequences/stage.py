"""Where programs run: a target that is reached over sockets, with a transcript if one is needed.

Knows: subjects, recorded streams. Must not know: hypothesis, models, what a violation leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from secrets import token_hex
from threading import Event

from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.sequences.loads import repeated, steps_of
from amqpspec.fuzz.sequences.part import World, sequences_part
from amqpspec.fuzz.sequences.step import LOAD, Load, Step
from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Context, Login, Nodes, Patience, Unmet
from amqpspec.record.transcript import Transcript
from amqpspec.run.driver import driver_of, maker_of
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Stopped, Streams
from amqpspec.spec.dialects import widest
from amqpspec.wire.transport import StreamEnded

PROGRAM_S = 120.0
"""How long one program may take at most, in seconds."""
_LOAD_S, _LOAD_REPLY_S = 300.0, 60.0
"""The same for a load, and how long an answer may take: it may have to wait for thousands of commands before it."""
_HASTY_REPLY_S = 1.5
_OF_CLEANING = (Unmet, StreamEnded, BudgetSpent, Stopped)


Run = Callable[[int], None]
"""Runs a load enough times that it can be judged; raises Violation."""


class _Hosted:
    """A world whose streams are closed, whose nodes are deleted and whose transcript ends with it.

    Loads are steps here: they need the target's process, which no world knows.
    """

    def __init__(
        self, world: World, streams: Streams, clean: Callable[[], None], loads: Mapping[str, Run]
    ) -> None:
        self._world, self._streams, self._clean, self._loads = world, streams, clean, loads
        self.finish = world.finish

    def options(self, verb: str) -> Sequence[Step]:
        """The steps of a verb that can come next."""
        return steps_of(self._loads) if verb == LOAD else self._world.options(verb)

    def take(self, step: Step) -> None:
        """Take a step, or run a load; raises Violation."""
        if step.verb == LOAD:
            self._loads[str(step.args[0])](int(step.args[1]))
        else:
            self._world.take(step)

    def give_up(self) -> None:
        """Leave, whatever the time says."""
        self._streams.budget.until_s = max(self._streams.budget.until_s, monotonic_s() + _HASTY_REPLY_S)
        with suppress(*_OF_CLEANING):
            self._world.give_up()
        self._streams.hang_up()
        self._streams.transcript.close()
        self._clean()


@dataclass(slots=True)
class Stage:
    """A target; ``hasty`` worlds wait less for answers that are owed: while a program is shrunk.

    ``nodes`` says how queues are made where the protocol cannot declare them. No program runs beyond ``until_s``;
    ``unjudged`` names the loads that took too long.
    """

    subject: Subject
    patience: Patience
    nodes: Nodes = field(default_factory=Nodes)
    hasty: bool = False
    until_s: float = inf
    unjudged: list[str] = field(default_factory=list)
    _tag: str = field(default_factory=lambda: f"amqpspec-{token_hex(3)}")
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    def of(cls, subject: Subject, nodes: Nodes | None = None, until_s: float = inf) -> Stage:
        """A stage with the patience that the target needs. Raises Unanswered, ProbeFailed, BudgetSpent."""
        patience = Patience.measured(subject.round_trip_s(), subject.patience)
        stage = cls(subject, patience, nodes or Nodes(), until_s=until_s)
        streams = stage._streams()
        try:
            told = driver_of(widest(subject.dialect)).probe(stage._context(streams)).nodes
        finally:
            streams.hang_up()
        stage.nodes = told or stage.nodes
        return stage

    def begin(self, transcript: Transcript = NO_TRANSCRIPT) -> World:
        """A world; nothing has been sent yet."""
        streams = self._streams(transcript)
        context = self._context(streams)
        part = sequences_part(self.subject.dialect)
        loads = {name: partial(self._load, name, load, context, streams) for name, load in part.loads.items()}
        return _Hosted(part.world(context), streams, lambda: self._delete(context), loads)

    def _load(self, name: str, load: Load, context: Context, streams: Streams, count: int) -> None:
        """What takes longer than a load may is not judged."""
        streams.budget.until_s = min(monotonic_s() + _LOAD_S, self.until_s)
        patience = replace(context.patience, reply_s=max(_LOAD_REPLY_S, context.patience.reply_s))
        try:
            repeated(name, partial(load, replace(context, patience=patience), count), self.subject.pid)
        except BudgetSpent:
            self.unjudged.append(name)

    @property
    def loads(self) -> list[Step]:
        """The loads that can be judged: none without a process to inspect."""
        return steps_of(sequences_part(self.subject.dialect).loads) if self.subject.pid() is not None else []

    def transcript(self, path: Path) -> Transcript:
        """A transcript of a program."""
        password, dialect = self.subject.values.password, widest(self.subject.dialect)
        secrets = (password,) if password != "guest" else ()
        return Transcript(path, partial(driver_of(dialect).direction, dialect), secrets)

    def make_node(self, address: str) -> None:
        """Create a node that no link creates; raises Unmet, StreamEnded."""
        streams = self._streams()
        try:
            context = self._context(streams)
            self._make(context, context.login.vhost, address)
        finally:
            streams.hang_up()

    # --- inside

    def _streams(self, transcript: Transcript = NO_TRANSCRIPT) -> Streams:
        budget = Budget(min(monotonic_s() + PROGRAM_S, self.until_s), Event())
        return Streams(self.subject.address.endpoint, transcript, budget)

    def _context(self, streams: Streams) -> Context:
        reply_s = min(_HASTY_REPLY_S, self.patience.reply_s) if self.hasty else self.patience.reply_s
        values = self.subject.values
        return Context(
            dialect=widest(self.subject.dialect), requirements=(), dial=streams.dial,
            login=Login(values.user, values.password, values.vhost, values.mechanism),
            patience=Patience(reply_s, self.patience.quiet_s, self.patience.ending_s),
            tag=f"{self._tag}-{next(self._numbers)}", nodes=self.nodes, make_node=self._make,
        )  # fmt: skip

    def _make(self, context: Context, vhost: str, address: str) -> None:
        """Create a node if it is not created with a link; raises Unmet if that fails."""
        if context.nodes.are_made:
            with self._aside(context) as own:
                maker_of(context.dialect).make(own, [address])

    def _delete(self, context: Context) -> None:
        """Delete the nodes of a program that were made, as far as the target allows it."""
        made = [(kind, name) for _, kind, name in context.cleanup.entities]
        if made and context.nodes.are_made:
            with suppress(*_OF_CLEANING), self._aside(context) as own:
                driver_of(context.dialect).delete(own, made)

    @contextmanager
    def _aside(self, context: Context) -> Iterator[Context]:
        """The same world with streams that no transcript shows."""
        streams = self._streams()
        try:
            yield replace(context, dial=streams.dial)
        finally:
            streams.hang_up()
