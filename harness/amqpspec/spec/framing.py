"""The octets around a payload, as data: what a frame's header holds, what its size counts, how a stream begins.

Knows: the rows by which a reader and a writer cut any of the dialects. Must not know: payloads, buffers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import takewhile


class Counts(StrEnum):
    """What the size in a frame's header counts."""

    PAYLOAD = "payload"
    """What is between header and end octet."""
    REST = "rest"
    """Everything after the size itself, the end octet included."""
    FRAME = "frame"
    """The whole frame, from the first octet of its header."""


@dataclass(frozen=True)
class Greeting:
    """The octets by which a peer says what it speaks, before the first frame: how they begin, how many they are.

    ``anywhere``: it may stand wherever a frame could begin, not at the start of a stream only. ``decisive``: no frame
    begins with its first octet, so that what continues differently is a broken greeting and not a frame.
    """

    magic: bytes = b"AMQP"
    length_octets: int = 8
    anywhere: bool = False
    decisive: bool = True


class Layout:
    """A frame: header fields as ``(name, width in octets)`` in order, the payload, the end octet if there is one.

    One field is ``size``, which ``counts`` says what it counts. Where every bit of it is set and
    ``long_size_octets`` is not 0, a size of that many octets follows it. A field ``doff`` gives the beginning of the
    payload in words of ``doff_word_octets``. ``types`` are the frame types by name.

    A family makes rows (fields of a dataclass) of what its dialects differ in, and class attributes of what is the
    same in all of them: rows are part of the text from which ids of fuzz inputs are hashed (``spec.canonical``).
    """

    header: tuple[tuple[str, int], ...]
    types: Mapping[str, int]
    counts: Counts = Counts.FRAME
    end: int | None = None
    long_size_octets: int = 0
    doff_word_octets: int = 0
    greeting: Greeting = Greeting()

    @cached_property
    def header_octets(self) -> int:
        """The length of the frame header, with a size in its short form."""
        return sum(width for _, width in self.header)

    @cached_property
    def end_octets(self) -> int:
        """The length of what follows the payload: 1 or 0."""
        return 0 if self.end is None else 1

    @cached_property
    def overhead_octets(self) -> int:
        """Header and end octet together: what a frame costs beyond its payload."""
        return self.header_octets + self.end_octets

    def offset_of(self, name: str) -> int:
        """Where in the header a field begins."""
        return sum(width for _, width in takewhile(lambda field: field[0] != name, self.header))

    @cached_property
    def size_octets(self) -> int:
        """The width of the size in its short form."""
        return dict(self.header)["size"]

    @cached_property
    def uncounted_octets(self) -> int:
        """What a frame has beyond its announced size, which is in its short form."""
        if self.counts is Counts.PAYLOAD:
            return self.overhead_octets
        return self.offset_of("size") + self.size_octets if self.counts is Counts.REST else 0

    @cached_property
    def least_size(self) -> int:
        """What the size of a frame without payload says."""
        return self.overhead_octets - self.uncounted_octets

    @cached_property
    def escape(self) -> int | None:
        """The short size that says that the long one follows; None if there is no such form."""
        return (1 << 8 * self.size_octets) - 1 if self.long_size_octets else None

    @cached_property
    def min_doff(self) -> int:
        """The data offset of a frame whose payload follows its header; 0 if a header has no such field."""
        return self.header_octets // self.doff_word_octets if self.doff_word_octets else 0

    @cached_property
    def long_header(self) -> tuple[tuple[str, int], ...]:
        """The header fields of a frame whose size is escaped."""
        at = next(number for number, (name, _) in enumerate(self.header) if name == "size")
        return (
            *self.header[:at],
            ("escape", self.size_octets),
            ("size", self.long_size_octets),
            *self.header[at + 1 :],
        )

    def type_name(self, code: int) -> str:
        """The name of a frame type, or ``type-N`` for one that is not defined."""
        return self._names.get(code) or f"type-{code}"

    @cached_property
    def _names(self) -> Mapping[int, str]:
        return {code: name for name, code in self.types.items()}
