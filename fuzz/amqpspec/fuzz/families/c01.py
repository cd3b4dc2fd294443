"""C1: arrays of elements that take no octets, with counts that octets cannot bound.

Knows: the encodings of no width, and where a value of any type can stand. Must not know: how a target counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Family, Spot, is_methods
from amqpspec.fuzz.states.ways import State


def _spots(dialect_id: str, state: State) -> Iterator[Spot]:
    if not is_methods(dialect_id):
        from amqpspec.fuzz.amqp_1_0.values import zero_width

        yield from zero_width(dialect_id, state)


_NO_ARRAYS = "no arrays without a size in octets; each entry of a table has a name and a tag"

FAMILY = Family(
    "C01",
    "arrays of zero-width elements with a huge count",
    _spots,
    absent={
        "amqp-0-9-1": "an array says how many octets it has, not how many elements, and each element has a tag octet",
        "amqp-wire-9-1": _NO_ARRAYS,
        "amqp-0-8": _NO_ARRAYS,
    },
)
