"""The limits that the broker announces.

Knows: numbers. Must not know: how they are enforced.
"""

MAX_FRAME_OCTETS = 65536
CHANNEL_MAX = 511
HANDLE_MAX = 255
WINDOW_FRAMES = 512
CREDIT_MESSAGES = 100
WIDEN_AFTER_S = 0.01
"""The delay before the broker widens a window or renews credit, so that a burst beyond either is detected."""
