"""One direction of a connection as evidence shows it: octets in; the same without secrets, and frames as text, out.

Knows: readers of frames, what is hidden once framing is lost. Must not know: any dialect, files, times, cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol

from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import F, Reader
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MASK, said

MAX_FRAME_OCTETS = 512 << 10
MAX_FRAMES_A_CHUNK = 200


class Direction(Protocol):
    """Decodes one direction of one connection, as far as it can be decoded, and keeps its octets."""

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """The octets with secrets starred out, and the frames that became complete with them.

        A frame is ``{"offset", "octets", "text", …}``; the first word of its text says what kind it is.
        """
        ...


Directions = Callable[[str], Direction]


def reader_name(direction: str) -> str:
    """How errors call a direction, ``out`` to the target or ``in`` from it."""
    return "client→server" if direction == "out" else "server→client"


class FrameDecoder(Generic[F]):
    """A direction whose frames a ``Reader`` cuts; a family says how they are described and where their secrets stand.

    Octets are starred frame by frame. What is not a whole frame yet is starred as far as it is understood. Where
    framing is lost in the middle of a secret, all that follows is hidden: no one can say where the secret ends.
    """

    def __init__(self, reader: Reader[F]) -> None:
        self._reader = reader
        self._broken = self._hiding = False
        self._tail = b""

    def _describe(self, item: F | ProtocolHeader) -> dict[str, Any]:
        """A frame as text and as data."""
        raise NotImplementedError

    def _starred(self, octets: bytes) -> bytes:
        """One frame's octets, or its first ones, without secrets; the length stays."""
        raise NotImplementedError

    def _follow(self, item: F | ProtocolHeader) -> None:
        """Take notice of a frame that has been shown."""

    def _lost(self, error: WireError) -> str:
        """Why framing was lost, as text without secrets."""
        return said(error)

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """See ``Direction``."""
        if self._broken:
            return (MASK * len(octets) if self._hiding else octets), []
        known = len(self._tail)
        whole = self._tail + octets
        self._reader.feed(octets)
        shown, frames = self._frames(whole)
        return shown[known:], frames

    def _frames(self, whole: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """Octets from the start of a frame: starred, and decoded; what is not a whole frame yet is the new tail."""
        frames: list[dict[str, Any]] = []
        shown = bytearray()
        try:
            while (item := self._reader.next()) is not None:
                size = self._reader.offset - item.offset
                if len(frames) < MAX_FRAMES_A_CHUNK:
                    frames.append({"offset": item.offset, "octets": size, **self._describe(item)})
                shown += self._starred(whole[len(shown) : len(shown) + size])
                self._follow(item)
        except WireError as error:
            self._broken = True
            frames.append({"offset": self._reader.offset, "text": f"not decodable: {self._lost(error)}"})
        self._tail = whole[len(shown) :]
        tail = self._starred(self._tail)
        self._hiding = self._hiding or (self._broken and tail != self._tail)
        return bytes(shown) + tail, frames
