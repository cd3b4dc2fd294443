"""Coverage of a ledger by a suite: every testable row has a case or a reason.

Knows: rows and what cases claim to cover. Must not know: how it is printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amqpspec.run.case import Case
from amqpspec.spec.model import Requirement
from amqpspec.spec.requirements import Ledger


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts over the rows of the inventory; ``beyond`` rows are the suite's own and count apart."""

    testable: int
    covered: int
    excluded: Sequence[Requirement]
    open: Sequence[Requirement]
    untestable: Sequence[Requirement]
    beyond: int
    beyond_open: Sequence[Requirement]

    def to_json(self) -> dict[str, int]:
        """testable = covered + excluded + open."""
        return {
            "testable": self.testable,
            "covered": self.covered,
            "excluded": len(self.excluded),
            "open": len(self.open) + len(self.beyond_open),
            "untestable": len(self.untestable),
            "beyond_inventory": self.beyond,
        }


def coverage_of(ledger: Ledger, suite: Mapping[str, Case]) -> Coverage:
    """Compare a ledger with what the cases cover."""
    covered = {row for case in suite.values() for row in case.covers}
    inventory = [r for r in ledger.values() if r.source and r.testable]
    beyond = [r for r in ledger.values() if not r.source and r.testable]
    return Coverage(
        testable=len(inventory),
        covered=sum(r.id in covered for r in inventory),
        excluded=[r for r in inventory if r.id not in covered and r.excluded],
        open=[r for r in inventory if r.id not in covered and not r.excluded],
        untestable=[r for r in ledger.values() if not r.testable],
        beyond=len(beyond),
        beyond_open=[r for r in beyond if r.id not in covered and not r.excluded],
    )
