"""Octets and a state to what the ledger expects, whatever the dialect.

Knows: which family of dialects is judged where. Must not know: how.
"""

from __future__ import annotations

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.judge.expectation import Expectation, expect
from amqpspec.fuzz.states.ways import State
from amqpspec.spec.methods import MethodDialect


def expectation(dialect_id: str, state: State, steps: tuple[bytes, ...]) -> Expectation:
    """What a target must do with octets sent in a state."""
    if isinstance(tables(dialect_id), MethodDialect):
        from amqpspec.fuzz.methods.judge import judge
    else:
        from amqpspec.fuzz.amqp_1_0.judge import judge
    return expect(dialect_id, judge(dialect_id, state, steps))
