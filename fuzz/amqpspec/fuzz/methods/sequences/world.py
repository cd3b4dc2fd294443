"""The world of programs of the 0-9 family: every verb, and what it is made of.

Knows: which verbs there are. Must not know: how any of them works.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.methods.sequences import entities, messages, races
from amqpspec.fuzz.methods.sequences.desk import Desk
from amqpspec.fuzz.sequences.step import Step, Violation
from amqpspec.peer.context import Context
from amqpspec.wire.transport import StreamEnded

_TABLE = {**entities.VERBS, **messages.VERBS, **races.VERBS}
_OFTEN = {
    "open": 2,
    "declare": 2,
    "publish": 8,
    "get": 6,
    "consume": 3,
    "ack": 4,
    "nack": 3,
    "tx": 3,
    "commit": 3,
    "rollback": 3,
    "purge": 2,
}
VERBS = tuple(verb for verb in _TABLE for _ in range(_OFTEN.get(verb, 1)))
"""All verbs, the simplest first; those that end connections are rarer than others."""


class MethodsWorld:
    """See ``amqpspec.fuzz.sequences.part.World``."""

    def __init__(self, context: Context) -> None:
        self._desk = Desk(context)

    def options(self, verb: str) -> Sequence[Step]:
        """The steps of a verb that can come next."""
        return [Step(verb, args) for args in _TABLE[verb].options(self._desk)] if verb in _TABLE else []

    def take(self, step: Step) -> None:
        """Take a step; raises Violation."""
        try:
            _TABLE[step.verb].act(self._desk, *step.args)
        except StreamEnded as ended:
            raise Violation("connection refused", "a connection", str(ended)) from ended

    def finish(self) -> None:
        """End all connections, and look into the queues; raises Violation."""
        self._desk.finish()

    def give_up(self) -> None:
        """Leave."""
        self._desk.give_up()
