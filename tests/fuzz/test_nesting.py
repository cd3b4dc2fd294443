"""Nesting is what it says: so deep, with right sizes all the way down, if it is not meant to lie."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.amqp_1_0.families.values import _NESTED as VALUES
from amqpspec.fuzz.methods.families.nesting import _NESTED as TABLES
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import codec_for

CODEC = codec_for("rabbitmq-0-9-1")


@pytest.mark.parametrize("kind", ["table", "array", "mixed"])
@pytest.mark.parametrize("depth", [2, 3, 4, 8, 32])
def test_tables_are_as_deep_as_told(kind: str, depth: int) -> None:
    octets = TABLES[kind](depth)
    value, end = CODEC.tables.decode(octets, 0, len(octets))
    assert end == len(octets)
    assert levels(value.plain()) in (depth, depth + 1)


@pytest.mark.parametrize("kind", ["list", "map", "array", "described", "descriptor"])
@pytest.mark.parametrize("depth", [2, 3, 4, 8, 32])
def test_values_are_as_deep_as_told(kind: str, depth: int) -> None:
    octets = VALUES[kind](depth)
    assert decode(octets)[1] == len(octets)


@pytest.mark.parametrize("kind", ["unclosed", "small-list"])
def test_what_is_not_closed_cannot_be_read(kind: str) -> None:
    with pytest.raises(WireError):
        decode(VALUES[kind](4))


def levels(value: object) -> int:
    """How many tables and arrays are in one another; an empty one counts."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max((levels(item) for item in inner), default=0)
    return 0
