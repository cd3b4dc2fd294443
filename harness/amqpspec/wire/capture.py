"""Captures: the traffic of connections as a pcapng file that Wireshark opens and dissects, and back.

Knows: scapy's TCP/IP, the ports by which Wireshark finds AMQP. Must not know: what the octets mean, sockets.

The harness sees octets, not packets, so the packets are made up: a handshake when a connection is first seen, then
each segment in its place with sequence numbers that fit. In the capture every target listens on 5672, where
Wireshark expects AMQP, or on a port where it expects nothing; where it really was, the comment of each connection's
first packet says. There is no FIN or RST: how a connection ended is in the transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

AMQP_PORT, PLAIN_PORT = 5672, 56_720
MAX_SEGMENT_OCTETS = 65_000
_NS_PER_S = 10**9
_NO_MAC = "00:00:00:00:00:00"
_INBOUND, _OUTBOUND = 1, 2
_WINDOW_OCTETS = 65_535
_COMMENT = re.compile(r"connection (\d+) from (\S+) port (\d+) to (\S+) port (\d+)")

Address = tuple[str, int]


class Segment(NamedTuple):
    """Octets that went ``out`` to the target or came ``in`` from it at a time, on a numbered connection."""

    t_ns: int
    conn: int
    direction: Literal["out", "in"]
    octets: bytes
    local: Address
    remote: Address


@dataclass(slots=True)
class _Flow:
    """One connection in a capture: its real ends, its addresses in the file, the next octet of each side."""

    conn: int
    local: Address
    remote: Address
    source: Address
    port: int
    sent: dict[str, int] = field(default_factory=lambda: {"out": 0, "in": 0})

    @property
    def target(self) -> Address:
        """The target as the capture shows it."""
        return self.remote[0], self.port

    @property
    def comment(self) -> str:
        """The real ends."""
        (here, here_port), (there, there_port) = self.local, self.remote
        return f"connection {self.conn} from {here} port {here_port} to {there} port {there_port}"


def write_pcapng(
    path: Path | str, segments: Iterable[Segment], *, epoch_ns: int = 0, port: int = AMQP_PORT
) -> None:
    """Write segments as a capture; ``epoch_ns`` is the UTC time at which ``t_ns`` is zero, ``port`` the targets'."""
    from scapy.utils import PcapNgWriter

    flows: dict[int, _Flow] = {}
    with PcapNgWriter(str(path)) as writer:
        writer.write_header(_ether())
        for segment in map(Segment._make, segments):
            for packet in _packets(flows, segment, port):
                packet.time = (epoch_ns + segment.t_ns) / _NS_PER_S
                writer.write_packet(packet)


def read_pcapng(path: Path | str) -> list[Segment]:
    """The segments of a capture that ``write_pcapng`` wrote, with the real ports; times are as in the file."""
    from scapy.utils import PcapNgReader

    flows: dict[tuple[Address, Address], _Flow] = {}
    with PcapNgReader(str(path)) as reader:
        return [segment for packet in reader for segment in _segments(flows, packet)]


# --- writing


def _packets(flows: dict[int, _Flow], segment: Segment, port: int) -> Iterator[Any]:
    flow = flows.get(segment.conn)
    if flow is None:
        flow = _Flow(segment.conn, segment.local, segment.remote, _free_source(flows, segment, port), port)
        flows[segment.conn] = flow
        yield from _handshake(flow)
    for at in range(0, len(segment.octets), MAX_SEGMENT_OCTETS):
        octets = segment.octets[at : at + MAX_SEGMENT_OCTETS]
        yield _packet(flow, segment.direction, "PA", octets)
        flow.sent[segment.direction] += len(octets)


def _free_source(flows: dict[int, _Flow], segment: Segment, port: int) -> Address:
    """The local address, with another port where one connection of the capture already has it."""
    taken = {(flow.source, flow.target) for flow in flows.values()}
    host, source = segment.local
    target = (segment.remote[0], port)
    while ((host, source), target) in taken:
        source = source % 65_535 + 1
    return host, source


def _handshake(flow: _Flow) -> Iterator[Any]:
    first = _packet(flow, "out", "S")
    first.comment = flow.comment.encode()
    yield first
    flow.sent["out"] += 1
    yield _packet(flow, "in", "SA")
    flow.sent["in"] += 1
    yield _packet(flow, "out", "A")


def _packet(flow: _Flow, direction: str, flags: str, octets: bytes = b"") -> Any:
    from scapy.layers.inet import TCP

    (source, target), back = (flow.source, flow.target), "in"
    if direction == "in":
        source, target, back = target, source, "out"
    tcp = TCP(
        sport=source[1],
        dport=target[1],
        seq=flow.sent[direction] % 2**32,
        ack=0 if flags == "S" else flow.sent[back] % 2**32,
        flags=flags,
        window=_WINDOW_OCTETS,
    )
    packet = _ether() / _ip(source[0], target[0]) / tcp / octets
    packet.direction = _OUTBOUND if direction == "out" else _INBOUND
    return packet


def _ether() -> Any:
    from scapy.layers.l2 import Ether

    return Ether(src=_NO_MAC, dst=_NO_MAC)


def _ip(source: str, target: str) -> Any:
    if ":" in source:
        from scapy.layers.inet6 import IPv6

        return IPv6(src=source.partition("%")[0], dst=target.partition("%")[0])
    from scapy.layers.inet import IP

    return IP(src=source, dst=target)


# --- reading


def _segments(flows: dict[tuple[Address, Address], _Flow], packet: Any) -> Iterator[Segment]:
    from scapy.layers.inet import TCP

    if TCP not in packet:
        return
    tcp, ip = packet[TCP], packet[TCP].underlayer
    source, target = (ip.src, tcp.sport), (ip.dst, tcp.dport)
    if tcp.flags == "S":
        flows[source, target] = _flow(packet, len(flows) + 1, source, target)
    outward = (source, target) in flows
    flow = flows.get((source, target) if outward else (target, source))
    if flow is not None and tcp.payload:
        t_ns = int(packet.time * _NS_PER_S)
        octets = bytes(tcp.payload)
        yield Segment(t_ns, flow.conn, "out" if outward else "in", octets, flow.local, flow.remote)


def _flow(packet: Any, number: int, source: Address, target: Address) -> _Flow:
    ends = _COMMENT.fullmatch((packet.comment or b"").decode())
    if ends is None:
        return _Flow(number, source, target, source, target[1])
    conn, here, here_port, there, there_port = ends.groups()
    return _Flow(int(conn), (here, int(here_port)), (there, int(there_port)), source, target[1])
