"""Inputs sent once, and the oracles asked about them: what came of each is counted.

Knows: workers, the monitor, counts. Must not know: which inputs come next, who is to blame.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from amqpspec.fuzz.campaign.clock import BudgetClock
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.observations import TimedResult
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.executor.pool import WorkerPool, utc_us
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.oracles.monitor import Check, Monitor


class Sender:
    """Sends inputs through workers and asks the oracles."""

    def __init__(
        self, workers: WorkerPool, monitor: Monitor, tally: Tally, energy: Energy, journal: CampaignJournal,
        clock: BudgetClock,
    ) -> None:  # fmt: skip
        self._workers, self._monitor, self._journal, self._clock = workers, monitor, journal, clock
        self._tally, self._energy = tally, energy

    @property
    def undecided(self) -> list[FuzzInput]:
        """Inputs that have no result for a fault of ours."""
        return self._workers.undecided

    def send(self, items: Sequence[FuzzInput], attempt: int) -> tuple[list[TimedResult], Check]:
        """What came of inputs, and what the oracles say of all of them."""
        workers = self._workers
        try:
            # A budget that ends in the midst of a batch ends the sending: what came until then is judged.
            results = takewhile(lambda result: not self._clock.is_late, workers.run(items))
            seen = [TimedResult(result, utc_us(), workers.worker, attempt) for result in results]
        finally:
            self._note_deaths()
        check = self._monitor.after([s.result for s in seen])
        self._count(seen)
        return seen, check

    def _note_deaths(self) -> None:
        """Workers that died are written down, whatever becomes of their inputs."""
        for death in self._workers.deaths:
            self._tally.workers_lost += 1
            self._journal.line(
                "worker", number=death.worker, ended=death.how, unfinished=death.unfinished, again=death.again
            )
        self._workers.deaths.clear()

    def _count(self, seen: Sequence[TimedResult]) -> None:
        results = [s.result for s in seen if s.result.end is not End.REFUSED]
        tally = self._tally
        tally.inputs += len(results)
        tally.reached += sum(result.reached for result in results)
        tally.random += sum(result.item.id.family == RANDOM for result in results)
        tally.react(o.reaction if o.reached else "state not reached" for o in results)
        self._energy.learn(results)
