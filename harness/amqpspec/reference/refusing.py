"""How a broker refuses: by naming the violated rule.

Knows: the refusal that the ledger demands, and the three faults of it. Must not know: any protocol; the code that
catches ``Refused`` sends the refusal.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.faults import faults_of
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.conversation import Address

Refused = Callable[[Address, str], None]
"""Called with the client's address and the reason, each time."""


class RefusedError(Exception):
    """A rule was violated; ``refusal`` is what the peer receives, None for nothing."""

    def __init__(self, rule: str, text: str, refusal: Refusal | None) -> None:
        self.rule, self.text, self.refusal = rule, text, refusal
        super().__init__(f"{rule}: {text}")

    @property
    def is_bare(self) -> bool:
        """Whether no close method or performative gives the peer a reason."""
        return self.refusal is None or self.refusal.scope in (Scope.SOCKET, Scope.HEADER)


class Refuser:
    """Refuses for one broker."""

    def __init__(self, dialect_id: str, on: Deviations) -> None:
        self._dialect_id, self._rules, self._on = dialect_id, faults_of(dialect_id).refusals, on
        self._harmless = not any(":" in name for name in on.names)

    def refuse(self, rule: str, text: str) -> None:
        """Raise RefusedError for a rule; return if a fault tolerates it."""
        rules = self._rules
        if self._harmless:
            raise RefusedError(rule, text, rules.right(rule, self._dialect_id))
        row = rules.row_of(rule)
        if self._on.faulty(f"not-refused:{row.id}"):
            return
        if self._on.faulty(f"wrong-code:{row.id}"):
            raise RefusedError(rule, text, rules.wrong_code(row))
        if self._on.faulty(f"wrong-scope:{row.id}"):
            raise RefusedError(rule, text, rules.wrong_scope(row))
        raise RefusedError(rule, text, rules.right(rule, self._dialect_id))
