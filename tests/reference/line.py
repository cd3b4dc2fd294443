"""A socket to a reference broker, and the frames that arrive on it.

Knows: readers of frames. Must not know: any dialect.
"""

from __future__ import annotations

import socket
from typing import Any, Self
from urllib.parse import urlsplit

from tests.waiting import PATIENCE_S


class Line:
    """One connection, read by the reader of a dialect."""

    def __init__(self, url: str, reader: Any) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self.socket = socket.create_connection((parts.hostname, parts.port), PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.socket.close()

    def octets(self, octets: bytes) -> None:
        """Send octets."""
        self.socket.sendall(octets)

    def next(self) -> object:
        """The next frame or header; None at the end of the stream."""
        while (frame := self._reader.next()) is None:
            octets = self.socket.recv(65536)
            if not octets:
                return None
            self._reader.feed(octets)
        return frame

    def ended(self) -> bool:
        """Whether the stream ends here, without another word."""
        return self.next() is None
