"""Frames of a client of AMQP/Fast, by name.

Knows: commands. Must not know: defects, brokers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.answers import place_of
from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.selftest.frames import ClientFrame
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader


def client_frame(name: str, args: Mapping[str, Any], fragment: bytes) -> ClientFrame:
    """One command as the broker has read it; its payload is what follows it."""
    return ClientFrame(name, place_of(args), fragment, lambda: args)


def frames_in(octets: bytes) -> Iterator[ClientFrame]:
    """The commands in a client's octets that can be read, up to the first that cannot be cut."""
    reader = CommandReader(max_size=len(octets))
    for item, _, _ in cut(reader, octets.removeprefix(DIALECT.protocol_header)):
        if isinstance(item, CommandFrame) and item.error is None:
            yield client_frame(item.name, _plain(item.args), item.fragment)


def _plain(args: Mapping[str, Any]) -> dict[str, Any]:
    """Fields without tables, which two readers keep in different forms."""
    return {key: value for key, value in args.items() if isinstance(value, str | int | bytes)}
