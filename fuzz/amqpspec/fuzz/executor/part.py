"""What the executor asks a driver: how answers are read, which channel they come on, how a connection is kept alive.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from typing import Protocol, cast

from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import Values


class ExecutorPart(Part, Protocol):
    """What a dialect's target says.

    ``sentinel_state`` is how far a sentinel goes. ``announced_in`` is the state whose way ends with what tells product
    and version; ``attached_by``, the answer by which a target takes the address of a way (empty where no address has to
    exist). Where ``answers_where_asked``, an answer comes on the channel on which was asked; else a target chooses its
    own channels. ``sign_of_life`` is said where a target announces how long it bears silence.
    """

    sentinel_state: str
    announced_in: str = ""
    attached_by: str = ""
    answers_where_asked: bool = False
    sign_of_life: bytes = b""

    def decoder(self) -> Decode:
        """A decoder for one connection; what it raises as WireError ends the reading."""
        ...

    def mechanisms_in(self, said: Heard) -> tuple[str, ...]:
        """The mechanisms that a target offers by what it has said; none where it offers none."""
        return said.mechanisms

    def announced(self, said: Heard) -> tuple[str, str]:
        """Product and version out of what ends the way into ``announced_in``. Raises WireError, KeyError."""
        return said.product, said.version

    def queue_of(self, number: int, values: Values) -> str:
        """The queue that connection number n declares or attaches to."""
        return values.queue

    def settled_silence_s(self, octets: bytes) -> float:
        """How long a target bears silence since an input settled it; zero where it settles nothing."""
        return 0.0


def executor_part(dialect_id: str) -> ExecutorPart:
    """What a dialect's driver says about the other end of a connection."""
    return cast(ExecutorPart, loaded_driver(dialect_id))
