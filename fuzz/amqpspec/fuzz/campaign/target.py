"""Everything that is open to the target during a campaign: a monitor, a triage, sending workers.

Knows: in which order they are opened, and closed. Must not know: batches, what is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from amqpspec.fuzz.campaign.clock import BudgetClock
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.executor.announced import announced
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s, pause
from amqpspec.fuzz.executor.pool import WorkerPool, start_workers
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.triage.triage import Triage

_RETURNS_S = 20.0
"""A target that was restarted and has not answered for so long does not return by itself."""


_AGAIN_S = (2.0, 10.0)
"""Pauses before a failed restart is repeated: another process may use its port for a moment."""


class Restart:
    """The restart hook of a target, called up to three times while the budget lasts.

    The reason of a failure is kept, because callers only learn that it failed.
    """

    def __init__(self, hook: Callable[[], None], journal: CampaignJournal, clock: BudgetClock) -> None:
        self._hook, self._journal, self._clock = hook, journal, clock
        self.failed = ""

    def __call__(self) -> None:
        """Restart the target; raises OSError."""
        for pause_s in (0.0, *_AGAIN_S):
            pause(pause_s)
            if self._succeeds():
                return
            if self._clock.is_late:
                break
        raise OSError(self.failed)

    def _succeeds(self) -> bool:
        try:
            with self._clock.unbroken():
                self._hook()
        except Exception as error:
            self.failed = " ".join(str(error).split()) or type(error).__name__
            self._journal.line("restart failed", why=self.failed)
        else:
            self.failed = ""
        return not self.failed


class TargetAccess:
    """``announced`` holds product and version after ``open``, which also sets ``triage`` and ``workers``."""

    triage: Triage
    workers: WorkerPool

    def __init__(self, subject: Subject, journal: CampaignJournal, clock: BudgetClock) -> None:
        self._clock = clock
        self._restart = Restart(subject.restart, journal, clock) if subject.restart is not None else None
        self.subject = replace(subject, restart=self._restart)
        self.monitor = Monitor(self.subject)
        self.announced = "", ""

    def open(self, stack: ExitStack, workers: int, trials: int) -> None:
        """Measure the target and start workers; ``stack`` closes everything. Raises Unanswered."""
        subject = self.subject
        tempo = Tempo.of(self._round_trip_s(), subject.patience, subject.hang_s)
        self.announced = announced(subject)
        self.triage = Triage(subject, self.monitor, tempo, trials)
        self.triage.is_late = lambda: self._clock.is_late
        self.workers = start_workers(subject, tempo, workers)
        self.monitor.wait = self.workers.serve
        stack.callback(self.workers.close)
        stack.callback(self.monitor.close)

    def _round_trip_s(self) -> float:
        """The round trip; a target that does not answer at first is restarted if possible. Raises Unanswered."""
        try:
            return self.subject.round_trip_s()
        except Unanswered:
            if not self.subject.renew():
                raise
            return self.subject.round_trip_s()

    def restart(self) -> None:
        """Restart the target after everything else, whatever the time. Raises TargetLost."""
        self.triage.is_late = lambda: False
        self.triage.revive()

    @property
    def is_restarting(self) -> bool:
        """Whether the target was restarted without an error, and has not answered since."""
        restarted = self._restart is not None and not self._restart.failed
        return restarted and self.triage.away_since_s is not None

    @property
    def is_away(self) -> bool:
        """Whether it was restarted, and has had time to answer, but has not."""
        since_s = self.triage.away_since_s
        return self.is_restarting and since_s is not None and now_s() - since_s >= _RETURNS_S

    def why(self, lost: Exception) -> str:
        """Why the target is lost, and why a restart did not help."""
        failed = self._restart.failed if self._restart is not None else ""
        return f"{lost} (its restart failed: {failed})" if failed else str(lost)
