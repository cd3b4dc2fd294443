"""Values that go to the edges of a type, or lie about a size.

Knows: widths and octets. Must not know: fields, dialects.
"""

from __future__ import annotations

from collections.abc import Iterator

TEXTS: tuple[tuple[str, bytes], ...] = (
    ("empty", b""),
    ("zero octet", b"\0"),
    ("zero octet inside", b"a\0b"),
    ("control octets", bytes(range(1, 32))),
    ("line breaks", b"a\r\nb\n"),
    ("blank", b" "),
    ("lone continuation", b"\x80"),
    ("overlong slash", b"\xc0\xaf"),
    ("cut sequence", b"a\xe2\x82"),
    ("surrogate", b"\xed\xa0\x80"),
    ("beyond the last character", b"\xf4\x90\x80\x80"),
    ("octet ff", b"\xff\xfe"),
    ("byte order mark", b"\xef\xbb\xbfa"),
    ("combining marks", b"a" + "\u0301".encode() * 40),
    ("right to left", "\u202ea".encode()),
    ("beyond the first plane", "\U0001f600".encode()),
    ("dotless i", "I\u0131".encode()),
    ("format signs", b"%s%n%x{0}${jndi:x}"),
    ("path", b"../../etc/passwd"),
    ("quotes", b"'\"`;--"),
    ("pattern", b"#.*.#"),
    ("reserved prefix", b"amq.fuzz"),
    ("127 octets", b"x" * 127),
    ("128 octets", b"x" * 128),
    ("129 octets", b"x" * 129),
    ("254 octets", b"x" * 254),
    ("255 octets", b"x" * 255),
    ("255 octets of two each", "ß".encode() * 127 + b"x"),
)
"""Texts by what is odd about them; none is longer than a short string can be."""

LONG_TEXTS: tuple[tuple[str, bytes], ...] = (
    ("256 octets", b"x" * 256),
    ("4 KiB", b"x" * 4096),
    ("64 KiB", b"x" * 65_536),
)
"""Texts beyond a short string."""


def boundaries(width_octets: int) -> list[int]:
    """The edges of an unsigned number, and those of a signed one of the same width."""
    top = 1 << 8 * width_octets
    half = top >> 1
    return sorted({0, 1, 2, half - 1, half, half + 1, top - 2, top - 1})


def near(width_octets: int, value: int) -> list[int]:
    """Numbers that are slightly wrong: one more, one less, none, twice, an octet's worth off."""
    top = 1 << 8 * width_octets
    wrong = {0, 1, value - 1, value + 1, value * 2, value - 4, value + 4, value - 8, value + 8}
    return sorted({number % top for number in wrong} - {value})


def huge(width_octets: int, value: int) -> list[int]:
    """Numbers that ask for much more than there is."""
    top = 1 << 8 * width_octets
    powers = {1 << bits for bits in range(12, 8 * width_octets, 4)}
    edges = {top - 1, top - 2, top >> 1, (top >> 1) - 1, (top >> 1) + 1, top - 8, top - 9}
    return sorted(number for number in powers | edges if value < number < top)


def single_bits(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """The octets with each bit flipped in turn; bit 0 is the first on the wire."""
    whole = int.from_bytes(octets, "big")
    bits = 8 * len(octets)
    for bit in range(bits):
        yield bit, (whole ^ 1 << (bits - 1 - bit)).to_bytes(len(octets), "big")
