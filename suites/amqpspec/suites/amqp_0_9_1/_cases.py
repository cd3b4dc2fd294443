"""How cases are declared that begin with the same steps: on an open channel, with a queue, with small frames.

Knows: prerequisites. Must not know: single cases, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import Body, case
from amqpspec.run.verdict import Verdict

WithQueue = Callable[[Any, str], Verdict]
"""A case's function that gets a peer and the name of a queue."""


def on_channel(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Declare, like ``case``, a case that begins with channel 1 open."""
    return _beginning(lambda peer: (peer.open_channel(),), case(id, covers, **terms))


def on_small_frames(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``on_channel``, with the smallest frame-max that the target accepts."""
    return _beginning(lambda peer: (peer.open_small(),), case(id, covers, **terms))


def on_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``on_channel``, with a new queue that is exclusive to the connection."""
    return _beginning(lambda peer: (peer.open_channel(), peer.queue()), case(id, covers, **terms))


def on_shared_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``on_channel``, with a new queue that every connection may use, and that outlives this one."""
    return _beginning(
        lambda peer: (peer.open_channel(), peer.queue(exclusive=False)), case(id, covers, **terms)
    )


def _beginning(
    begin: Callable[[Peer], tuple[Any, ...]], declare: Callable[[Body], Body]
) -> Callable[[Callable[..., Verdict]], Body]:
    def declared(body: Callable[..., Verdict]) -> Body:
        return declare(wraps(body)(lambda peer: body(*begin(peer))))

    return declared
