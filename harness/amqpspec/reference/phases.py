"""The phases of a connection of the 0-9 family and of 0-10, in order.

Knows: which method or control each phase of the handshake waits for. Must not know: their arguments.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where a connection stands; from START to OPENING, the value is the one method that may come (0-9-1 §2.2.4)."""

    HEADER = "protocol header"
    START = "connection.start-ok"
    # A mechanism may take as many rounds as it needs: from here the way leads back here, or on to TUNE.
    SECURE = "connection.secure-ok"
    # Tune-ok has no reply: open follows at once, and frames obey the agreed limits from here (§2.3.3).
    TUNE = "connection.tune-ok"
    OPENING = "connection.open"
    OPEN = "open"
    # The broker has sent close. Whatever comes is discarded, except for close-ok, and for a close that crossed ours:
    # both have to be answered or neither side would ever end (§2.3.7).
    CLOSING = "closing"
    MUTE = "mute"
    ENDED = "ended"


BEFORE_OPEN = frozenset((Phase.START, Phase.SECURE, Phase.TUNE, Phase.OPENING))
HANDSHAKE = frozenset(phase.value for phase in BEFORE_OPEN)
