"""What the inputs need from a driver: recorded octets as parts of a tree, and as text.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.trees.tree import Node, Role, leaf
from amqpspec.wire.framing import Reader


class InputsPart(Part, Protocol):
    """How octets of a dialect are read.

    ``null`` is the placeholder for an omitted value in a list, if there is one.
    """

    null: bytes = b""

    def frames_of(self, octets: bytes) -> Iterable[Node]:
        """Octets as frames whose sizes follow their payloads; rendered, they are the same octets."""
        return (leaf("rest", Role.OPAQUE, octets),)

    def words_of(self, octets: bytes) -> WordedFrames | None:
        """The decoded frames of octets; None if the dialect cannot decode them."""
        return None


@dataclass(frozen=True, slots=True)
class WordedFrames:
    """Frames as they are cut, and what ``describe`` says of one: a mapping with ``text``."""

    reader: Reader[Any]
    describe: Callable[[Any], Mapping[str, Any]]

    def next(self) -> str | None:
        """The next frame as text; None if there is no complete frame. Raises WireError."""
        item = self.reader.next()
        return None if item is None else str(self.describe(item)["text"])


def inputs_part(dialect_id: str) -> InputsPart:
    """What a dialect's driver says about octets."""
    return cast(InputsPart, loaded_driver(dialect_id))
