"""Conversations, captures and packets of scapy as tests of every codec make them.

Knows: what all dialects share. Must not know: any dialect.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from amqpspec.spec.model import Side
from amqpspec.wire.capture import Segment, read_pcapng, write_pcapng
from amqpspec.wire.conversation import Conversation, Reading, Talk
from tests.waiting import PATIENCE_S

Said = tuple[Literal["out", "in"], bytes]
LOCAL, REMOTE = ("127.0.0.1", 40001), ("127.0.0.1", 34567)


def conversation_of(reading: Reading, *chunks: tuple[Side, bytes]) -> Conversation:
    """What a dialect reads in octets of both sides, a nanosecond apart."""
    talk = Talk(1)
    for at_ns, (sender, octets) in enumerate(chunks):
        talk.add(sender, at_ns, octets)
    return reading.conversation(talk)


def captured(path: Path, said: Iterable[Said]) -> Path:
    """A capture of these octets, which can be read back unchanged."""
    segments = [Segment(n * 1_000_000, 1, way, octets, LOCAL, REMOTE) for n, (way, octets) in enumerate(said)]
    write_pcapng(path, segments)
    assert read_pcapng(path) == segments
    return path


def shown_by_wireshark(path: Path) -> str:
    """What Wireshark's dissector says of a capture; nothing is malformed for it."""
    command = ["tshark", "-n", "-r", str(path), "-Y", "amqp", "-V"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert "Malformed" not in done.stdout
    return done.stdout


def dissected(layers: Any, octets: bytes) -> Any:
    """A frame as scapy sees it, built again from its fields."""
    packet = layers.frame(octets)
    packet.clear_cache()
    assert bytes(packet) == octets
    return packet
