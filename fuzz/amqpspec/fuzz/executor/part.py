"""What the executor asks a driver: how answers are read, which channel they come on, how a connection is kept alive.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from typing import Protocol, cast

from amqpspec.fuzz.executor.heard import Decode
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import Values


class ExecutorPart(Part, Protocol):
    """What a dialect's target says.

    ``sentinel_state`` is how far a sentinel goes. ``announced_in`` is the state whose way ends with what tells
    product and version; ``attached_by``, the answer by which a target takes the address of a way (empty where no
    address has to exist). Where ``answers_where_asked``, an answer comes on the channel on which was asked; else a
    target chooses its own channels. With ``has_separate_queues``, each connection declares a queue of its own.
    ``sign_of_life`` is sent if a target announces how long it tolerates silence.
    """

    sentinel_state: str
    announced_in: str = ""
    attached_by: str = ""
    answers_where_asked: bool = False
    has_separate_queues: bool = False
    sign_of_life: bytes = b""

    def decoder(self) -> Decode:
        """Return a decoder for one connection; a WireError that it raises ends the reading."""
        ...

    def queue_of(self, number: int, values: Values) -> str:
        """The queue that connection ``number`` declares or attaches to."""
        return f"amqpspec.fuzz.{number}" if self.has_separate_queues else values.queue

    def counted(self, octets: bytes, values: Values) -> bytes:
        """An input with the numbers from which the target counts."""
        return octets

    def settled_silence_s(self, octets: bytes) -> float:
        """How long the target tolerates silence after an input that sets it; 0 if the input sets nothing."""
        return 0.0


def executor_part(dialect_id: str) -> ExecutorPart:
    """What a dialect's driver says about the other end of a connection."""
    return cast(ExecutorPart, loaded_driver(dialect_id))
