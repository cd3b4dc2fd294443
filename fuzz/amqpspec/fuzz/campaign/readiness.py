"""Checks that the target is available before a batch: which input is to blame if it is not, and how it is restarted.

Knows: sentinels, canaries, restarts. Must not know: what is sent next, how a batch is run.
"""

from __future__ import annotations

from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.campaign.target import TargetAccess
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.triage import TargetLost

_GONE = "the target is gone"
_USELESS = "no connection of the target can be used"


class Readiness:
    """Looks at the target before each batch; ``note`` says what the oracles do without."""

    def __init__(self, target: TargetAccess, complaints: Complaints, journal: CampaignJournal) -> None:
        self._subject, self._monitor, self._triage = target.subject, target.monitor, target.triage
        self._complaints, self._journal = complaints, journal
        self.note = ""

    def ensure(self, last: Batch | None) -> None:
        """If the target went away after the last batch was checked, that batch is to blame.

        A dying target may answer one more greeting and be gone when canaries are placed. Raises TargetLost.
        """
        reason = self._unready()
        if reason is not None and self._subject.awake(self._monitor.hang_s):
            reason = self._unready()
        if reason is not None:
            self._blame(last, reason)
            reason = self._unready()
        if reason is not None:
            self._triage.revive()
            reason = self._unready()
        if reason is not None:
            raise TargetLost(f"{self._subject.name}: {reason}")

    def _unready(self) -> Unanswered | None:
        """Why the target cannot be measured now; None if it can."""
        try:
            self._monitor.before()
        except Unanswered as unanswered:
            self._monitor.forget()
            return unanswered
        if self._monitor.note != self.note:
            self.note = self._monitor.note
            self._journal.line("note", text=self.note)
        return None

    def _blame(self, last: Batch | None, reason: Unanswered) -> None:
        if last is None:
            self._triage.revive()
            return
        why = f"after the batch was checked: {reason}"
        # A target that accepts connections is not gone.
        late = self._monitor.hung(why) if reason.silent else Suspicion(Oracle.CRASH, title_of(reason), why)
        self._complaints.take(self._triage, last, Check((late,)))


def title_of(reason: Unanswered) -> str:
    """The title of a crash for the reason why the target does not answer."""
    return _GONE if reason.refused_connect else _USELESS
