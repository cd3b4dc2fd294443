"""One direction of a connection of AMQP/Fast as evidence shows it.

Knows: commands and fragments, what is secret in them. Must not know: files, times, which case is running.

A RESPONSE with wrong sizes may end in the middle of its secret. After an incorrect one, only readable commands are
shown; from the first unreadable octets on, everything is hidden.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.amqp_fast_0_8.describe import describe_frame, redacted
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.amqp_fast_0_8.message import Openings
from amqpspec.wire.amqp_fast_0_8.secrets import RESPONSE, is_sound, secret_spans
from amqpspec.wire.direction import MAX_FRAME_OCTETS, FrameDecoder, reader_name
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MASK, said


class CommandDirection(FrameDecoder[CommandFrame]):
    """A direction, ``out`` or ``in``; only what goes ``out`` begins with a greeting."""

    def __init__(self, direction: str) -> None:
        self._commands = CommandReader(
            greets=direction == "out", max_size=MAX_FRAME_OCTETS, name=reader_name(direction)
        )
        super().__init__(self._commands)
        self._openings = Openings()
        self._doubtful = False

    def _describe(self, item: CommandFrame | ProtocolHeader) -> dict[str, Any]:
        if isinstance(item, ProtocolHeader):
            return describe_frame(item)
        if self._hides(item):
            return {"type": "unknown", "text": f"unreadable frame, {len(item.fields)} octets"}
        return describe_frame(item, self._openings.opens(item))

    def _follow(self, item: CommandFrame | ProtocolHeader) -> None:
        if isinstance(item, CommandFrame):
            self._hiding = self._hiding or self._hides(item)
            self._doubtful = item.name == RESPONSE and not (item.error is None and is_sound(item.args))
            self._openings.follow(item)

    def _hides(self, item: CommandFrame) -> bool:
        """Whether an item may be the rest of a secret."""
        return self._hiding or (self._doubtful and item.error is not None)

    def _lost(self, error: WireError) -> str:
        self._hiding = self._hiding or self._doubtful
        secret = self._hiding or secret_spans(self._commands.lost)
        return said(error, "framing lost" if secret else None)

    def _starred(self, octets: bytes) -> bytes:
        if self._hiding or (self._doubtful and not _is_readable(octets)):
            return MASK * len(octets)
        return redacted(octets)


def _is_readable(octets: bytes) -> bool:
    """Whether octets are a command, whole and as it should be."""
    reader = CommandReader(max_size=len(octets))
    reader.feed(octets)
    try:
        item = reader.next()
    except WireError:
        return False
    return isinstance(item, CommandFrame) and item.error is None
