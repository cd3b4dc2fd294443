"""The faults of a dialect of the 0-9 family that declares nothing about them beyond its ledger.

Knows: that rows of two ledgers are the same duty if they have one id or one ``same_as``.
Must not know: any dialect but the one by whose rows handlers and faults are named.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.reference.faults import Faults
from amqpspec.reference.methods.amqp_0_9_1 import FAMILY, REFUSALS
from amqpspec.reference.methods.refusals import MethodRefusals
from amqpspec.spec.dialects import load_ledger


def faults_by_ledger(ledger_id: str) -> Faults:
    """Every refusal and every behaviour that a ledger can tell, as its rows are those of 0-9-1 by another name.

    What a dialect tells by rows that 0-9-1 does not have takes a separate table, as the draft's.
    """
    base = load_ledger(REFUSALS.ledger)
    own = {row.same_as or row.id: row.id for row in load_ledger(ledger_id).values() if row.testable}
    same = {row.id: own[row.same_as or row.id] for row in base.values() if (row.same_as or row.id) in own}
    refused = {rule: same[rule] for rule in REFUSALS.rows if rule in same}
    refusals = MethodRefusals(
        ledger=ledger_id,
        rows=tuple(refused.values()),
        base=REFUSALS,
        unjudged=tuple(same[rule] for rule in REFUSALS.unjudged if rule in same),
        spoken_as={rule: (row,) for rule, row in refused.items()},
        on_channel_zero=tuple(
            row for rule, row in refused.items() if rule.startswith(REFUSALS.on_channel_zero)
        ),
    )
    breaks = {name: tuple(same[row] for row in fault.breaks if row in same) for name, fault in FAMILY.items()}
    return Faults(
        tuple(replace(FAMILY[name], breaks=rows) for name, rows in breaks.items() if rows), refusals
    )
