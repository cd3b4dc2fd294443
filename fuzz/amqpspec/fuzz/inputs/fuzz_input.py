"""One input: the steps that are sent in a state.

Knows: ids, the judge. Must not know: where an input comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.judge.judge import expectation
from amqpspec.fuzz.states.ways import states


@dataclass(frozen=True)
class FuzzInput:
    """What is sent in a state, step by step; ``words`` say what is odd about it."""

    id: InputId
    dialect: str
    state: str
    steps: tuple[bytes, ...]
    words: str

    @property
    def octets(self) -> bytes:
        """All steps together."""
        return b"".join(self.steps)

    @cached_property
    def expectation(self) -> Expectation:
        """What the ledger says that a target must do."""
        return expectation(self.dialect, states(self.dialect)[self.state], self.steps)
