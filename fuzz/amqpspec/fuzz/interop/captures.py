"""Captures of network traffic as streams of octets from client to server.

Knows: packets, the order of TCP. Must not know: what the octets mean.

Octets are put in order by their sequence numbers; what was sent twice counts once, as received first. A stream ends
where octets are missing permanently: nothing after a gap is made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from amqpspec.wire.conversation import Address
from amqpspec.wire.packets import SYN, Packet, read_packets
from amqpspec.wire.segments import SEQ_SPAN, InOrder

_MAX_STREAM_OCTETS = 16 << 20


@dataclass(slots=True)
class Half:
    """What one side of a connection sent, in order."""

    octets: bytearray = field(default_factory=bytearray)
    _order: InOrder = field(default_factory=InOrder)

    def begin(self, seq: int) -> None:
        """The side's first sequence number is known."""
        self._order.next_seq = (seq + 1) % SEQ_SPAN

    def feed(self, seq: int, data: bytes, missing_octets: int = 0) -> None:
        """A segment; after it, this many octets were not captured."""
        if len(self.octets) < _MAX_STREAM_OCTETS:
            for fresh in self._order.take(seq, data):
                self.octets += fresh
        self._order.is_cut = self._order.is_cut or missing_octets > 0

    @property
    def gap(self) -> bool:
        """Whether octets are missing in it."""
        return self._order.has_gap


@dataclass(frozen=True, slots=True)
class Recorded:
    """The octets of a client on one connection; ``whole`` if no octet is missing."""

    client: Address
    server: Address
    octets: bytes
    whole: bool


def client_streams(path: Path | str) -> list[Recorded]:
    """The client's side of every connection in a capture, in the order of their first packets; raises CaptureError."""
    connections: dict[frozenset[Address], _Connection] = {}
    done: list[_Connection] = []
    for packet in read_packets(path):
        key = frozenset((packet.source, packet.target))
        known = connections.get(key)
        if known is None or (packet.is_first and known.begun and packet.seq != known.first_seq):
            known = connections[key] = _Connection(packet)
            done.append(known)
        known.take(packet)
    return [recorded for known in done if (recorded := known.recorded()) is not None]


class _Connection:
    """Both sides. The client is who sent the first SYN; without one, who said something first."""

    def __init__(self, packet: Packet) -> None:
        first = packet.is_first or not packet.flags & SYN
        self.client, self.server = (packet.source, packet.target) if first else (packet.target, packet.source)
        self.begun = packet.is_first
        self.first_seq = packet.seq
        self._said = packet.flags & SYN != 0
        self.half = Half()

    def take(self, packet: Packet) -> None:
        """A packet of either side."""
        if not self._said and packet.octets:
            self.client, self.server, self._said = packet.source, packet.target, True
        if packet.source != self.client:
            return
        if packet.flags & SYN:
            self.half.begin(packet.seq)
        elif packet.octets or packet.missing_octets:
            self.half.feed(packet.seq, packet.octets, packet.missing_octets)

    def recorded(self) -> Recorded | None:
        """What the client sent, if it sent anything."""
        octets = bytes(self.half.octets)
        return Recorded(self.client, self.server, octets, not self.half.gap) if octets else None
