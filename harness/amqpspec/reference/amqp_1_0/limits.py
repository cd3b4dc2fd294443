"""What the broker takes, as it announces it.

Knows: numbers. Must not know: who keeps to them.
"""

MAX_FRAME_OCTETS = 65536
CHANNEL_MAX = 511
HANDLE_MAX = 255
WINDOW_FRAMES = 512
CREDIT_MESSAGES = 100
WIDEN_AFTER_S = 0.01
"""How long the broker takes to widen a window or to renew credit: a burst beyond either is seen as what it is."""
