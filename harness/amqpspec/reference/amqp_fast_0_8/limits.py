"""What the broker takes, as its TUNE announces it.

Knows: numbers. Must not know: who keeps to them.

FRAME_MAX lies beyond what two octets of size can say, so that clients can be held to the escape.
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
