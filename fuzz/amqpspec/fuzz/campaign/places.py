"""What makes two complaints the same: the place of their batch or input, the oracle, and what is known of the cause.

Knows: batches, suspicions. Must not know: what was blamed so far.
"""

from __future__ import annotations

from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.suspicion import CANARY_LOST, SPOILS, Oracle, Suspicion

Place = tuple[str, str]
"""A family and a state."""

OF_ONE_INPUT = frozenset({Oracle.OBEDIENCE, Oracle.CONFORMANCE})
"""Oracles that name the inputs that they complain of."""
_REPEATS = 3
"""Where a batch is of no single place."""


def ends_target(seen: Suspicion) -> bool:
    """Whether the target may serve no one any more."""
    return seen.oracle in SPOILS or (seen.oracle is Oracle.CANARY and seen.top == CANARY_LOST)


def most_blamed(batch: Batch, seen: Suspicion) -> int:
    """How many times the same complaint is blamed in one place."""
    one_place = bool(batch.spans) and (not batch.is_mixed or seen.oracle in OF_ONE_INPUT)
    return 1 if one_place else _REPEATS


def key_of(batch: Batch, seen: Suspicion) -> tuple[str, ...]:
    """What identifies a complaint in a place."""
    if batch.is_mixed and seen.oracle in OF_ONE_INPUT and seen.inputs:
        return seen.inputs[0].family, seen.inputs[0].state, str(seen.oracle), seen.name
    return (*batch.place, str(seen.oracle), seen.name)


def key_of_input(item: FuzzInput, seen: Suspicion) -> tuple[str, ...]:
    """The key of the same complaint of one input of a mixed batch."""
    return item.id.family, item.state, str(seen.oracle), seen.name
