"""The phases of a connection, in order.

Knows: which control each phase of the handshake waits for. Must not know: what the control brings.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The phase of a connection; from START to OPENING, the value is the only legal control."""

    HEADER = "protocol header"
    START = "connection.start-ok"
    SECURE = "connection.secure-ok"
    TUNE = "connection.tune-ok"
    OPENING = "connection.open"
    OPEN = "open"
    # The broker has sent close: only close and close-ok are read.
    CLOSING = "closing"
    MUTE = "mute"
    ENDED = "ended"


BEFORE_OPEN = frozenset((Phase.START, Phase.SECURE, Phase.TUNE, Phase.OPENING))
