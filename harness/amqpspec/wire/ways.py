"""The two directions of a connection as one conversation: from octets to messages, until framing is lost.

Knows: readers of frames, the cutting of what a server writes. Must not know: any dialect, who is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple

from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation, Said, Talk
from amqpspec.wire.direction import reader_name
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import F, Reader
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import said as in_words

MAX_FRAME_OCTETS = 128 << 20
GARBLED = "garbled"
"""The name of what could not be decoded."""


class Content(NamedTuple):
    """What a dialect makes of a frame or a protocol header; the fields are those of ``Said``."""

    channel: int
    name: str
    what: Any
    describe: Callable[[], str]


Read = Callable[[F | ProtocolHeader], Content]
"""Never raises: a frame that cannot be decoded is named ``GARBLED``, the error being its content."""


def read_conversation(talk: Talk, reader: Callable[[str], Reader[F]], read: Read[F]) -> Conversation:
    """The frames of both directions, in the order of their last octets; ``reader`` takes the name of a direction."""
    ways = {
        Side.CLIENT: _Way(Side.CLIENT, reader(reader_name("out")), read),
        Side.SERVER: _Way(Side.SERVER, reader(reader_name("in")), read),
    }
    said = [s for chunk in talk.chunks for s in ways[chunk.sender].take(chunk.octets, chunk.at_ns)]
    return Conversation(talk, said)


class FrameCutter(Generic[F]):
    """Cuts what a server writes into frames; see ``amqpspec.wire.conversation.Cutter``.

    ``unit`` gives the name and the octets of what a frame or a protocol header completes, None if it completes
    nothing. Our own broker writes nothing that cannot be cut.
    """

    def __init__(
        self, reader: Reader[F], unit: Callable[[F | ProtocolHeader], tuple[str, bytes] | None]
    ) -> None:
        self._reader, self._unit = reader, unit

    def cut(self, octets: bytes) -> list[tuple[str, bytes]]:
        """The frames that became whole."""
        self._reader.feed(octets)
        found: list[tuple[str, bytes]] = []
        while (item := self._reader.next()) is not None:
            unit = self._unit(item)
            found += [] if unit is None else [unit]
        return found


class _Way(Generic[F]):
    """One direction."""

    def __init__(self, sender: Side, reader: Reader[F], read: Read[F]) -> None:
        self._sender, self._reader, self._read = sender, reader, read

    def take(self, octets: bytes, at_ns: int) -> list[Said]:
        """The frames that became whole."""
        found: list[Said] = []
        if self._reader.is_broken:
            return found
        self._reader.feed(octets)
        try:
            while (item := self._reader.next()) is not None:
                size = self._reader.offset - item.offset
                found.append(Said(self._sender, at_ns, item.offset, size, *self._read(item)))
        except WireError as error:
            found.append(self._lost(error, at_ns))
        return found

    def _lost(self, error: WireError, at_ns: int) -> Said:
        text = f"not decodable: {in_words(error)}"
        return Said(self._sender, at_ns, self._reader.offset, 0, 0, GARBLED, error, lambda: text)
