"""What interop asks a driver: how recorded streams are cut, and what a boofuzz session has to know of frames.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.parts import Part, loaded_driver

MAX_OCTETS = 1 << 20
"""Of a stream, and of a frame in it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A frame that is no handshake: its channel; whether it continues what was before; whether it stays inside."""

    channel: int
    octets: bytes
    continues: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class BoofuzzFacts:
    """What a boofuzz session has to know of frames.

    ``frame``: octets before the payload, place of the size, what the size leaves out. ``named_by``: where those octets
    stand, from and to, by which ``names`` knows what a server says. ``own_queue``: each case has a separate queue.
    A size has ``size_octets``.
    """

    frame: tuple[int, int, int]
    named_by: tuple[tuple[int, int], ...]
    names: Mapping[bytes, str]
    own_queue: bool
    size_octets: int = 4


class InteropPart(Part, Protocol):
    """A dialect for other tools.

    ``cut_states`` are the state behind a handshake, and the one with one channel open; without them no stream is cut.
    """

    cut_states: tuple[str, str] | None = None

    def headers(self) -> frozenset[bytes]:
        """The first octets by which a stream is known to be of this dialect."""
        return frozenset((tables(self.dialect_id).protocol_header,))

    def pieces(self, octets: bytes) -> Iterable[Piece]:
        """The frames of a client's stream that belong to no handshake."""
        return ()

    def on_channel(self, octets: bytes, channel: int) -> bytes:
        """A frame on another channel."""
        return octets

    def boofuzz(self) -> BoofuzzFacts | None:
        """What a boofuzz session has to know; None if there is none for this dialect."""
        return None


def interop_part(dialect_id: str) -> InteropPart:
    """What a dialect's driver says about other tools."""
    return cast(InteropPart, loaded_driver(dialect_id))


def put_channel(header: Iterable[tuple[str, int]], octets: bytes, channel: int) -> bytes:
    """A frame with another channel in its header, whose fields are given by name and width."""
    at = 0
    for name, width in header:
        if name == "channel":
            return octets[:at] + channel.to_bytes(width, "big") + octets[at + width :]
        at += width
    return octets
