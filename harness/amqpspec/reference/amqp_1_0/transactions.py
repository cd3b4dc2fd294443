"""Transactions of one connection: work that is deferred until the transaction is discharged (1.0 §4.1 to §4.4).

Knows: which transactions are active, the effect of a discharge on their work. Must not know: frames, links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed, encode_composite
from amqpspec.wire.amqp_1_0.values import Raw

STATE = "transactional-state"
UNKNOWN, ROLLED_BACK = "amqp:transaction:unknown-id", "amqp:transaction:rollback"
CAPABILITIES = ("amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn")
_LONG_ID_OCTETS = 33
Work = Callable[[], None]


@dataclass(slots=True, eq=False)
class Transaction:
    """One transaction: what is done on commit, on rollback, and how many deliveries are not whole."""

    id: bytes
    control: object
    on_commit: list[Work] = field(default_factory=list)
    on_rollback: list[Work] = field(default_factory=list)
    partial: int = 0

    def state(self, outcome: Any) -> Raw:
        """The state of a delivery whose provisional outcome this is."""
        return encode_composite(STATE, txn_id=self.id, outcome=outcome)


class Transactions:
    """The transactions of one connection; ``faulty`` asks whether a fault is on."""

    def __init__(self, faulty: Callable[[str], bool]) -> None:
        self.faulty = faulty
        self._live: dict[bytes, Transaction] = {}
        self._numbers = count(1)

    def declare(self, control: object) -> Transaction:
        """A new transaction of a control link."""
        number = 1 if self.faulty("transaction-ids-repeat") else next(self._numbers)
        width = _LONG_ID_OCTETS if self.faulty("transaction-ids-too-long") else 4
        made = Transaction(number.to_bytes(width, "big"), control)
        if self.faulty("transaction-ids-repeat"):
            return self._live.setdefault(made.id, made)
        self._live[made.id] = made
        return made

    def find(self, id: Any) -> Transaction | None:
        """The live transaction of an id."""
        return self._live.get(id) if isinstance(id, bytes) else None

    def named_by(self, state: Any) -> tuple[bool, Transaction | None]:
        """Whether a delivery state is one of a transaction, and which transaction that is, if it lives."""
        if not (isinstance(state, Composed) and state.name == STATE):
            return False, None
        return True, self.find(state.get("txn_id"))

    def discharge(self, transaction: Transaction, *, fail: bool) -> None:
        """Do what was held back, or undo it; the id means nothing any more."""
        if not self.faulty("discharged-transactions-live-on"):
            self._live.pop(transaction.id, None)
        if self.faulty("commit-rolls-back"):
            fail = True
        if fail and self.faulty("rollback-commits"):
            fail = False
        work = transaction.on_rollback if fail else transaction.on_commit
        if self.faulty("first-of-the-work-only"):
            work = work[:1]
        for step in work:
            step()
        if self.faulty("discharge-means-all"):
            for other in tuple(self._live.values()):
                self._live.pop(other.id)
                for step in other.on_rollback if fail else other.on_commit:
                    step()

    def control_lost(self, control: object) -> None:
        """A control link is gone: what it declared and did not discharge is rolled back (1.0 §4.1)."""
        for transaction in [one for one in self._live.values() if one.control is control]:
            if self.faulty("control-link-lost-without-rollback"):
                continue
            self.discharge(transaction, fail=not self.faulty("control-link-lost-commits"))


FAULTS = fault_table("""
transaction-ids-repeat: a second declare gives the transaction of the first [transactions/many]
transaction-ids-too-long: a txn-id has 33 octets [transactions/transaction-id/length]
discharged-transactions-live-on: the id of a discharged transaction can be discharged again
    [transactions/discharge/unknown-id]
commit-rolls-back: a commit throws the work away
    [transactions/posting/available transactions/posting/settled transactions/many transactions/sessions]
rollback-commits: a rollback applies the work
    [transactions/posting/rollback transactions/retirement/rollback transactions/retirement/settled
    transactions/posting/settled transactions/control/closed]
first-of-the-work-only: of several pieces of work, discharge does the first
    [transactions/posting/available transactions/retirement/commit transactions/sessions]
discharge-means-all: discharging one transaction discharges all [transactions/many]
control-link-lost-without-rollback: transactions outlive the control link that declared them
    [transactions/control/closed]
control-link-lost-commits: when the control link ends, its transactions are committed [transactions/control/closed]
""")
