"""Reading recorded octets from start to end, and when what was read counts.

Knows: trees. Must not know: any dialect.

What cannot be read, and what would not be rendered to the same octets, is left to the caller as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from amqpspec.fuzz.trees.tree import Node, group, octets_of
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import Placed, Reader
from amqpspec.wire.greeting import ProtocolHeader

MAX_DEPTH = 32
Parts = TypeVar("Parts", bound=tuple[Node, ...])
Frame = TypeVar("Frame", bound=Placed)


def cut(reader: Reader[Frame], octets: bytes) -> Iterator[tuple[Frame | ProtocolHeader, int, int]]:
    """Frames with the octets where each begins and ends, up to the first that is not complete or cannot be cut."""
    reader.feed(octets)
    begin = reader.offset
    try:
        while (item := reader.next()) is not None:
            yield item, begin, reader.offset
            begin = reader.offset
    except WireError:
        return


class Unreadable(Exception):
    """Octets that the tables do not explain."""


class Cursor:
    """Octets from front to back."""

    def __init__(self, octets: bytes, at: int = 0) -> None:
        self.octets, self.at = octets, at

    def take(self, count: int) -> bytes:
        """The next octets; raises Unreadable if there are fewer."""
        taken = self.octets[self.at : self.at + count]
        if len(taken) != count:
            raise Unreadable
        self.at += count
        return taken

    def number(self, width_octets: int) -> int:
        """The next octets as a number."""
        return int.from_bytes(self.take(width_octets), "big")

    @property
    def left(self) -> int:
        """How many octets there still are."""
        return len(self.octets) - self.at


def at_end(cursor: Cursor) -> None:
    """Nothing may be left; raises Unreadable."""
    if cursor.left:
        raise Unreadable


def sure(read: Callable[[], Parts], octets: bytes) -> Parts | None:
    """The tree, if it renders to the same octets."""
    try:
        parts = read()
    except (Unreadable, KeyError, RecursionError):
        return None
    return parts if octets_of(group("whole", *parts)) == octets else None
