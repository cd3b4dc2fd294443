"""What the runner asks of a dialect: a driver is a module that has these functions.

Knows: the questions. Must not know: what any dialect speaks; the registry says which driver is whose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from amqpspec.peer.context import Context, Login, Nodes
from amqpspec.peer.line import Line
from amqpspec.spec.dialects import part_of
from amqpspec.wire.direction import Direction

Entity = tuple[str, str]


class ProbeFailed(Exception):
    """The target was not reached, speaks another protocol, or refused the login: one line."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a target announced, its round trip in seconds, and the optional parts that it lacks, with the reason.

    ``note`` says what is worth knowing before the first verdict; empty where all is as ordered. ``nodes`` says how
    queues come about where the protocol cannot declare them.
    """

    product: str
    version: str
    announced: Mapping[str, Any] = field(default_factory=dict)
    round_trip_s: float = 0.0
    lacks: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    nodes: Nodes | None = None


@dataclass(frozen=True, slots=True)
class Recognised:
    """The id of the dialect in which a target is spoken to; ``why`` it is another one than was ordered."""

    dialect: str
    why: str = ""


class Driver(Protocol):
    """How a dialect is driven, probed, shown and cleaned up after."""

    def peer(self, context: Context) -> Line:
        """What a case drives."""
        ...

    def direction(self, dialect_id: str, direction: str) -> Direction:
        """A decoder of one direction (``out`` or ``in``) for evidence."""
        ...

    def recognise(self, context: Context) -> Recognised:
        """What the target speaks when it is greeted in the context's dialect; raises ProbeFailed."""
        ...

    def probe(self, context: Context) -> Identity:
        """Log in, pass a message, measure round trips, close; raises ProbeFailed."""
        ...

    def delete(self, context: Context, entities: Sequence[Entity]) -> None:
        """Delete what a case made: (kind, name) in the virtual host of the context's login. Raises Unmet."""
        ...

    def with_login(self, dialect_id: str, octets: bytes, login: Login) -> bytes:
        """Recorded octets with a starred SASL response replaced by the login's."""
        ...


class Maker(Protocol):
    """A driver that can make queues: its own, or those of a dialect that cannot declare them."""

    def make(self, context: Context, names: Sequence[str]) -> None:
        """Make queues that outlast the connection: by name, or by address where that is how they are known.

        Raises Unmet.
        """
        ...


def maker_of(dialect_id: str) -> Maker:
    """The driver of a dialect as one that makes queues."""
    return cast(Maker, part_of(dialect_id, "driver"))


def driver_of(dialect_id: str) -> Driver:
    """The driver of a dialect; raises KeyError for an unknown id."""
    return cast(Driver, part_of(dialect_id, "driver"))


def readable(value: Any) -> Any:
    """An announced value as JSON data."""
    if isinstance(value, Mapping):
        return {str(key): readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return value if isinstance(value, bool | int | float) or value is None else text(value)


def text(value: Any) -> str:
    """An announced value as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
