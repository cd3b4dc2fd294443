"""Values to octets and back: the type system's front door.

Knows: readers and writers. Must not know: frames.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.amqp_1_0.composites import READERS
from amqpspec.wire.amqp_1_0.performatives import encode_as
from amqpspec.wire.amqp_1_0.reading import KEEPING
from amqpspec.wire.amqp_1_0.values import Described, Value
from amqpspec.wire.amqp_1_0.writing import encode

__all__ = ["decode", "decode_value", "encode", "encode_as"]


def decode(octets: bytes, at: int = 0) -> tuple[Any, int]:
    """One value as plain Python, composites of the tables as ``Composed``, and where it ends; raises WireError."""
    return READERS.read(octets, at)


def decode_value(octets: bytes, at: int = 0) -> tuple[Value | Described, int]:
    """One value with the encodings used all the way down, and where it ends; raises WireError."""
    return KEEPING.read(octets, at)
