"""The phases of a connection, in order.

Knows: which method each phase of the handshake waits for. Must not know: what the method brings.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where a connection stands; from START to OPENING, the value is the one method that may come."""

    HEADER = "protocol header"
    START = "connection.start-ok"
    SECURE = "connection.secure-ok"
    TUNE = "connection.tune-ok"
    OPENING = "connection.open"
    OPEN = "open"
    CLOSING = "closing"
    MUTE = "mute"
    ENDED = "ended"


BEFORE_OPEN = frozenset((Phase.START, Phase.SECURE, Phase.TUNE, Phase.OPENING))
HANDSHAKE = frozenset(phase.value for phase in BEFORE_OPEN)
