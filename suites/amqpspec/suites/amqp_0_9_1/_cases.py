"""How cases are declared that begin with the same steps: on an open channel, with a queue, with small frames.

Knows: prerequisites. Must not know: single cases, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.run.case import Body, case_after
from amqpspec.run.verdict import Verdict

WithQueue = Callable[[Any, str], Verdict]
"""A case's function that gets a peer and the name of a queue."""


def on_channel(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Declare, like ``case``, a case that begins with channel 1 open."""
    return case_after(lambda peer: (peer.open_channel(),), id, covers, **terms)


def on_small_frames(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Like ``on_channel``, with the smallest frame-max that the target accepts."""
    return case_after(lambda peer: (peer.open_small(),), id, covers, **terms)


def on_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``on_channel``, with a new queue that is exclusive to the connection."""
    return case_after(lambda peer: (peer.open_channel(), peer.queue()), id, covers, **terms)


def on_shared_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[WithQueue], Body]:
    """Like ``on_channel``, with a new queue that every connection may use, and that outlives this one."""
    return case_after(lambda peer: (peer.open_channel(), peer.queue(exclusive=False)), id, covers, **terms)
