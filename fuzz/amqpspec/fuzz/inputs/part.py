"""What the inputs ask a driver: recorded octets as parts of a tree, and in words.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.trees.tree import Node, Role, leaf


class InputsPart(Part, Protocol):
    """How octets of a dialect are read."""

    def frames_of(self, octets: bytes) -> Iterable[Node]:
        """Octets as frames whose sizes follow their payloads; rendered, they are the same octets."""
        return (leaf("rest", Role.OPAQUE, octets),)

    def words_of(self, octets: bytes) -> FrameWords:
        """A reader of frames in words, already fed."""
        return NoWords(octets)


class FrameWords(Protocol):
    """Frames of octets in words."""

    def next(self) -> str | None:
        """The next frame; None where there is no whole one any more. Raises WireError."""
        ...

    @property
    def pending_octets(self) -> int:
        """How many octets are left of a frame that is not complete."""
        ...


class NoWords:
    """Octets of which nothing is said."""

    def __init__(self, octets: bytes) -> None:
        self.pending_octets = len(octets)

    def next(self) -> str | None:
        """No frame."""
        return None


def inputs_part(dialect_id: str) -> InputsPart:
    """What a dialect's driver says about octets."""
    return cast(InputsPart, loaded_driver(dialect_id))
