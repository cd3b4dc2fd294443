"""Captures of network traffic as streams of octets from client to server.

Knows: scapy's readers of pcap and pcapng, the order of TCP. Must not know: what the octets mean.

Octets are put in order by their sequence numbers; what was sent twice counts once, as it came first. A stream ends
where octets are missing for good: nothing behind a gap is made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_WRAP = 1 << 32
_MAX_STREAM_OCTETS = 16 << 20
_SYN, _ACK = 0x02, 0x10

End = tuple[str, int]


class CaptureError(ValueError):
    """A file is no capture that can be read; the text says what was expected."""


@dataclass(slots=True)
class Half:
    """What one side of a connection sent: octets in order, and pieces that came too early, by their place."""

    next_seq: int | None = None
    octets: bytearray = field(default_factory=bytearray)
    early: dict[int, bytes] = field(default_factory=dict)
    cut: bool = False

    def begin(self, seq: int) -> None:
        """The side's first sequence number is known."""
        self.next_seq = (seq + 1) % _WRAP

    def feed(self, seq: int, data: bytes, missing_octets: int = 0) -> None:
        """A segment; behind it, so many octets were not captured."""
        if self.next_seq is None:
            self.next_seq = seq
        place = len(self.octets) + _signed(seq - self.next_seq)
        if data and len(self.octets) < _MAX_STREAM_OCTETS and len(data) > len(self.early.get(place, b"")):
            self.early[place] = data
        self.cut = self.cut or missing_octets > 0
        self._take()

    def _take(self) -> None:
        """Everything that is no longer early."""
        assert self.next_seq is not None
        while ready := [place for place in self.early if place <= len(self.octets)]:
            for place in sorted(ready):
                data = self.early.pop(place)[len(self.octets) - place :]
                self.octets += data
                self.next_seq = (self.next_seq + len(data)) % _WRAP

    @property
    def gap(self) -> bool:
        """Whether octets are missing in it."""
        return bool(self.early) or self.cut


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a client sent on one connection; ``whole`` where no octet is missing."""

    client: End
    server: End
    octets: bytes
    whole: bool


def client_streams(path: Path | str) -> list[Recorded]:
    """The client's side of every connection in a capture, in the order of their first packets; raises CaptureError."""
    connections: dict[frozenset[End], _Connection] = {}
    done: list[_Connection] = []
    for packet in _packets(path):
        key = frozenset((packet.source, packet.target))
        known = connections.get(key)
        if known is None or (packet.is_first and known.begun and packet.seq != known.first_seq):
            known = connections[key] = _Connection(packet)
            done.append(known)
        known.take(packet)
    return [recorded for known in done if (recorded := known.recorded()) is not None]


@dataclass(frozen=True, slots=True)
class _Packet:
    source: End
    target: End
    seq: int
    flags: int
    octets: bytes
    missing_octets: int

    @property
    def is_first(self) -> bool:
        return bool(self.flags & _SYN) and not self.flags & _ACK


class _Connection:
    """Both sides. The client is who sent the first SYN; without one, who said something first."""

    def __init__(self, packet: _Packet) -> None:
        first = packet.is_first or not packet.flags & _SYN
        self.client, self.server = (packet.source, packet.target) if first else (packet.target, packet.source)
        self.begun = packet.is_first
        self.first_seq = packet.seq
        self._said = packet.flags & _SYN != 0
        self.half = Half()

    def take(self, packet: _Packet) -> None:
        """A packet of either side."""
        if not self._said and packet.octets:
            self.client, self.server, self._said = packet.source, packet.target, True
        if packet.source != self.client:
            return
        if packet.flags & _SYN:
            self.half.begin(packet.seq)
        elif packet.octets or packet.missing_octets:
            self.half.feed(packet.seq, packet.octets, packet.missing_octets)

    def recorded(self) -> Recorded | None:
        """What the client sent, if it sent anything."""
        octets = bytes(self.half.octets)
        return Recorded(self.client, self.server, octets, not self.half.gap) if octets else None


def _signed(difference: int) -> int:
    """A difference of sequence numbers, which run in a ring."""
    return (difference + _WRAP // 2) % _WRAP - _WRAP // 2


# --- scapy


def _packets(path: Path | str) -> Iterator[_Packet]:
    from scapy.error import Scapy_Exception
    from scapy.layers import inet, inet6, l2  # noqa: F401  the link types have to be known
    from scapy.utils import PcapReader

    try:
        # scapy leaves a file open that it does not know.
        with Path(path).open("rb") as file, PcapReader(file) as reader:
            for packet in reader:
                yield from _segment(packet)
    except (Scapy_Exception, EOFError) as error:
        raise CaptureError(f"{path}: expected a capture (pcap or pcapng), actual: {error}") from error


def _segment(packet: Any) -> Iterator[_Packet]:
    from scapy.layers.inet import TCP

    if TCP not in packet:
        return
    tcp, ip = packet[TCP], packet[TCP].underlayer
    if not hasattr(ip, "src"):
        return
    payload = bytes(tcp.payload)
    announced = _announced_octets(ip, tcp)
    octets = payload if announced is None else payload[:announced]
    missing = 0 if announced is None else max(0, announced - len(payload))
    yield _Packet((ip.src, tcp.sport), (ip.dst, tcp.dport), tcp.seq, int(tcp.flags), octets, missing)


def _announced_octets(ip: Any, tcp: Any) -> int | None:
    """How many octets the headers announce; None where they do not say (offloaded segments)."""
    header_octets = 4 * (tcp.dataofs or 5)
    if ip.name == "IPv6":
        return ip.plen - header_octets if ip.plen else None
    return ip.len - 4 * (ip.ihl or 5) - header_octets if ip.len else None
