"""One batch at a time: sent as often as the target's ends ask for, complaints followed up, cells marked.

Knows: waves of a batch, when a part of it is tried alone. Must not know: which batch comes next, sockets, files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from amqpspec.fuzz.campaign.clock import BudgetClock
from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.observations import Source, TimedResult, observations
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.put_off import PutOff
from amqpspec.fuzz.campaign.readiness import Readiness
from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.campaign.sender import Sender
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.triage import Triage
from amqpspec.record.arrow_journal import ArrowJournal

_WAVES, _WAVES_AFTER_DEATHS = 6, 4
_GONE = Check((Suspicion(Oracle.CRASH, "the target is gone", "it was gone between two batches"),))


@dataclass(slots=True)
class BatchResult:
    """The result of a batch: which inputs reached their state, which are left, and which are undecided."""

    left: Sequence[FuzzInput]
    reached: set[InputId] = field(default_factory=set)
    undecided: set[InputId] = field(default_factory=set)
    fatal: bool = False

    @property
    def states(self) -> set[str]:
        """The states into which at least one input came."""
        return {id.state for id in self.reached}

    @classmethod
    def of(cls, parts: Sequence[BatchResult], reached: set[InputId]) -> BatchResult:
        """The results of the parts of a batch together, after those that were reached before."""
        left = [item for part in parts for item in part.left]
        return cls(
            left, reached.union(*(p.reached for p in parts)), set().union(*(p.undecided for p in parts))
        )


class BatchRunner:
    """Runs batches against a target that is made ready before each wave."""

    def __init__(
        self, sender: Sender, readiness: Readiness, complaints: Complaints, triage: Triage, rows: ArrowJournal,
        source: Source, progress: Progress, clock: BudgetClock, put_off: PutOff,
    ) -> None:  # fmt: skip
        self._sender, self._readiness = sender, readiness
        self._rows, self._source = rows, source
        self._complaints, self._triage = complaints, triage
        self._progress, self._clock, self._put_off = progress, clock, put_off
        self._last: Batch | None = None
        self._under_way: Batch | None = None
        self._whole: Batch | None = None
        self._behind: list[tuple[Batch, int]] = []
        self._reachable: set[str] = set()
        self.sent: Batch | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be sent."""
        return self._complaints.done or self._clock.is_spent

    @property
    def suspects(self) -> Batch | None:
        """The batch to blame if the target is found dead now; None if nothing was sent yet."""
        return self._under_way or self._last

    @property
    def behind(self) -> list[Batch]:
        """Inputs of cells whose results are still to come, a batch for each cell."""
        return [part for batch, _ in self._behind for part in batch.parts(batch.items)]

    def run(self, batch: Batch) -> BatchResult:
        """Send a batch. What is left of it was not sent: its cells are stopped or wait, or the budget has ended."""
        self._whole, self.sent = batch, None
        for cell in () if batch.whole else batch.cells:
            self._progress.tally.resume(cell.key)
        result = self._waves(batch)
        if self._is_put_off(batch, result):
            for key in self._put_off.add(batch, result.left):
                self._progress.tally.put_off(key)
        elif result.left and result.fatal and len(batch.cells) > 1 and not self.is_over:
            parts = [self._waves(part, first=2) for part in self._parts(batch, result)]
            result = BatchResult.of(parts, result.reached)
        self._put_off_missed(batch, result)
        self._mark(batch, result)
        self.catch_up()
        return result

    def _parts(self, batch: Batch, result: BatchResult) -> list[Batch]:
        """How what is left continues: without the cells that do it, or each cell alone, so that only one is stopped."""
        left = replace(batch, items=result.left)
        rest, waiting = self._put_off.sift(left, self._complaints.ended)
        for key in waiting:
            self._progress.tally.put_off(key)
        return [rest] if waiting and rest.items else list(rest.parts(rest.items))

    def _is_put_off(self, batch: Batch, result: BatchResult) -> bool:
        """Whether what is left waits: the target ended as it was known to. One that has waited does not wait again."""
        return batch.whole and result.fatal and self._complaints.met_known and not self.is_over

    def _put_off_missed(self, batch: Batch, result: BatchResult) -> None:
        """Inputs whose state was not reached, although others were in it, are sent again later."""
        self._reachable |= result.states
        if not (batch.whole and batch.spans) or self.is_over:
            return
        done = result.reached | {item.id for item in result.left}
        if missed := [i for i in batch.items if i.id not in done and i.state in self._reachable]:
            for key in self._put_off.add(batch, missed):
                self._progress.tally.put_off(key)

    def catch_up(self) -> None:
        """Follow deferred suspicions, then make inputs smaller, as long as blame may take time."""
        complaints = self._complaints
        while not (self._clock.is_spent or complaints.unfinished) and (step := complaints.next_step()):
            with self._clock.aside(), complaints.deferred.timed():
                self._sender.finish()
            self._take_belated(None)
            with self._clock.aside():
                step(self._triage)

    def _waves(self, batch: Batch, first: int = 1) -> BatchResult:
        """Send the inputs of a batch until all have been tried or their cell is stopped."""
        result, items = BatchResult(batch.items), batch.items
        for attempt in range(first, first + _WAVES):
            self._wave(replace(batch, items=items), result, attempt)
            undecided = self._sender.undecided if attempt < first + _WAVES_AFTER_DEATHS else []
            once_more = result.states if attempt == 1 else set()
            whole = result.fatal or undecided
            items = [item for item in result.left if whole or item.state in once_more]
            if not items or self.is_over:
                break
            stopped = any(self._progress.tally.is_stopped(cell.key) for cell in batch.cells)
            if result.fatal and (len(batch.cells) > 1 or stopped or self._is_put_off(batch, result)):
                break
        return result

    def _wave(self, wave: Batch, result: BatchResult, attempt: int) -> None:
        """Send once what is left, and update ``result``."""
        revivals = self._triage.revivals
        try:
            with self._clock.aside(lambda: self._triage.revivals != revivals):
                self._readiness.ensure(self._last)
        finally:
            self._leave_gone(revivals)
        self._under_way, self.sent = wave, self._whole
        seen, check = self._sender.send(wave.items, attempt)
        self._progress.check = check
        result.fatal = any(s.oracle in SPOILS for s in check.suspicions)
        tried = [s.result for s in seen if s.result.end is not End.REFUSED]
        waiting = self._expect(wave, attempt)
        # A target that took nothing of this was spoilt by what came before.
        suspects = self._last if self._last is not None and not (tried or waiting) else wave
        if result.fatal or self._concerns(suspects, check):
            with self._clock.aside():
                self._sender.finish()
        revivals = self._triage.revivals
        self._take(suspects, seen, check)
        self._take_belated(check if result.fatal else None)
        self._leave_gone(revivals)
        self._last = wave if tried or waiting else self._last
        self._under_way = None
        # What was in progress to its state when the target went down was not tried yet.
        done = waiting | {one.item.id for one in tried if one.reached or not result.fatal}
        result.reached |= waiting | {one.item.id for one in tried if one.reached}
        result.undecided |= {item.id for item in self._sender.undecided}
        result.left = [item for item in result.left if item.id not in done]

    def _leave_gone(self, revivals: int) -> None:
        """What waits on a target that has been restarted since is only recorded: its end is no answer."""
        if self._triage.revivals != revivals:
            self._sender.finish()
            self._take_belated(_GONE)

    def _take(self, batch: Batch, seen: Sequence[TimedResult], check: Check) -> None:
        """Follow complaints to the end; the rows of the batch are written in any case."""
        try:
            with self._clock.aside():
                self._complaints.take(self._triage, batch, check)
        finally:
            self._write(seen, check)

    def _write(self, seen: Sequence[TimedResult], check: Check) -> None:
        judged = self._complaints.verdicts.of(check, [s.result for s in seen])
        self._rows.write(observations(self._source, seen, judged))

    # --- results that come when the next batch is already in progress

    def finish(self) -> None:
        """Take the results that are still to come; if there is no time, those inputs stay undecided."""
        waiting = len(self._sender.waiting)
        try:
            if not (self._complaints.done or self._clock.is_late):
                self._sender.finish()
        finally:
            self._progress.tally.undecided += waiting - len(self._sender.belated)
        self._take_belated(None)
        self._behind.clear()

    def waiting_of(self, batch: Batch) -> list[FuzzInput]:
        """Inputs of a batch whose results come later."""
        ours = {item.id for item in batch.items}
        return [item for item in self._sender.waiting if item.id in ours]

    def _expect(self, wave: Batch, attempt: int) -> set[InputId]:
        """Inputs of a wave that only wait for the end of a silence: their results come with a later wave."""
        waiting = self.waiting_of(wave)
        if waiting:
            self._behind.append((replace(wave, items=waiting), attempt))
        return {item.id for item in waiting}

    def _concerns(self, batch: Batch, check: Check) -> bool:
        """Whether the target is about to be retried: it must not be restarted under inputs that wait."""
        late = ((behind, self._sender.judged(seen)) for behind, seen in self._belated())
        return any(self._complaints.concerns(*one) for one in [(batch, check), *late])

    def _belated(self) -> list[tuple[Batch, list[TimedResult]]]:
        """Late results, by their batch."""
        found = []
        for batch, attempt in self._behind:
            ids = {item.id for item in batch.items}
            seen = [replace(s, attempt=attempt) for s in self._sender.belated if s.result.item.id in ids]
            found.append((batch, seen))
        return [(batch, seen) for batch, seen in found if seen]

    def _take_belated(self, spoilt: Check | None) -> None:
        """Judge late results; after a crash or a hang (``spoilt``), they are only recorded."""
        found, left = self._belated(), {item.id for item in self._sender.waiting}
        self._sender.belated.clear()
        behind = [
            (replace(b, items=[i for i in b.items if i.id in left]), attempt) for b, attempt in self._behind
        ]
        self._behind = [(batch, attempt) for batch, attempt in behind if batch.items]
        undecided = sum(len(seen) for _, seen in found)
        try:
            for batch, seen in found:
                undecided -= len(seen)
                if spoilt is not None:
                    self._write(seen, spoilt)
                else:
                    self._take(batch, seen, self._sender.judged(seen))
        finally:
            self._progress.tally.undecided += undecided

    def _mark(self, batch: Batch, result: BatchResult) -> None:
        """A cell whose state was never reached is not covered, nor is one of which many inputs were not sent."""
        tally, over, states = self._progress.tally, self.is_over, result.states
        left = {item.id._replace(counter=0) for item in result.left}
        for cell in batch.cells:
            if self._put_off.holds(cell.key):
                continue
            if cell.state not in states and not tally.is_stopped(cell.key) and not (left and over):
                tally.miss(cell.key, f"{cell.state} was not reached")
            else:
                tally.reach(cell.key)
            if cell.state in states and cell.id(0) in left and not tally.is_stopped(cell.key) and not over:
                tally.stop(cell.key, "some of its inputs could not be sent")
