"""The phases of a connection, in order.

Knows: their names. Must not know: what happens in any of them.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where a connection stands, and what it waits for."""

    HEADER = "protocol header"
    SASL = "sasl frames"
    SECOND_HEADER = "protocol header after sasl"
    OPENING = "open"
    OPEN = "anything"
    CLOSING = "close"
    MUTE = "nothing"
    ENDED = "ended"


HEADERS = frozenset((Phase.HEADER, Phase.SECOND_HEADER))
DEAF = frozenset((Phase.MUTE, Phase.ENDED))
