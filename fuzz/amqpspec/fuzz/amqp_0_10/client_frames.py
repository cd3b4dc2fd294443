"""Assemblies of a client of AMQP 0-10, by name.

Knows: controls and commands. Must not know: defects, brokers.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.selftest.frames import ClientFrame
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.frames import Frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL, decode_instruction
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.errors import WireError

Segments = list[tuple[int, bytes]]


def client_frame(channel: int, segments: Segments) -> ClientFrame:
    """One assembly as the broker has put it together."""
    kind, octets = segments[0]
    payload = b"".join(octets for _, octets in segments)
    if kind not in (CONTROL, COMMAND):
        return ClientFrame("", channel, payload, dict)
    instruction = decode_instruction(kind, octets)
    name = instruction.name if instruction.row is not None else ""
    return ClientFrame(name, channel, payload, lambda: instruction.args)


def frames_in(octets: bytes) -> Iterator[ClientFrame]:
    """The whole assemblies in a client's octets, up to the first frame that cannot be cut."""
    reader = FrameReader(header_allowed=False)
    reader.feed(octets.removeprefix(DIALECT.protocol_header))
    try:
        while isinstance(item := reader.next(), Frame):
            if item.assembly is not None:
                segments = [(s.type, s.octets) for s in item.assembly.segments]
                yield client_frame(item.channel, segments)
    except WireError:
        return
