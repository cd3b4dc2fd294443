"""JaCoCo's agent with ``output=tcpserver``: one dump for each snapshot, without a reset.

The protocol is that of JaCoCo's execution data and remote control, version 1007: blocks of one octet for the kind and
their fields, all numbers big-endian. Both sides begin with a header; a dump command is answered by session and class
blocks and an acknowledgement.

Knows: the format, its bounds. Must not know: which code a probe belongs to, what new code is good for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from amqpspec.fuzz.coverage.coverage import CoverageError
from amqpspec.net.stream import ConnectError, Endpoint, Stream
from amqpspec.wire.transport import StreamEnded

HEADER, SESSION, CLASS, OK, DUMP = 0x01, 0x10, 0x11, 0x20, 0x40
MAGIC, VERSION = 0xC0C0, 0x1007
GREETING = struct.pack(">BHH", HEADER, MAGIC, VERSION)
DUMP_WITHOUT_RESET = struct.pack(">B??", DUMP, True, False)
DEFAULT_PORT = 6300
_MOST_OCTETS, _MOST_BLOCKS, _MOST_PROBES = 32 << 20, 1 << 18, 1 << 14
_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class JacocoServer:
    """The agent's address. A class is known by its name and its checksum."""

    endpoint: Endpoint
    within_s: float = _WITHIN_S

    def snapshot(self) -> Mapping[str, int]:
        """The probes that have run, by class. Raises CoverageError."""
        where = f"JaCoCo at {self.endpoint.authority}"
        try:
            stream = Stream(self.endpoint, self.within_s)
        except ConnectError as error:
            raise CoverageError(f"{where}: {error}") from error
        try:
            stream.send(GREETING + DUMP_WITHOUT_RESET)
            arrived = _Arrived(stream, stream.now() + self.within_s, where)
            return dict(_classes(arrived))
        finally:
            stream.close()


class _Arrived:
    """Octets of an answer, as many as requested; bounded in size and time. Each reading raises CoverageError."""

    def __init__(self, stream: Stream, until_s: float, where: str) -> None:
        self._stream, self._until_s, self.where = stream, until_s, where
        self._held, self._total = bytearray(), 0

    def take(self, count: int) -> bytes:
        """This many octets."""
        while len(self._held) < count:
            self._read()
        octets = bytes(self._held[:count])
        del self._held[:count]
        return octets

    def _read(self) -> None:
        try:
            octets = self._stream.receive(self._until_s)
        except StreamEnded:
            self.refuse("an acknowledgement of the dump", "the end of the stream")
        if not octets or self._stream.now() > self._until_s:
            self.refuse("an acknowledgement of the dump in time", "none")
        self._total += len(octets)
        if self._total > _MOST_OCTETS:
            self.refuse(f"at most {_MOST_OCTETS} octets", "more")
        self._held += octets

    def number(self, octets: int) -> int:
        """An unsigned number of this many octets."""
        return int.from_bytes(self.take(octets), "big")

    def varint(self) -> int:
        """Seven bits an octet, the lowest first."""
        value = shift = 0
        while True:
            octet = self.number(1)
            value |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80 or shift > 28:
                return value

    def refuse(self, expected: str, actual: str) -> NoReturn:
        """This is not what such an agent says."""
        raise CoverageError(f"{self.where}: expected {expected}, actual: {actual}")


def _classes(arrived: _Arrived) -> Iterator[tuple[str, int]]:
    """Classes by name and checksum, each with its probes as bits, up to the acknowledgement."""
    if (first := arrived.take(len(GREETING))) != GREETING:
        arrived.refuse(f"the header {GREETING.hex()}", first.hex())
    for _ in range(_MOST_BLOCKS):
        kind = arrived.number(1)
        if kind == OK:
            return
        if kind == CLASS:
            yield _class(arrived)
        elif kind == SESSION:
            arrived.take(arrived.number(2) + 16)  # its name, when it began and was written
        else:
            arrived.refuse("a block of class, session or acknowledgement", f"{kind:#04x}")
    arrived.refuse(f"at most {_MOST_BLOCKS} blocks", "more")


def _class(arrived: _Arrived) -> tuple[str, int]:
    checksum = arrived.number(8)
    name = arrived.take(arrived.number(2)).decode("utf-8", "replace")
    probes = arrived.varint()
    if probes > _MOST_PROBES:
        arrived.refuse(f"at most {_MOST_PROBES} probes in {name[:80]!r}", str(probes))
    bits = int.from_bytes(arrived.take(-(-probes // 8)), "little")
    return f"{name}@{checksum:016x}", bits & ((1 << probes) - 1)
