"""The refusal in arrivals on a connection of AMQP 1.0, with its scope.

Knows: which performatives end what. Must not know: how arrivals are read or waited for.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.peer.amqp_1_0.books import SCOPES, FrameArrived
from amqpspec.peer.events import Arrival, wordless_end
from amqpspec.spec.model import Refusal, Scope

SENDER, RECEIVER = False, True
"""The roles in attach and disposition."""

_WIDTH = {Scope.CONNECTION: 0, Scope.SESSION: 1, Scope.LINK: 2, Scope.DELIVERY: 3}


def refusal_of(arrivals: Iterable[Arrival]) -> tuple[Refusal | None, FrameArrived | None]:
    """The refusal in the arrivals, and the frame with it.

    The widest scope counts; a frame precedes a header, and a header an end without a message. A close without an
    error is not a refusal: then only the frame is returned.
    """
    arrivals = tuple(arrivals)
    frames = [a for a in arrivals if isinstance(a, FrameArrived) and a.says_no]
    frames.sort(key=lambda a: (a.refusal is None, _WIDTH[SCOPES[a.name]]))
    if frames:
        return frames[0].refusal, frames[0]
    return wordless_end(arrivals), None
