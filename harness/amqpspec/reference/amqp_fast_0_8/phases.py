"""The phases of a connection, in order.

Knows: what each phase waits for. Must not know: the fields of commands.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The phase of a connection."""

    GREETING = "two octets"
    LOGIN = "connection.response"
    TUNING = "connection.tune or connection.open"
    OPEN = "open"
    # The broker has sent CONNECTION CLOSE and waits for the other one.
    CLOSING = "closing"
    # An error before OPEN: nothing is read until the pause is over and the socket ends.
    PAUSE = "pause"
    MUTE = "mute"
    ENDED = "ended"


BEFORE_OPEN = frozenset((Phase.GREETING, Phase.LOGIN, Phase.TUNING))
