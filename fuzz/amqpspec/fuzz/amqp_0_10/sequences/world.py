"""The world of programs of AMQP 0-10: every verb, and what it is made of.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.amqp_0_10.sequences import messages, races, sessions
from amqpspec.fuzz.amqp_0_10.sequences.desk import Desk
from amqpspec.fuzz.sequences.step import Step, Violation
from amqpspec.peer.context import Context
from amqpspec.wire.transport import StreamEnded

_TABLE = {**sessions.VERBS, **messages.VERBS, **races.VERBS}
VERBS = tuple(name for name, verb in _TABLE.items() for _ in range(verb.often))
"""All verbs, the simplest first; those that end connections are rarer than others."""


class AssemblyWorld:
    """See ``amqpspec.fuzz.sequences.part.World``."""

    def __init__(self, context: Context) -> None:
        self._desk = Desk(context)

    def options(self, verb: str) -> Sequence[Step]:
        """The steps of a verb that can come next."""
        return [Step(verb, args) for args in _TABLE[verb].options(self._desk)] if verb in _TABLE else []

    def take(self, step: Step) -> None:
        """Take a step, and count what queues hold; raises Violation."""
        try:
            _TABLE[step.verb].act(self._desk, *step.args)
            for stock in self._desk.books.stocks.values():
                self._desk.count(stock)
        except StreamEnded as ended:
            raise Violation("connection refused", "a connection", str(ended)) from ended

    def finish(self) -> None:
        """End all connections, and look into the queues; raises Violation."""
        self._desk.finish()

    def give_up(self) -> None:
        """Leave, and delete what was made."""
        self._desk.give_up()
