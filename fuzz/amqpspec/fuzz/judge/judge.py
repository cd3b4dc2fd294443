"""Octets and a state to what the ledger expects, whatever the dialect.

Knows: that a dialect's driver judges. Must not know: how.
"""

from __future__ import annotations

from typing import Protocol, cast

from amqpspec.fuzz.judge.expectation import Expectation, expect
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import State


class JudgePart(Part, Protocol):
    """What a dialect's ledger says of octets."""

    def judge(self, state: State, steps: tuple[bytes, ...]) -> str:
        """The one requirement that octets break in a state; empty if that is not beyond doubt."""
        return ""


def expectation(dialect_id: str, state: State, steps: tuple[bytes, ...]) -> Expectation:
    """What a target must do with octets sent in a state."""
    return expect(dialect_id, cast(JudgePart, loaded_driver(dialect_id)).judge(state, steps))
