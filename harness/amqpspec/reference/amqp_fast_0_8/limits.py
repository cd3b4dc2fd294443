"""The limits in the broker's TUNE.

Knows: numbers. Must not know: how they are enforced.

FRAME_MAX does not fit into two octets of size, so that clients have to support the escape.
"""

from __future__ import annotations

FRAME_MAX_OCTETS = 128 << 10
CHANNEL_MAX = 40
HANDLE_MAX = 80
TXN_LIMIT = 50
MESSAGE_MAX_OCTETS = 16 << 20
INDEX_MAX = 20
"""How many message numbers one INDEX lists at most."""
PAUSE_S = 1.1
"""How long an error of the negotiation waits for its end: seconds in the specification, much shorter here."""
CLOSE_S = 3.0
"""How long the broker waits for the other CONNECTION CLOSE."""
