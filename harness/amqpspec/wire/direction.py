"""One direction of a connection as evidence shows it: octets in; the same without secrets, and frames in words, out.

Knows: the shape of a decoder. Must not know: any dialect, files, times, which case is running.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

MAX_FRAME_OCTETS = 512 << 10
MAX_FRAMES_A_CHUNK = 200


class Direction(Protocol):
    """Decodes one direction of one connection beside its octets, as far as it can be decoded."""

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """The octets with secrets starred out, and the frames that became complete with them.

        A frame is ``{"offset", "octets", "text", …}``; the first word of its text says what kind it is.
        """
        ...


Directions = Callable[[str], Direction]
