"""The deviations that a lenient broker tolerates, by name.

Knows: names and the callback. Must not know: any protocol; the code at the deviation asks whether to tolerate it.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.wire.conversation import Address

LOCALE_EMPTY, LOCALE_LIST, LOCALE_MISSING = "locale-empty", "locale-list", "locale-missing"
FRAME_BEYOND_LIMIT = "frame-max-plus-8"
FORGIVEN = {
    LOCALE_EMPTY: "start-ok names no locale",
    LOCALE_LIST: "start-ok returns the list of locales in place of one of them",
    LOCALE_MISSING: "start-ok of AMQP 0-10 has no locale",
    FRAME_BEYOND_LIMIT: "a frame is larger than agreed by its own header and end: the payload alone was counted",
}
Forgave = Callable[[Address, str], None]
"""Called with the client's address and the name of the deviation, each time."""
