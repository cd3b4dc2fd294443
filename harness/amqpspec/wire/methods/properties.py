"""The properties of one class's contents: flags that say which are there, then their values.

Knows: flag words and their continuation. Must not know: class ids, the rest of a content header.
Bounded: at most MAX_FLAG_WORDS words of flags are read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from amqpspec.spec.methods import Field
from amqpspec.wire.errors import too_short, unreadable
from amqpspec.wire.methods.fields import FieldCodec, Reader, Writer

MAX_FLAG_WORDS = 16
_FLAGS = struct.Struct(">H")
_PER_WORD = 15
_FIRST, _CONTINUED = 0x8000, 1


class _Plan(NamedTuple):
    """How to read and write one set of properties; bit properties live in their flag alone."""

    flags: bytes
    bits: tuple[str, ...]
    readers: tuple[Reader, ...]
    writers: tuple[Writer, ...]


class PropertyCodec:
    """Reads and writes flags and properties; each set of properties is compiled when it is first met."""

    def __init__(self, properties: Sequence[Field], fields: FieldCodec) -> None:
        self._properties, self._fields = tuple(properties), fields
        self._by_flags: dict[bytes, _Plan] = {}
        self._by_names: dict[frozenset[str], _Plan] = {}
        self.keys = frozenset(f.key for f in self._properties)

    def decode(self, octets: bytes, at: int) -> tuple[dict[str, Any], int]:
        """The properties that are present, and where they end; raises WireError."""
        plan = self._by_flags.get(octets[at : at + 2])
        if plan is None:
            plan, at = self._read_flags(octets, at)
        else:
            at += 2
        args: dict[str, Any] = dict.fromkeys(plan.bits, True)
        for read in plan.readers:
            at = read(octets, at, args)
        return args, at

    def encode(self, args: Mapping[str, Any]) -> bytes:
        """Flags and values of the properties given; false bit properties are not there. Raises EncodeError."""
        names = frozenset(args)
        plan = self._by_names.get(names)
        if plan is None:
            plan = self._by_names[names] = self._plan_of_names(names)
        if plan.bits and not all(args[key] for key in plan.bits):
            return self.encode({key: value for key, value in args.items() if value or key not in plan.bits})
        return plan.flags + b"".join([write(args) for write in plan.writers])

    def _read_flags(self, octets: bytes, at: int) -> tuple[_Plan, int]:
        start, numbers = at, list[int]()
        for index in range(MAX_FLAG_WORDS):
            if at + 2 > len(octets):
                raise too_short("property flags", octets, at, 2, len(octets))
            (word,) = _FLAGS.unpack_from(octets, at)
            numbers += self._numbers(octets, at, index * _PER_WORD, word)
            at += 2
            if not word & _CONTINUED:
                plan = self._plan(numbers, octets[start:at])
                if index == 0:
                    self._by_flags[plan.flags] = plan
                return plan, at
        raise unreadable("property flags", octets, at, f"an end after {MAX_FLAG_WORDS} words", "more of them")

    def _numbers(self, octets: bytes, at: int, first: int, word: int) -> list[int]:
        numbers = [first + position for position in range(_PER_WORD) if word & _FIRST >> position]
        if numbers and numbers[-1] >= len(self._properties):
            expected = f"flags of {len(self._properties)} properties"
            raise unreadable("property flags", octets, at, expected, f"flag {numbers[-1] + 1} is set")
        return numbers

    def _plan_of_names(self, names: frozenset[str]) -> _Plan:
        numbers = [number for number, f in enumerate(self._properties) if f.key in names]
        words = [0] * (1 + max(numbers, default=0) // _PER_WORD)
        for number in numbers:
            words[number // _PER_WORD] |= _FIRST >> number % _PER_WORD
        flags = b"".join(_FLAGS.pack(word | _CONTINUED) for word in words[:-1]) + _FLAGS.pack(words[-1])
        return self._plan(numbers, flags)

    def _plan(self, numbers: Sequence[int], flags: bytes) -> _Plan:
        present = [self._properties[number] for number in numbers]
        bits = tuple(f.key for f in present if f.type == "bit")
        valued = [f for f in present if f.type != "bit"]
        return _Plan(flags, bits, self._fields.readers(valued), self._fields.writers(valued))
