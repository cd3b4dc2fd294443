"""How cases are declared that begin with the same steps: in a session, with a queue, with dtx selected.

Knows: prerequisites. Must not know: single cases, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import Body, case_after
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import selected

WithQueue = Callable[[Any, str], Verdict]
"""A case's function that gets a peer and the name of a queue."""


def in_session(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Declare, like ``case``, a case that begins with a session on channel 0."""
    return case_after(lambda peer: (_with_sessions(peer, 0),), id, covers, **terms)


def in_two_sessions(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``in_session``, with another session on channel 1."""
    return case_after(lambda peer: (_with_sessions(peer, 0, 1),), id, covers, **terms)


def on_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``in_session``, with a new queue that is exclusive to the session."""
    return case_after(lambda peer: (_with_sessions(peer, 0), peer.queue()), id, covers, **terms)


def on_shared_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``in_session``, with a new queue that every session may use."""
    return case_after(
        lambda peer: (_with_sessions(peer, 0), peer.queue(exclusive=False)), id, covers, **terms
    )


def in_dtx(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``in_session``, with dtx selected."""
    return case_after(lambda peer: (_with_dtx(peer, 0),), id, covers, **terms)


def in_two_dtx(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``in_two_sessions``, with dtx selected in both."""
    return case_after(lambda peer: (_with_dtx(peer, 0, 1),), id, covers, **terms)


def _with_sessions(peer: Peer, *channels: int) -> Peer:
    for channel in channels:
        peer.open_session(channel)
    return peer


def _with_dtx(peer: Peer, *channels: int) -> Peer:
    selected(peer, *channels)
    return peer
