"""What a target of AMQP 0-10 says.

Knows: assemblies, which of them refuse. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.run.driver import text
from amqpspec.wire.amqp_0_10.frames import Frame
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.amqp_0_10.values import Array, Map

_CHANNELS, _FRAME_MAX_OCTETS = 65_535, 65_535
"""The value that means no limit."""


def decoder() -> Decode:
    """A decoder for one connection."""
    reader = FrameReader()

    def decode(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            if not isinstance(item, Frame):
                yield Heard("header")
            elif item.assembly is not None:
                yield _assembly(item.assembly)

    return decode


def _assembly(assembly: Assembly) -> Heard:
    arrived = AssemblyArrived(assembly)
    name, limits = arrived.name, None
    mechanisms: tuple[str, ...] = ()
    product = version = ""
    if name == "connection.tune":
        limits = _offered(arrived["channel_max"], arrived["max_frame_size"])
    elif name == "connection.start":
        offered, properties = arrived["mechanisms"], arrived["server_properties"]
        mechanisms = tuple(map(str, offered.items)) if isinstance(offered, Array) else ()
        if isinstance(properties, Map):
            product, version = text(properties.get("product")), text(properties.get("version"))
    return Heard(
        name, arrived.refusal, limits, arrived.body, assembly.channel, mechanisms=mechanisms, product=product,
        version=version,
    )  # fmt: skip


def _offered(channels: Any, octets: Any) -> tuple[int, int]:
    """The highest channel and the largest frame that a tune offers; of N channels the last has the number N - 1."""
    return max(1, (channels or _CHANNELS) - 1), octets or _FRAME_MAX_OCTETS
