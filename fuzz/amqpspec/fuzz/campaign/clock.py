"""How long a campaign has run, those parts included that came before it was resumed.

Knows: seconds. Must not know: what they were spent on.
"""

from __future__ import annotations

from amqpspec.fuzz.executor.loop import now_s


class BudgetClock:
    """Runs from when it is made."""

    def __init__(self, budget_s: float, before_s: float) -> None:
        self._budget_s, self._before_s, self._begun_s = budget_s, before_s, now_s()

    @property
    def seconds_s(self) -> float:
        """How long the whole campaign has run."""
        return self._before_s + now_s() - self._begun_s

    @property
    def is_spent(self) -> bool:
        """Whether the budget of this part is."""
        return now_s() - self._begun_s >= self._budget_s
