"""Primitives: what the fields of methods and the values of tables have in common on the wire.

Knows: widths, signs and ranges of numbers, the two kinds of strings. Must not know: fields, tags, methods.
"""

from __future__ import annotations

import struct
from contextlib import suppress

from amqpspec.wire.errors import EncodeError, shown

NUMBERS = {
    "octet": "B", "short": "H", "long": "I", "longlong": "Q", "timestamp": "Q", "boolean": "?",
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float": "f", "double": "d",
}  # fmt: skip
"""Every primitive of fixed width that is one number, as its struct code."""

U32 = struct.Struct(">I")
DECIMAL = struct.Struct(">Bi")
OCTET = tuple(bytes((value,)) for value in range(256))
"""Every octet by its value: the length of a short string, a word of bits."""

MAX_SHORTSTR_OCTETS = 255

ENCODING_FAILURES = (struct.error, TypeError, ValueError, LookupError, AttributeError, OverflowError)
"""What Python raises for a value that a primitive does not take."""

_EXPECTED = {
    "boolean": "a truth value",
    "float": "a number within a single precision float",
    "double": "a number",
    "decimal": "a pair of scale (0 to 255) and unscaled value (-2147483648 to 2147483647)",
    "shortstr": f"a string of at most {MAX_SHORTSTR_OCTETS} octets",
    "longstr": "a string",
    "bytes": "octets",
    "table": "a table or a mapping",
    "array": "a list",
    "bit": "a truth value",
}


def to_octets(text: str | bytes) -> bytes:
    """A string as octets; surrogates from decoding go back to what they were."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def pack_shortstr(text: str | bytes) -> bytes:
    """A short string with its length octet; IndexError for one that is too long."""
    octets = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return OCTET[len(octets)] + octets


def pack_longstr(text: str | bytes) -> bytes:
    """A long string with its four octets of length."""
    octets = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return U32.pack(len(octets)) + octets


def not_encodable(where: str, primitive: str, value: object) -> EncodeError:
    """The error for a value that a primitive cannot carry."""
    actual = shown(value)
    if primitive == "shortstr" and isinstance(value, str | bytes):
        with suppress(UnicodeEncodeError):
            actual = f"{len(to_octets(value))} octets"
    return EncodeError(where, expected_of(primitive), actual)


def expected_of(primitive: str) -> str:
    """What a primitive accepts, as text: ``an integer from 0 to 65535``."""
    if primitive in _EXPECTED:
        return _EXPECTED[primitive]
    code = NUMBERS[primitive]
    bits = 8 * struct.calcsize(">" + code)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if code.islower() else (0, (1 << bits) - 1)
    return f"an integer from {low} to {high}"
