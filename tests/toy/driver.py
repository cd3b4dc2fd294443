"""Echo as the runner needs it: see ``amqpspec.run.driver.Driver``.

Knows: the greeting, a question. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import Context, Login, Unmet
from amqpspec.run.driver import Entity, Identity, ProbeFailed, Recognised
from amqpspec.wire.direction import Direction
from amqpspec.wire.transport import StreamEnded
from tests.toy.peer import Peer
from tests.toy.wire import EchoDirection


def peer(context: Context) -> Peer:
    """What a case drives."""
    return Peer(context)


def direction(dialect_id: str, direction: str) -> Direction:
    """A decoder of one direction for evidence."""
    return EchoDirection(direction)


def recognise(context: Context) -> Recognised:
    """There is one version."""
    return Recognised(context.dialect)


def probe(context: Context) -> Identity:
    """Greet, ask, measure; raises ProbeFailed."""
    peer = Peer(context)
    try:
        peer.open_connection()
        started_s = monotonic_s()
        peer.ask(b"alive")
        return Identity("echo", "1", {"product": "echo"}, monotonic_s() - started_s)
    except (StreamEnded, Unmet) as failed:
        raise ProbeFailed(f"could not be greeted: {failed}") from failed
    finally:
        peer.hang_up()


def lacking(context: Context) -> dict[str, str]:
    """It has no optional parts."""
    return {}


def delete(context: Context, entities: Sequence[Entity]) -> None:
    """There is nothing to delete."""


def with_login(dialect_id: str, octets: bytes, login: Login) -> bytes:
    """There is no login."""
    return octets
