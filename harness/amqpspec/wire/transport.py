"""What a peer needs of the world: a stream of octets, a clock, and a way to get another stream.

Knows: the shape of a transport. Must not know: sockets, TLS, files; those stand below and are handed in.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class StreamEnd(StrEnum):
    """How the target's side of a stream ended, as measured."""

    FIN = "fin"
    RST = "rst"
    REFUSED = "refused"


class StreamEnded(Exception):
    """Nothing more will arrive; everything that had arrived was handed out before."""

    def __init__(self, how: StreamEnd) -> None:
        super().__init__(f"stream ended: {how}")
        self.how = how


class Transport(Protocol):
    """One connection to the target. Sending never raises: a dead write side is reported by ``send`` and by reading."""

    def send(self, octets: bytes) -> bool:
        """Send all octets, taking in what arrives meanwhile; False when the write side is dead or stuck."""
        ...

    def receive(self, until_s: float) -> bytes:
        """What arrived, or ``b""`` when the clock passed ``until_s``; raises StreamEnded.

        The cause of a StreamEnded says why, if that is known. Raises WireError if what carries the octets breaks
        its own rules, such as a WebSocket's, and nothing more can be read.
        """
        ...

    def half_close(self, last: bytes = b"") -> None:
        """Shut the write side: the target sees the end of the stream, and can still be read.

        ``last`` goes out together with the end, so that no time passes between them.
        """
        ...

    def close(self) -> None:
        """Close both sides; may be called again."""
        ...

    def now(self) -> float:
        """The transport's monotonic clock in seconds."""
        ...

    def note(self, text: str) -> None:
        """Leave a remark in the transcript."""
        ...
