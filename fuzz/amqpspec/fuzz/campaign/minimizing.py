"""Findings whose input is still as it was sent: it is made smaller when every cell has had its first inputs.

Knows: findings, their blame, when blame may take time. Must not know: how an input is made smaller, what is sent next.
"""

from __future__ import annotations

from contextlib import suppress

from amqpspec.fuzz.campaign.deferred import Deferred
from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.triage.findings import Finding
from amqpspec.fuzz.triage.triage import Blame, OutOfTime, Triage


class Minimizing:
    """The findings that wait, the oldest first. They are in ``store`` already."""

    def __init__(self, store: FindingStore) -> None:
        self._store = store
        self._waiting: list[tuple[Finding, Blame]] = []

    def put(self, finding: Finding, blame: Blame) -> None:
        """Let a finding wait with its blame."""
        self._waiting.append((finding, blame))

    def has_due(self, deferred: Deferred) -> bool:
        """Whether one waits, and blame has time for it."""
        due = any(deferred.is_due(finding.suspicion.oracle) for finding, _ in self._waiting)
        return due and deferred.breadth_is_over

    def minimize(self, triage: Triage, deferred: Deferred) -> None:
        """Replace the input of one finding by a smaller one, if there is one. Raises TargetLost, JournalError."""
        # Those that blame has time for come first; that may have changed since one was due.
        self._waiting.sort(key=lambda one: not deferred.is_due(one[0].suspicion.oracle))
        finding, blame = self._waiting.pop(0)
        triage.is_hurried = lambda: not deferred.is_due(finding.suspicion.oracle)
        with deferred.timed(), suppress(OutOfTime):
            self._store.minimized(finding, triage.smaller(blame))
