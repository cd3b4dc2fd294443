"""Messages on a pipe between parent and worker: a length, then a pickle. Both ends are ours.

Knows: framing. Must not know: processes, the data.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from typing import Any

_LENGTH = struct.Struct("!Q")


def framed(message: object) -> bytes:
    """Encode a message."""
    octets = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(octets)) + octets


class Frames:
    """Collects octets and returns whole messages; the unfinished message of a dead process stays inside."""

    def __init__(self) -> None:
        self._held = bytearray()

    def take(self, octets: bytes) -> Iterator[Any]:
        """Return the messages that are complete now."""
        self._held += octets
        at = 0
        while len(self._held) >= at + _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._held, at)
            if len(self._held) < at + _LENGTH.size + length:
                break
            begin = at + _LENGTH.size
            at = begin + length
            yield pickle.loads(bytes(self._held[begin:at]))
        del self._held[:at]
