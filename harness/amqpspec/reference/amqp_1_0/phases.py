"""The phases of a connection, in order.

Knows: their names. Must not know: what happens in any of them.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where a connection stands, and what it waits for.

    The specification has fourteen states (1.0 §2.4.6), as each side may send ahead. A broker that answers at once
    passes those in which only one side has spoken; the names here are those of what has to come next.
    """

    HEADER = "protocol header"
    SASL = "sasl frames"
    # A login is a separate layer: the protocol header is sent again after it (§5.3.2).
    SECOND_HEADER = "protocol header after sasl"
    # HDR_EXCH: headers are exchanged; frames of at most 512 octets, and open the first of them (§2.4.1).
    OPENING = "open"
    # OPENED.
    OPEN = "anything"
    # DISCARDING: the broker has closed for an error; all but the partner's close is discarded unread.
    CLOSING = "close"
    MUTE = "nothing"
    # END.
    ENDED = "ended"


HEADERS = frozenset((Phase.HEADER, Phase.SECOND_HEADER))
DEAF = frozenset((Phase.MUTE, Phase.ENDED))
