"""What families of more than one dialect bend with: depths, counts, names, logins, packed bodies.

Knows: values that any dialect can carry. Must not know: any dialect.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from amqpspec.fuzz.trees.tree import Node, Place, octets_at
from amqpspec.fuzz.trees.values import boundaries, single_bits

DEPTHS = (2, 4, 8, 16, 32, 64, 100, 128, 200, 256, 400, 500, 512, 1000, 1024, 2000, 4000, 8000, 16_000)
"""How deep things are nested."""

NAME_COUNTS = (1, 2, 8, 64, 256, 1000)
"""How many different names one input holds."""


def names(kind: str, count: int) -> list[str]:
    """This many unique names: each count has its own."""
    return [f"fz-{kind}-{count:x}-{number:x}" for number in range(count)]


RESOURCE_COUNTS = (1, 8, 64, 256, 1024)
"""How many resources one input asks for."""

MECHANISMS = (
    b"", b"plain", b"Plain", b"PLAIN ", b" PLAIN", b"PLAIN\0", b"PLAIN AMQPLAIN", b"AMQPLAIN", b"ANONYMOUS",
    b"EXTERNAL", b"CRAM-MD5", b"DIGEST-MD5", b"SCRAM-SHA-1", b"SCRAM-SHA-256", b"SCRAM-SHA-512", b"GSSAPI", b"NTLM",
    b"XOAUTH2", b"OAUTHBEARER", b"RABBIT-CR-DEMO", b"LOGIN", b"X" * 255,
)  # fmt: skip
RESPONSES: tuple[tuple[str, bytes], ...] = (
    ("empty", b""),
    ("no zero octet", b"guest"),
    ("one zero octet", b"guest\0guest"),
    ("two zero octets alone", b"\0\0"),
    ("three zero octets", b"\0guest\0guest\0"),
    ("another identity", b"admin\0guest\0guest"),
    ("no user", b"\0\0guest"),
    ("no password", b"\0guest\0"),
    ("wrong password", b"\0guest\0wrong"),
    ("user in capitals", b"\0GUEST\0guest"),
    ("user with a blank", b"\0guest \0guest"),
    ("unknown user", b"\0nobody-fuzz\0x"),
    ("user that is not UTF-8", b"\0\xff\xfe\0guest"),
    ("password that is not UTF-8", b"\0guest\0\xff\xfe"),
    ("user of 4096 octets", b"\0" + b"u" * 4096 + b"\0guest"),
    ("password of 64 KiB", b"\0guest\0" + b"p" * 65_536),
    ("zero octets", b"\0" * 1024),
    ("format signs", b"\0%s%n\0%x"),
    ("wildcards of a directory", b"\0*)(uid=*\0*"),
    ("scram", b"n,,n=guest,r=fuzz"),
    ("scram with a binding", b"p=tls-unique,,n=guest,r=fuzz"),
    ("scram, name of commas", b"n,,n=,,=2C=3D,r="),
    ("cram", b"guest 00000000000000000000000000000000"),
    ("an initial space", b" \0guest\0guest"),
)

CODINGS = (
    "gzip",
    "deflate",
    "x-gzip",
    "zlib",
    "br",
    "zstd",
    "lz4",
    "snappy",
    "identity",
    "gzip,gzip",
    "utf-8",
    "base64",
)
"""Codings of bodies, known ones and others."""

TOPIC_PATTERNS = (
    "#", "#.#", "#.#.#.#.#.#.#.#", "*.#.*.#.*.#", "#.a.#.a.#.a.#.a.#.b", ".".join(["#"] * 64), ".".join(["#.a"] * 60),
    ".".join(["*"] * 127), "." * 255, "#" * 255, "*" * 255, "a.#b", "a#.b", "#.", ".#", "..#..",
)  # fmt: skip
"""Patterns of topics that can match in very many ways."""
TOPIC_KEYS = ("a", ".".join("a" * 127), ".".join("ab" * 60), "." * 255, "", "a" * 255, ".".join(["aa"] * 80))
"""Keys that match some of them, or just fail to."""
MATCHES = ("all", "any", "all-with-x", "", "ALL", "none")
"""What x-match can say."""


def packed(octets: bytes, layers: int = 1) -> bytes:
    """Octets in gzip's format, the same on every machine: stored time and system are zero."""
    for _ in range(layers):
        coder = zlib.compressobj(9, zlib.DEFLATED, -15)
        body = coder.compress(octets) + coder.flush()
        tail = zlib.crc32(octets).to_bytes(4, "little") + (len(octets) % 2**32).to_bytes(4, "little")
        octets = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body + tail
    return octets


def flipped_flags(root: Node, place: Place) -> Iterator[tuple[str, bytes]]:
    """Flags with each bit the other way round, and at their edges."""
    old = octets_at(root, place.way)
    for bit, octets in single_bits(old):
        yield f"bit {bit} flipped", octets
    for number in boundaries(len(old)):
        octets = number.to_bytes(len(old), "big")
        if octets != old:
            yield f"flags {octets.hex()}", octets
