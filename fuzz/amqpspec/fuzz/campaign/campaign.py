"""A campaign: a few inputs of every cell, then the rest, random ones between; every batch watched and judged.

Knows: the order in which its parts are called, and what is recorded when. Must not know: sockets, how a batch is
run, how a finding is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

from amqpspec.fuzz.campaign.batches import BatchRunner
from amqpspec.fuzz.campaign.checkpoint import Checkpoint
from amqpspec.fuzz.campaign.clock import BudgetClock, TimeUp
from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.lessons import Lessons
from amqpspec.fuzz.campaign.observations import Source
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.put_off import PutOff
from amqpspec.fuzz.campaign.readiness import Readiness
from amqpspec.fuzz.campaign.report import by_cause
from amqpspec.fuzz.campaign.schedule import (
    Batch,
    Schedule,
    cell_by_cell,
    chosen_cells,
    legs,
    states_before_login,
)
from amqpspec.fuzz.campaign.sender import Sender
from amqpspec.fuzz.campaign.tally import COVERED
from amqpspec.fuzz.campaign.target import TargetAccess
from amqpspec.fuzz.coverage.coverage import CoverageWatch
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.triage.findings import read_finding
from amqpspec.fuzz.triage.triage import OutOfTime, TargetLost
from amqpspec.net.clock import utc_now
from amqpspec.record.arrow_journal import ArrowJournal

INTERRUPTED, SPENT = "stopped", "budget spent"
"""Why a campaign ended: it was stopped, or its time was up."""
RANDOM_SHARE = 0.2
"""How much of the time random mutation has as long as there are cells left."""
_GLANCE_S = 3.0
"""How long a target has to answer when a campaign is cut off."""


class Campaign:
    """One campaign against one target. ``run`` it once; ``ended`` says why it ended."""

    def __init__(self, order: CampaignOrder) -> None:
        self.order, self.checkpoint = order, Checkpoint.of(order)
        tally, energy = self.checkpoint.tally, self.checkpoint.energy
        self._clock = BudgetClock(order.budget_s, tally.seconds_s, tally.aside_s, order.restart_s)
        self._journal, self._rows = CampaignJournal(order.out), ArrowJournal(order.out)
        self._target = TargetAccess(order.subject, self._journal, self._clock)
        subject = self._target.subject
        self.pace = Pace(order.batch, self._target.monitor.usual.cpu_s)
        saved = self.checkpoint.complaints
        self._store = FindingStore(order.out, subject, self._journal, lambda: self._clock.seconds_s, saved)
        self._put_off = PutOff(order.subject.dialect, saved.get("put_off", ()) if saved else ())
        self._complaints = Complaints(order, self._store, tally, energy, self.pace, self._journal, saved)
        self.progress = Progress(
            subject, chosen_cells(subject.dialect, order.patterns), tally, energy, self._store.found
        )
        self._coverage = CoverageWatch(order.coverage) if order.coverage is not None else None
        self._behind: Callable[[], list[Batch]] = list
        self.ended, self.note, self.target_lost = "", "", False

    # --- the whole

    def run(self) -> Campaign:
        """Run until the budget ends. Raises Unanswered if the target does not answer at the beginning, JournalError.

        Raises CoverageError if the coverage channel does not answer at the beginning.
        """
        with ExitStack() as stack:
            stack.callback(self._journal.close)
            self._target.open(stack, self.order.workers, self.checkpoint.tally.trials)
            if self._coverage is not None:
                self._coverage.begin()
            stack.callback(self._rows.close)
            readiness = Readiness(self._target, self._complaints, self._journal)
            stack.callback(self._end, readiness)
            runner = self._runner(readiness)
            self._journal.line("campaign", **self._manifest(), resumed=self.order.resume)
            try:
                with self._clock.alarmed():
                    self._whole(runner)
            except (TargetLost, Unanswered) as lost:
                self.ended, self.target_lost = self._target.why(lost), True
                self._go_around(runner)
                self._look_for_return(runner)
            except KeyboardInterrupt as how:
                self.ended = SPENT if isinstance(how, TimeUp) else INTERRUPTED
                self._look_once_more(runner)
                self._look_for_return(runner)
            except OSError as error:
                self.ended = str(error)
                raise
        return self

    def _whole(self, runner: BatchRunner) -> None:
        """All batches, then a restart of the target, if there is time for it. Raises TargetLost, TimeUp."""
        try:
            self._batches(runner)
        except OutOfTime:
            self.ended = SPENT
        if self.order.restart_s and runner.suspects is not None:
            with self._clock.aside():
                self._target.restart()

    def _go_around(self, runner: BatchRunner) -> None:
        """After a resume, a target that no one can restart is not sent the same batch again."""
        batch = runner.sent
        if batch is not None and self._target.subject.restart is None:
            caution = self.checkpoint.caution
            caution.killed((str(item.id) for item in batch.items), random=not batch.spans)
            self._journal.line("killing", inputs=len(batch.items), next=caution.size, **batch.names)

    def _look_once_more(self, runner: BatchRunner) -> None:
        """The batch that was in progress when the campaign was cut off may have ended the target, or filled its log.

        A target that is being restarted is gone because of that.
        """
        suspects = runner.suspects
        if suspects is not None and not (self._complaints.unfinished or self._target.is_restarting):
            self._complaints.leave(suspects, self._target.monitor.glance(_GLANCE_S))

    def _look_for_return(self, runner: BatchRunner) -> None:
        """A target that was restarted may refuse everything, because of what it stored before."""
        suspects = runner.suspects
        if suspects is not None and self._target.is_away:
            self._complaints.leave(suspects, self._target.monitor.absence(_GLANCE_S), once_more=False)

    def _runner(self, readiness: Readiness) -> BatchRunner:
        tally = self.checkpoint.tally
        sender = Sender(
            self._target.workers, self._target.monitor, tally, self._lessons(), self._journal, self._clock
        )
        runner = BatchRunner(
            sender, readiness, self._complaints, self._target.triage, self._rows, self._source(), self.progress,
            self._clock, self._put_off,
        )  # fmt: skip
        self._behind = lambda: runner.behind
        return runner

    def _lessons(self) -> Lessons:
        known, watch = self.checkpoint, self._coverage
        news = watch.news if watch is not None else lambda: 0
        return Lessons(known.energy, known.expectation, known.kept, news, lambda: known.caution.left > 0)

    def _batches(self, runner: BatchRunner) -> None:
        order, checkpoint, dialect = self.order, self.checkpoint, self.order.subject.dialect
        cells, early = self.progress.cells, states_before_login(dialect)
        way = cell_by_cell(cells) if order.cell_by_cell else legs(cells, early, order.shard[1])
        schedule = Schedule(
            dialect, way, checkpoint.position, lambda: checkpoint.caution.limited(self.pace.size),
            lambda cell: checkpoint.tally.is_stopped(cell.key), checkpoint.energy.weights, order.seed, order.shard,
            order.mutate, checkpoint.kept.octets, checkpoint.caution.avoided,
            lambda: not self._complaints.is_confused, lambda cell: self._put_off.holds(cell.key),
            checkpoint.expectation,
        )  # fmt: skip
        self._target.workers.spare.work = schedule.prepare
        while (batch := self._next(schedule)) is not None:
            self._complaints.deferred.is_broad = order.cell_by_cell or schedule.is_broad
            if not batch.items or self._one(runner, batch):
                self._cover(batch)
                checkpoint.position = schedule.position = batch.after
            if runner.is_over or self._complaints.unfinished:
                break
        self._complaints.deferred.is_closing = True
        runner.catch_up()
        runner.finish()
        late = self._complaints.unfinished or (self._clock.is_spent and batch is not None)
        self.ended = SPENT if late else "all done"

    def _next(self, schedule: Schedule) -> Batch | None:
        """The next batch; what was put off comes when nothing else is left of the cells."""
        waited = None
        if schedule.is_behind_cells and not self.checkpoint.caution.left:
            waited = self._put_off.next(schedule.position, self.checkpoint.tally.is_stopped)
        batch = waited or schedule.next(random=self._is_randoms_turn)
        if batch is None:
            return None
        rest, waiting = self._put_off.sift(batch, self._complaints.ended)
        for key in waiting:
            self.checkpoint.tally.put_off(key)
        return rest

    @property
    def _is_randoms_turn(self) -> bool:
        """Random inputs get their share of the time from the start; suspects go first."""
        tally, caution = self.checkpoint.tally, self.checkpoint.caution
        if caution.left:
            return caution.random
        sending_s = tally.seconds_s - tally.aside_s
        return not self.order.cell_by_cell and tally.random_s < RANDOM_SHARE * sending_s

    def _one(self, runner: BatchRunner, batch: Batch) -> bool:
        """Run a batch; returns False if the budget ended before it did."""
        self._write_checkpoint()
        tally, begun_s, before = self.checkpoint.tally, now_s(), self._complaints.of_a_whole
        before_s = self._clock.aside_s
        self._journal.line("batch", inputs=len(batch.items), **batch.names)
        result = runner.run(batch)
        self.checkpoint.caution.survived(len(batch.items))
        left = [str(item.id) for item in result.left]
        tally.undecided += len({str(id) for id in result.undecided}.intersection(left))
        waiting = [str(item.id) for item in runner.waiting_of(batch)]
        self._journal.line("done", inputs=len(batch.items) - len(left), left=left, waiting=waiting)
        tally.seconds_s, tally.aside_s = self._clock.seconds_s, self._clock.aside_s
        took_s = now_s() - begun_s - (tally.aside_s - before_s)
        tally.random_s += took_s if not batch.spans else 0.0
        if self._complaints.of_a_whole == before:
            self.pace.clean(len(batch.items), took_s)
        self.order.notify(self.progress)
        return not ((result.left and runner.is_over) or self._complaints.unfinished)

    def _cover(self, batch: Batch) -> None:
        for key in (span.cell.key for span in batch.spans if span.ends):
            if self._put_off.holds(key):
                self._put_off.end(key)
            else:
                self.checkpoint.tally.cells.setdefault(key, (COVERED, ""))

    def _end(self, readiness: Readiness) -> None:
        self._complaints.leave_deferred()
        covered = self._coverage.note if self._coverage is not None else ""
        self.note = "; ".join(filter(None, (readiness.note, covered)))
        tally = self.checkpoint.tally
        tally.seconds_s, tally.aside_s = self._clock.seconds_s, self._clock.aside_s
        self._write_checkpoint()
        inputs, findings = self.checkpoint.tally.inputs, len(self._store.signatures)
        self._journal.line("end", why=self.ended, inputs=inputs, findings=findings)

    @property
    def trials(self) -> int:
        """How many times inputs were retried to find out who is to blame."""
        return self._target.triage.trials

    # --- what is written down

    def _source(self) -> Source:
        subject = self.order.subject
        return Source(
            self.checkpoint.run, subject.name, *self._target.announced, version("amqpspec"), self.order.plan["grammar"],
            subject.dialect,
        )  # fmt: skip

    def _manifest(self) -> dict[str, Any]:
        """Everything that a reader of the rows needs to know about the campaign."""
        subject, (product, target_version) = self.order.subject, self._target.announced
        return {
            "run": self.checkpoint.run, "started": self.checkpoint.started, "recorded": utc_now(),
            "plan": self.order.plan, "target": subject.name, "url": subject.url, "product": product,
            "version": target_version, "suite_version": version("amqpspec"), "workers": self.order.workers,
        }  # fmt: skip

    def _write_checkpoint(self) -> None:
        self.checkpoint.tally.trials = self._target.triage.trials
        put_off = {"put_off": self._put_off.to_json(self._behind())}
        self._journal.write_checkpoint(self.checkpoint.to_json() | self._complaints.to_json() | put_off)

    def summary(self) -> dict[str, Any]:
        """The campaign in figures; its findings are those in the folder, including earlier parts of a resumed
        campaign.
        """
        tally, (product, target_version) = self.checkpoint.tally, self._target.announced
        cells = self.progress.cells
        folders = [self.order.out / "findings" / name for name in self._store.signatures.values()]
        found = [dict(read_finding(folder)) for folder in folders]
        return {
            **self.order.plan, "run": self.checkpoint.run, "started": self.checkpoint.started, "product": product,
            "version": target_version, "ended": self.ended, "workers": self.order.workers,
            "response_states": len(self.checkpoint.energy.seen), "kept_inputs": len(self.checkpoint.kept.entries),
            **({"covered_probes": self._coverage.probes} if self._coverage is not None else {}),
            **tally.figures(len(cells)),
            "unblamed": self._complaints.limit.repeats, "note": self.note, "url": self.order.subject.url,
            "suite_version": version("amqpspec"), "reactions": dict(tally.reactions),
            "cell_states": tally.states(((c.key, c.counted) for c in cells), self.ended),
            "findings": found, "causes": by_cause(found),
        }  # fmt: skip
