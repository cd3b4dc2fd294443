"""A world over a table of verbs: what a dialect says of its programs is a desk and such a table.

Knows: verbs, steps. Must not know: any dialect, what a verb does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.sequences.step import Arg, Load, Step, Violation
from amqpspec.peer.context import Context
from amqpspec.wire.transport import StreamEnded

Args = tuple[Arg, ...]


class Tended(Protocol):
    """Where a program meets the target, as far as a world needs it."""

    def settle(self) -> None:
        """Wait for the deliveries that are due after a step; raises Violation."""
        ...

    def look(self) -> None:
        """Check the invariants after a step; raises Violation."""
        ...

    def finish(self) -> None:
        """End all connections and compare what is left with the books; raises Violation."""
        ...

    def give_up(self) -> None:
        """Leave, and delete what was made, as far as the target allows it."""
        ...


D = TypeVar("D", bound=Tended)


@dataclass(frozen=True, slots=True)
class Verb(Generic[D]):
    """``options`` gives arguments, the simplest first; ``act`` is called with a desk and one of them.

    ``often``: how many times as likely it is as a verb with 1.
    """

    options: Callable[[D], Iterable[Args]]
    act: Callable[..., None]
    often: int = 1


Table = Mapping[str, Verb[D]]


def verbs_of(table: Table[D]) -> tuple[str, ...]:
    """All verbs, in the order of the table: the simplest first."""
    return tuple(name for name, verb in table.items() for _ in range(verb.often))


class TableWorld(Generic[D]):
    """See ``amqpspec.fuzz.sequences.part.World``."""

    def __init__(self, table: Table[D], desk: D) -> None:
        self._table, self._desk = table, desk

    def options(self, verb: str) -> Sequence[Step]:
        """The steps of a verb that can come next."""
        if verb not in self._table:
            return []
        return [Step(verb, args) for args in self._table[verb].options(self._desk)]

    def take(self, step: Step) -> None:
        """Carry out a step, wait for what is due, and check the invariants; raises Violation."""
        try:
            self._table[step.verb].act(self._desk, *step.args)
            self._desk.settle()
            self._desk.look()
        except StreamEnded as ended:
            raise Violation("connection refused", "a connection", str(ended)) from ended

    def finish(self) -> None:
        """End all connections, and check the remaining messages; raises Violation."""
        self._desk.finish()

    def give_up(self) -> None:
        """Leave."""
        self._desk.give_up()


def programs_of(table: Table[D], desk: Callable[[Context], D], loads: Mapping[str, Load]) -> Programs:
    """The programs of a dialect, which are made of its verbs, its desk and its loads."""
    return Programs(verbs_of(table), lambda context: TableWorld(table, desk(context)), loads)
