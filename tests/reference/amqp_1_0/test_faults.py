"""Every row of the 1.0 ledger that can be tested has a fault that breaks it."""

from __future__ import annotations

from amqpspec.reference.faults import all_faults
from amqpspec.spec.dialects import load_ledger

DIALECT = "amqp-1-0"
LEDGER = load_ledger(DIALECT)
FAULTS = all_faults(DIALECT)


def test_every_testable_row_has_a_fault() -> None:
    broken = {rule for fault in FAULTS.values() for rule in fault.breaks}
    assert [
        row.id for row in LEDGER.values() if row.testable and not row.excluded and row.id not in broken
    ] == []
