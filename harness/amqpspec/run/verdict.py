"""A verdict: what was expected, what was observed, and what that comes to.

Knows: outcomes. Must not know: how a case came to it. The transcript is the third part of the evidence; the runner
attaches it to every verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.record.rows import Outcome


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case says: an outcome never comes without what was expected and what was observed."""

    outcome: Outcome
    expected: str
    observed: str

    def __post_init__(self) -> None:
        if not self.expected or not self.observed:
            raise ValueError("expected a verdict with both expected and observed, actual: one is empty")
