"""What the runner asks of a dialect: a driver is a module that has these functions.

Knows: the questions. Must not know: what any dialect speaks; the registry says which driver is whose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import Context, Login, MissingHook, Nodes, OutOfReach, Unmet
from amqpspec.peer.line import Line
from amqpspec.spec.dialects import part_of
from amqpspec.wire.direction import Direction
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import F, Reader
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.transport import StreamEnded

Entity = tuple[str, str]
_BARRIERS = 5


class ProbeFailed(Exception):
    """The target was not reached, speaks another protocol, or refused the login: one line."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a target announced, its round trip in seconds, and the optional parts that it lacks, with the reason.

    ``note`` says what is worth knowing before the first verdict; empty if all is as ordered. ``nodes`` says how
    queues are created where the protocol cannot declare them.
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

    def lacking(self, context: Context) -> Mapping[str, str]:
        """Optional parts that the target proves not to have when they are used, with its answer.

        Called once for a run, in addition to what the probe finds announced. Raises ProbeFailed.
        """
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
        """Make queues that outlast the connection: by name, or by address if the dialect uses addresses.

        Raises Unmet.
        """
        ...


def maker_of(dialect_id: str) -> Maker:
    """The driver of a dialect as one that makes queues."""
    return cast(Maker, part_of(dialect_id, "driver"))


def sweeper_of(dialect_id: str) -> Callable[[Context, Sequence[Entity]], None]:
    """How a driver deletes what a killed run has left, if it has a better way than after a case."""
    driver = driver_of(dialect_id)
    return cast(Callable[[Context, Sequence[Entity]], None], getattr(driver, "sweep", driver.delete))


def driver_of(dialect_id: str) -> Driver:
    """The driver of a dialect; raises KeyError for an unknown id."""
    return cast(Driver, part_of(dialect_id, "driver"))


@dataclass(slots=True)
class Step:
    """What a probe is about to do, as words that follow "could not"."""

    now: str = "reach the target"


def _no_hint(unmet: Exception) -> str:
    return ""


@contextmanager
def probing(peer: Line, hint: Callable[[Exception], str] = _no_hint) -> Iterator[Step]:
    """The steps of a probe: what goes wrong is ProbeFailed with the step that it went wrong in; hangs up in any case.

    The end of a stream is reported in the words of the socket if it has some: a name that is not known, a certificate
    that is not trusted. ``hint`` says more of what was not met.
    """
    step = Step()
    try:
        yield step
    except StreamEnded as ended:
        raise ProbeFailed(f"could not {step.now}: {why_ended(ended)}") from ended
    except (Unmet, OutOfReach, MissingHook) as unmet:
        raise ProbeFailed(f"could not {step.now}: {unmet}{hint(unmet)}") from unmet
    finally:
        peer.hang_up()


def why_ended(ended: StreamEnded) -> str:
    """How a stream ended, in the words of the socket if it has some."""
    return str(ended.__cause__ or f"connection {ended.how}")


def round_trip_s(barrier: Callable[[], object], trips: int) -> float:
    """The mean time of a round trip, by a barrier that takes this many of them."""
    started_s = monotonic_s()
    for _ in range(_BARRIERS):
        barrier()
    return (monotonic_s() - started_s) / (trips * _BARRIERS)


def as_ordered(context: Context) -> Recognised:
    """The context's dialect: there is one only."""
    return Recognised(context.dialect)


def only_frame(reader: Reader[F], octets: bytes) -> tuple[bytes, F | None]:
    """A protocol header that was sent in one piece with a frame, and the frame if octets hold no other one."""
    greeting = reader.layout.greeting
    at = greeting.length_octets if octets.startswith(greeting.magic) else 0
    reader.feed(octets[at:])
    try:
        frame = reader.next()
    except WireError:
        frame = None
    if isinstance(frame, ProtocolHeader) or reader.pending_octets:
        return octets[:at], None
    return octets[:at], frame


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
