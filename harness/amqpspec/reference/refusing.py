"""How a broker refuses: by naming the rule that was broken.

Knows: the refusal that the ledger asks for, and the three ways in which a fault makes it wrong.
Must not know: any protocol; whoever catches ``Refused`` says it in its own words.
"""

from __future__ import annotations

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.faults.refusals import right, row_of, wrong_code, wrong_scope
from amqpspec.spec.dialects import judged_as
from amqpspec.spec.model import Refusal


class RefusedError(Exception):
    """A rule was broken; ``refusal`` is what the peer gets to see, None is nothing at all."""

    def __init__(self, rule: str, text: str, refusal: Refusal | None) -> None:
        self.rule, self.text, self.refusal = rule, text, refusal
        super().__init__(f"{rule}: {text}")


class Refuser:
    """Refuses for one broker."""

    def __init__(self, dialect_id: str, on: Deviations) -> None:
        self._dialect_id, self._ledger_id, self._on = dialect_id, judged_as(dialect_id), on
        self._harmless = not any(":" in name for name in on.names)

    def refuse(self, rule: str, text: str) -> None:
        """Raise RefusedError for a rule; return if a fault lets it pass."""
        refusal = right(rule, self._ledger_id, self._dialect_id)
        if self._harmless:
            raise RefusedError(rule, text, refusal)
        row = row_of(rule, self._ledger_id)
        if f"not-refused:{row.id}" in self._on.names:
            return
        if f"wrong-code:{row.id}" in self._on.names:
            raise RefusedError(rule, text, wrong_code(row, self._ledger_id))
        if f"wrong-scope:{row.id}" in self._on.names:
            raise RefusedError(rule, text, wrong_scope(row, self._ledger_id))
        raise RefusedError(rule, text, refusal)
