"""Captures of network traffic, pcap or pcapng, as the segments of TCP that they hold.

Knows: scapy's readers and its TCP/IP. Must not know: the order of segments, what octets mean.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.wire.conversation import Address

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
_NS_PER_S = 10**9


class CaptureError(ValueError):
    """A file is no capture that can be read; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One segment, and how many more octets were sent after it but not captured."""

    source: Address
    target: Address
    seq: int
    flags: int
    octets: bytes
    missing_octets: int
    at_ns: int

    @property
    def is_first(self) -> bool:
        """Whether it begins a connection."""
        return bool(self.flags & SYN) and not self.flags & ACK


def read_packets(path: Path | str) -> Iterator[Packet]:
    """The segments of a capture, in the order of the file; raises CaptureError, OSError."""
    from scapy.error import Scapy_Exception
    from scapy.layers import inet, inet6, l2  # noqa: F401  the link types have to be known
    from scapy.utils import PcapReader

    # scapy leaves a file open that it does not know.
    with Path(path).open("rb") as file:
        try:
            with PcapReader(file) as reader:
                for packet in reader:
                    yield from _segment(packet)
        except (Scapy_Exception, EOFError, struct.error) as error:
            raise CaptureError(f"{path}: expected a capture (pcap or pcapng), actual: {error}") from error


def _segment(packet: Any) -> Iterator[Packet]:
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
    source, target = (str(ip.src), int(tcp.sport)), (str(ip.dst), int(tcp.dport))
    yield Packet(source, target, int(tcp.seq), int(tcp.flags), octets, missing, int(packet.time * _NS_PER_S))


def _announced_octets(ip: Any, tcp: Any) -> int | None:
    """How many octets the headers announce; None if they do not say (offloaded segments)."""
    header_octets = 4 * (tcp.dataofs or 5)
    if ip.name == "IPv6":
        return ip.plen - header_octets if ip.plen else None
    return ip.len - 4 * (ip.ihl or 5) - header_octets if ip.len else None
