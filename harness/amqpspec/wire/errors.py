"""What a codec says of octets that it cannot read, and of values that it cannot write.

Knows: offsets and hex windows. Must not know: frames, methods, sockets.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

_BEFORE_OCTETS, _AFTER_OCTETS = 8, 16
_SHOWN = 60


class Kind(StrEnum):
    """What is wrong, if someone acts on it; a sentence is for people only.

    ``TRAILING``: octets after the last field; ``TAG``: a type tag that the tables do not have; ``BODY``: a value that
    is none of the composites that can stand there; ``BOUND``: legal, but more than the reader keeps; ``MANDATORY``: a
    field that has to be there is not; ``COUNT``: more fields than there are; ``SYMBOL_KEY``: a key that is no symbol,
    where all keys are symbols; ``TEXT``: octets that are no UTF-8; ``UNKNOWN``: a method that the tables do not have;
    ``FRAMING``: a frame without its end octet, or of a type that the tables do not have; ``CHANNEL``: a frame of a
    content on the channel of the connection.
    """

    OTHER = "other"
    TRAILING = "trailing"
    TAG = "tag"
    BODY = "body"
    BOUND = "bound"
    MANDATORY = "mandatory"
    COUNT = "count"
    SYMBOL_KEY = "symbol-key"
    TEXT = "text"
    UNKNOWN = "unknown"
    FRAMING = "framing"
    CHANNEL = "channel"


class WireError(ValueError):
    """Octets that break the dialect's grammar.

    ``offset`` counts from the start of the stream, payload or block that was read.
    """

    def __init__(
        self, where: str, offset: int, expected: str, actual: str, window: str = "", kind: Kind = Kind.OTHER
    ) -> None:
        self.where, self.offset, self.expected = where, offset, expected
        self.actual, self.window, self.kind = actual, window, kind
        near = f" [{window}]" if window else ""
        super().__init__(f"{where} at octet {offset}: {actual}, expected {expected}{near}")

    def moved(self, where: str, by_octets: int) -> WireError:
        """The same error seen from an enclosing stream: offset shifted, place renamed."""
        return WireError(where, self.offset + by_octets, self.expected, self.actual, self.window, self.kind)


class EncodeError(ValueError):
    """A value that its wire type cannot carry; ``Raw`` octets can replace any value."""

    def __init__(self, where: str, expected: str, actual: str) -> None:
        self.where, self.expected, self.actual = where, expected, actual
        super().__init__(f"{where}: {actual}, expected {expected}")


def hex_window(octets: bytes | bytearray | memoryview, offset: int) -> str:
    """A few octets around an offset in hex, the one at the offset in ``>…<``."""
    start = max(0, offset - _BEFORE_OCTETS)
    before = bytes(octets[start:offset]).hex(" ")
    at = bytes(octets[offset : offset + 1]).hex() or "end"
    after = bytes(octets[offset + 1 : offset + 1 + _AFTER_OCTETS]).hex(" ")
    return " ".join(part for part in (before, f">{at}<", after) if part)


def unreadable(
    what: str, octets: bytes, at: int, expected: str, actual: str, kind: Kind = Kind.OTHER
) -> WireError:
    """A WireError with its window."""
    return WireError(what, at, expected, actual, hex_window(octets, at), kind)


def too_short(what: str, octets: bytes, at: int, wanted: int, end: int) -> WireError:
    """A WireError for octets that end before what was announced or is needed."""
    return unreadable(what, octets, at, f"{wanted} octets", f"{max(0, end - at)} left")


def shown(value: Any) -> str:
    """A value in an error's text, kept short."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
