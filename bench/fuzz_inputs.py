"""Inputs that the fuzzer makes, beside scapy's ``fuzz()`` over layers of the same tables: octets a second, no network.

Knows: both ways to an input. Must not know: sockets, oracles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from scapy.packet import fuzz as scapy_fuzz
from scapy.packet import raw

from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.mutation import random_id, random_input, role_of
from amqpspec.wire.methods.scapy_layers import layers_for
from bench.row import Row, beside

DIALECT = "amqp-0-9-1"
UNIT = "inputs/s"
_BATCH = 50
METHOD = "basic.qos"
"""What both bend; it has no short string, whose length scapy would draw beyond what fits."""

_LAYERS = layers_for("rabbitmq-0-9-1")


def rows() -> Iterator[Row]:
    """Families and random mutation, each beside scapy."""
    yield beside("fuzz inputs: families", UNIT, _families(), _scapy())
    yield beside("fuzz inputs: random", UNIT, _random(0), _scapy())
    yield beside("fuzz inputs: random from 10^9 on", UNIT, _random(10**9), _scapy())


def _families() -> Callable[[], int]:
    """A whole cell made again, duplicates taken out."""
    cell = by_key(DIALECT)[f"{DIALECT}/C04/shortstr.size/channel"]
    spot = cell._location
    assert spot is not None

    def work() -> int:
        return len({b"".join(bend.steps) for bend in spot.bends()})

    return work


def _random(first: int) -> Callable[[], int]:
    numbers = count(first)

    origin = {(role_of(f"method/{METHOD}"), "channel"): 1}

    def work() -> int:
        for _ in range(_BATCH):
            random_input(DIALECT, random_id(DIALECT, 1, next(numbers), origin))
        return _BATCH

    return work


def _scapy() -> Callable[[], int]:
    """A method's frame, each field of which scapy draws again for every packet built."""
    packet = scapy_fuzz(_LAYERS.frame(body=scapy_fuzz(_LAYERS.methods[METHOD]())))
    assert len({raw(packet) for _ in range(_BATCH)}) > _BATCH // 2, "scapy draws nothing"

    def work() -> int:
        for _ in range(_BATCH):
            raw(packet)
        return _BATCH

    return work
