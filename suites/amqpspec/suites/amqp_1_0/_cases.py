"""How cases are declared that begin with the same step: on an open connection, or in a session.

Knows: prerequisites. Must not know: single cases, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.run.case import Body, case_after


def on_connection(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Declare, like ``case``, a case that begins on an open connection."""
    return case_after(_connected, id, covers, **terms)


def in_session(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``on_connection``, with a session on channel 0."""
    return case_after(_begun, id, covers, **terms)


def _connected(peer: Peer) -> tuple[Peer]:
    peer.open_connection()
    return (peer,)


def _begun(peer: Peer) -> tuple[Peer]:
    peer.begin()
    return (peer,)
