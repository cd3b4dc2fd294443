"""Hostile servers: when a server begins to misbehave, and what it does then.

Knows: triggers, and what can be done to the octets of a connection. Must not know: any dialect, sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum


class Act(Enum):
    """What a hostile server does besides sending octets."""

    FIN = "shuts its side"
    RESET = "resets the connection"
    SILENCE = "says nothing more"


Deed = Callable[[bytes], Iterable[bytes | Act]]
"""From the frame that triggered it to what is sent in its place; may be endless, the connection is not."""
Passing = Callable[[bytes], Callable[[bytes], bool]]
"""From the frame that triggered a deed to which of the broker's later frames are sent."""


@dataclass(frozen=True, slots=True)
class Hostility:
    """After the ``nth`` server frame named ``after`` on connection number ``connection``, the deed is done once.

    ``connection`` None means every connection. ``ends_after_s``: so long after the deed the server shuts its side.
    ``passing``: the broker does not know of the deed; what would contradict it is not sent.
    """

    after: str
    deed: Deed
    nth: int = 1
    connection: int | None = 1
    ends_after_s: float | None = None
    passing: Passing | None = None

    def is_meant(self, name: str, times: int, connection: int) -> bool:
        """Whether this frame, the ``times``-th of its name, is the trigger."""
        return (name, times) == (self.after, self.nth) and self.connection in (None, connection)
