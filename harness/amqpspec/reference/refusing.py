"""How a broker refuses: by naming the rule that was broken.

Knows: the refusal that the ledger asks for, and the three ways in which a fault makes it wrong.
Must not know: any protocol; the code that catches ``Refused`` says it in its own words.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.faults import faults_of
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.conversation import Address

Refused = Callable[[Address, str], None]
"""Is called with the client's address and the reason, each time."""


class RefusedError(Exception):
    """A rule was broken; ``refusal`` is what the peer gets to see, None is nothing at all."""

    def __init__(self, rule: str, text: str, refusal: Refusal | None) -> None:
        self.rule, self.text, self.refusal = rule, text, refusal
        super().__init__(f"{rule}: {text}")

    @property
    def is_bare(self) -> bool:
        """Whether no close method or performative tells the peer why."""
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
