"""Sending inputs once, and asking the oracles about them: every result is counted.

Knows: workers, the monitor, counts. Must not know: which inputs come next, who is to blame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from amqpspec.fuzz.campaign.clock import BudgetClock
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.lessons import Lessons
from amqpspec.fuzz.campaign.observations import TimedResult
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.executor.pool import WorkerPool, utc_us
from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.senders import with_senders
from amqpspec.fuzz.oracles.suspicion import SPOILS


class Sender:
    """Sends inputs through workers and asks the oracles; ``belated`` are results of inputs that were sent earlier."""

    def __init__(
        self, workers: WorkerPool, monitor: Monitor, tally: Tally, lessons: Lessons, journal: CampaignJournal,
        clock: BudgetClock,
    ) -> None:  # fmt: skip
        self._workers, self._monitor, self._journal, self._clock = workers, monitor, journal, clock
        self._tally, self._lessons = tally, lessons
        self.belated: list[TimedResult] = []

    @property
    def undecided(self) -> list[FuzzInput]:
        """Inputs that have no result because of a fault on our side."""
        return self._workers.undecided

    @property
    def waiting(self) -> list[FuzzInput]:
        """Inputs that were sent, and whose results come later."""
        return self._workers.waiting

    def send(self, items: Sequence[FuzzInput], attempt: int) -> tuple[list[TimedResult], Check]:
        """The results so far, and what the oracles say about all of them."""
        ours, seen, before = {item.id for item in items}, list[TimedResult](), len(self.belated)
        try:
            for one in self._heard(self._workers.run(items), attempt):
                (seen if one.result.item.id in ours else self.belated).append(one)
        finally:
            self._note_deaths()
        check = self._checked([s.result for s in seen], [item for item in self.waiting if item.id in ours])
        self._count([*seen, *self.belated[before:]], check)
        return seen, check

    def _checked(self, results: Sequence[InputResult], waiting: Sequence[FuzzInput]) -> Check:
        """What the oracles say. The time in which a crash or a hang is confirmed does not count as sending."""
        check = Check(())
        with self._clock.aside(lambda: any(s.oracle in SPOILS for s in check.suspicions)):
            check = self._monitor.after(results, waiting)
        return with_senders(check, [*((r.port, r.item.id) for r in results), *self._workers.ports.items()])

    def finish(self) -> None:
        """Wait for all results: nothing is left open while a target is retried or restarted."""
        found = list(self._heard(self._workers.finish(), 1))
        self._count(found, None)
        self.belated += found

    def judged(self, belated: Sequence[TimedResult]) -> Check:
        """What the oracles say about late results."""
        return self._monitor.belated([one.result for one in belated])

    def _heard(self, results: Iterator[InputResult], attempt: int) -> Iterator[TimedResult]:
        """Results with their time. If the budget ends, they end, too: what came until then is judged."""
        for result in takewhile(lambda result: not self._clock.is_late, results):
            yield TimedResult(result, utc_us(), self._workers.worker, attempt)

    def _note_deaths(self) -> None:
        """Record workers that died, whatever happens to their inputs."""
        for death in self._workers.deaths:
            self._tally.workers_lost += 1
            self._journal.line(
                "worker", number=death.worker, ended=death.how, unfinished=death.unfinished, again=death.again
            )
        self._workers.deaths.clear()

    def _count(self, seen: Sequence[TimedResult], check: Check | None) -> None:
        results = [s.result for s in seen if s.result.end is not End.REFUSED]
        tally = self._tally
        tally.inputs += len(results)
        tally.reached += sum(result.reached for result in results)
        tally.random += sum(result.item.id.family == RANDOM for result in results)
        tally.react(o.reaction if o.reached else "state not reached" for o in results)
        self._lessons.take(results, check)
