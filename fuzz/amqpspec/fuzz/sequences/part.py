"""What sequences ask a driver: a world in which programs run.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast, runtime_checkable

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.sequences.step import Load, Step
from amqpspec.peer.context import Context
from amqpspec.wire.transport import Transport


class World(Protocol):
    """One target as one program meets it, with the model of what it holds."""

    def options(self, verb: str) -> Sequence[Step]:
        """The steps of a verb that can come next, the simplest first."""
        ...

    def take(self, step: Step) -> None:
        """Take a step, and wait for all that is due then; raises Violation."""
        ...

    def finish(self) -> None:
        """End all connections and compare what is left with the model; raises Violation."""
        ...

    def give_up(self) -> None:
        """Leave, and delete what the program made, as far as the target allows it."""
        ...


@runtime_checkable
class _Resettable(Protocol):
    def reset(self) -> None:
        """End it."""


def end_by_reset(transport: Transport) -> None:
    """End a stream with a reset if possible, otherwise close it."""
    if isinstance(transport, _Resettable):
        transport.reset()
    transport.close()


@dataclass(frozen=True, slots=True)
class Programs:
    """What a dialect's programs are made of.

    ``verbs`` are their words, the simplest first; those that stand several times are chosen more often. ``loads`` take
    much and give it back, by name.
    """

    verbs: tuple[str, ...] = ()
    world: Callable[[Context], World] | None = None
    loads: Mapping[str, Load] = field(default_factory=dict)


NO_PROGRAMS = Programs()


class SequencesPart(Part, Protocol):
    """A driver that has programs says which."""

    @property
    def programs(self) -> Programs:
        """None, unless the driver says otherwise."""
        return NO_PROGRAMS

    @property
    def verbs(self) -> tuple[str, ...]:
        """None: there are no programs."""
        return self.programs.verbs

    def world(self, context: Context) -> World:
        """A world on a target; only called if there are verbs."""
        if self.programs.world is None:
            raise NotImplementedError
        return self.programs.world(context)

    @property
    def loads(self) -> Mapping[str, Load]:
        """What takes much and gives it back, by name."""
        return self.programs.loads


def sequences_part(dialect_id: str) -> SequencesPart:
    """What a dialect's driver says about sequences."""
    return cast(SequencesPart, loaded_driver(dialect_id))


Begin = Callable[[], World]
