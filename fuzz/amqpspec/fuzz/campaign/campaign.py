"""A campaign: families first, cell by cell, then random mutation until the budget ends; every batch watched and judged.

Knows: when to send, to ask, to blame, and what is written down when. Must not know: sockets, how a finding is shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

from amqpspec.fuzz.campaign.complaints import Complaints
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import CampaignJournal, read_progress
from amqpspec.fuzz.campaign.observations import Seen, Source, observation
from amqpspec.fuzz.campaign.order import BATCH, Order
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.schedule import Batch, Position, Schedule, chosen_cells
from amqpspec.fuzz.campaign.tally import COVERED, STOPPED, UNREACHABLE, Tally
from amqpspec.fuzz.executor.announced import announced
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.loop import now_s
from amqpspec.fuzz.executor.outcome import End
from amqpspec.fuzz.executor.pool import crew, utc_us
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import Cell
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, InputId
from amqpspec.fuzz.oracles.monitor import Check, Monitor
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.findings import Finding, read_finding
from amqpspec.fuzz.triage.triage import TargetLost, Triage
from amqpspec.net.clock import utc_now
from amqpspec.record.arrow_journal import ArrowJournal
from amqpspec.record.journal import JournalError

__all__ = ["BATCH", "Campaign", "Order"]

_WAVES, _WAVES_AFTER_DEATHS = 6, 4
_GONE = {False: (Oracle.CRASH, "the target is gone"), True: (Oracle.HANG, "no answer to a sentinel")}
INTERRUPTED = "stopped"
"""Why a campaign ended that somebody stopped."""


@dataclass(slots=True)
class _Waves:
    """What came of a batch: who reached its state, and what is left."""

    left: Sequence[FuzzInput]
    reached: set[InputId] = field(default_factory=set)
    undecided: set[InputId] = field(default_factory=set)
    fatal: bool = False

    @classmethod
    def of(cls, parts: Sequence[_Waves], reached: set[InputId]) -> _Waves:
        """Those of the parts of a batch together, behind others that were reached before."""
        left = [item for part in parts for item in part.left]
        return cls(
            left, reached.union(*(p.reached for p in parts)), set().union(*(p.undecided for p in parts))
        )


class Campaign:
    """One campaign against one target. ``run`` once."""

    def __init__(self, order: Order) -> None:
        subject = order.subject
        self.restart_failed = ""
        self.order, self.subject = order, replace(subject, restart=subject.restart and self._restart)
        self.cells = chosen_cells(subject.dialect, order.patterns)
        self.tally, self.position = Tally(), Position()
        self.ended, self.note, self.target_lost = "", "", False
        kept = self._kept() if order.resume else None
        self.energy = Energy(subject.dialect, kept and kept["energy"], order.origins)
        self._suite_version = version("amqpspec")
        self.id, self.started = f"fuzz-{secrets.token_hex(6)}", utc_now()
        self.product, self.target_version = "", ""
        if kept:
            self.tally = Tally.from_json(kept["tally"])
            self.position = Position(**kept["position"])
            self.id, self.started = kept.get("run", self.id), kept.get("started", self.started)
        self._begun_s = now_s()
        self._before_s, self._trials_before = self.tally.seconds_s, self.tally.trials
        self._journal, self._rows = CampaignJournal(order.out), ArrowJournal(order.out)
        self._monitor = Monitor(self.subject)
        self.pace = Pace(order.batch, self._monitor.usual.cpu_s)
        self._schedule = Schedule(
            subject.dialect, self.cells, self.position, lambda: self.pace.size, self._is_stopped,
            self.energy.weights, order.seed, order.shard, order.mutate, order.corpus,
        )  # fmt: skip
        self._complaints = Complaints(
            order,
            self.subject,
            self.tally,
            self.energy,
            self.pace,
            self._journal,
            lambda: self._seconds_s,
            kept,
        )
        self._sent: Batch | None = None
        self.check = Check(())

    def _kept(self) -> dict[str, Any]:
        kept = read_progress(self.order.out)
        if kept["plan"] != self.order.plan:
            raise JournalError(
                f"{self.order.out}: expected a campaign of {kept['plan']}, actual order {self.order.plan}"
            )
        return kept

    # --- the whole

    def run(self) -> Campaign:
        """Run until the budget ends. Raises Unanswered where the target is not there to begin with, JournalError."""
        with ExitStack() as stack:
            stack.callback(self._journal.close)
            self._tempo = Tempo.of(self.subject.round_trip_s(), self.subject.patience, self.subject.hang_s)
            self.product, self.target_version = announced(self.subject)
            self._triage = Triage(self.subject, self._monitor, self._tempo)
            self._executor = crew(self.subject, self._tempo, self.order.workers)
            for close in (self._rows.close, self._executor.close, self._monitor.close, self._end):
                stack.callback(close)
            self._journal.line("campaign", **self._manifest(), resumed=self.order.resume)
            try:
                self._batches()
            except (TargetLost, Unanswered) as lost:
                self.ended, self.target_lost = self._lost(lost), True
            except KeyboardInterrupt:
                self.ended = INTERRUPTED
            except OSError as error:
                self.ended = str(error)
                raise
        return self

    def _batches(self) -> None:
        while (batch := self._schedule.next()) is not None:
            if not batch.items or self._one(batch):
                self._after(batch)
            if self._over:
                break
        self.ended = "budget spent" if self._spent and batch is not None else "all done"

    def _after(self, batch: Batch) -> None:
        for span in batch.spans:
            if span.ends:
                self.tally.cells.setdefault(span.cell.key, (COVERED, ""))
        self.position = self._schedule.position = batch.after

    def _end(self) -> None:
        self.tally.seconds_s = self._seconds_s
        self._stand()
        self._journal.line(
            "end", why=self.ended, inputs=self.tally.inputs, findings=len(self._complaints.signatures)
        )

    def _lost(self, lost: Exception) -> str:
        return f"{lost} (its restart failed: {self.restart_failed})" if self.restart_failed else str(lost)

    @property
    def findings(self) -> list[Finding]:
        """What was found since this part of the campaign began."""
        return self._complaints.findings

    @property
    def _seconds_s(self) -> float:
        return self._before_s + now_s() - self._begun_s

    @property
    def _spent(self) -> bool:
        return now_s() - self._begun_s >= self.order.budget_s

    @property
    def _over(self) -> bool:
        return self._complaints.done or self._spent

    def _manifest(self) -> dict[str, Any]:
        """Everything that a reader of the rows has to know of the campaign."""
        return {
            "run": self.id, "started": self.started, "recorded": utc_now(), "plan": self.order.plan,
            "target": self.subject.name, "url": self.subject.url, "product": self.product,
            "version": self.target_version, "suite_version": self._suite_version, "workers": self.order.workers,
        }  # fmt: skip

    def _restart(self) -> None:
        """The hook of the target; why it failed is kept, for whoever asks for it only learns that it did."""
        assert self.order.subject.restart is not None
        try:
            self.order.subject.restart()
        except Exception as error:
            self.restart_failed = " ".join(str(error).split()) or type(error).__name__
            self._journal.line("restart failed", why=self.restart_failed)
            raise OSError(self.restart_failed) from error
        self.restart_failed = ""

    # --- one batch

    def _one(self, batch: Batch) -> bool:
        """Send a batch, as often as the target's ends ask for; False where the budget ended before it did."""
        self._stand()
        begun_s, before = now_s(), self._complaints.of_a_whole
        self._journal.line("batch", inputs=len(batch.items), **batch.names)
        came = self._waves(batch)
        if came.left and came.fatal and len(batch.cells) > 1 and not self._over:
            # Which cell spoils the target is not known: each goes on alone, so that only that one is stopped.
            parts = [self._waves(part, first=2) for part in batch.parts(came.left)]
            came = _Waves.of(parts, came.reached)
        self._cells_reached(batch, came)
        left = [str(item.id) for item in came.left]
        self.tally.undecided += len({str(id) for id in came.undecided}.intersection(left))
        self._journal.line("done", inputs=len(batch.items) - len(left), left=left)
        self.tally.seconds_s = self._seconds_s
        if self._complaints.of_a_whole == before:
            self.pace.clean(len(batch.items), now_s() - begun_s)
        self.order.told(self)
        return not (came.left and self._over)

    def _waves(self, batch: Batch, first: int = 1) -> _Waves:
        """Inputs of a batch until all have had their turn, or their cell is stopped."""
        came = _Waves(batch.items)
        for attempt in range(first, first + _WAVES):
            seen, check = self._wave(came.left, attempt)
            came.fatal = any(s.oracle in SPOILS for s in check.suspicions)
            tried = [s.outcome for s in seen if s.outcome.end is not End.REFUSED]
            # A target that took nothing of this was spoilt by what came before.
            suspects = self._sent if self._sent is not None and not tried else replace(batch, items=came.left)
            try:
                self._complaints.take(self._triage, suspects, check)
            finally:
                self._observe(seen, check)
            self._sent = replace(batch, items=came.left) if tried else self._sent
            # What was under way to its state when the target went down was not tried yet.
            done = {outcome.item.id for outcome in tried if outcome.reached or not came.fatal}
            came.reached |= {outcome.item.id for outcome in tried if outcome.reached}
            undecided = self._executor.undecided if attempt < first + _WAVES_AFTER_DEATHS else []
            came.undecided |= {item.id for item in self._executor.undecided}
            came.left = [item for item in came.left if item.id not in done]
            again = came.fatal or undecided or (attempt == 1 and came.reached)
            if not (came.left and again) or self._over:
                break
            if came.fatal and (len(batch.cells) > 1 or any(map(self._is_stopped, batch.cells))):
                break
        return came

    def _wave(self, items: Sequence[FuzzInput], attempt: int) -> tuple[list[Seen], Check]:
        self._ready()
        crew = self._executor
        try:
            seen = [Seen(outcome, utc_us(), crew.worker, attempt) for outcome in crew.run(items)]
        finally:
            self._deaths()
        self.check = self._monitor.after([s.outcome for s in seen])
        self._count(seen)
        return seen, self.check

    def _ready(self) -> None:
        """Before a batch: a target that has gone since the last one was asked about is a complaint of that one.

        One on its way out may greet once more, and be gone when canaries are placed. Raises TargetLost.
        """
        told = self._unready()
        if told is not None and self.subject.awake(self._monitor.hang_s):
            told = self._unready()
        if told is not None:
            self._gone(told)
            told = self._unready()
        if told is not None:
            self._triage.revive()
            told = self._unready()
        if told is not None:
            raise TargetLost(f"{self.subject.name}: {told}")

    def _unready(self) -> Unanswered | None:
        """Why the target cannot be measured now, if it cannot."""
        try:
            self._monitor.before()
        except Unanswered as unanswered:
            self._monitor.forget()
            return unanswered
        if self._monitor.note != self.note:
            self.note = self._monitor.note
            self._journal.line("note", text=self.note)
        return None

    def _gone(self, told: Unanswered) -> None:
        oracle, top = _GONE[told.silent]
        if self._sent is None:
            self._triage.revive()
            return
        late = Suspicion(oracle, top, f"after the batch had been seen to: {told}")
        self._complaints.take(self._triage, self._sent, Check((late,)))

    def _deaths(self) -> None:
        """Workers that died: said, whatever becomes of their inputs."""
        for death in self._executor.deaths:
            self.tally.workers_lost += 1
            self._journal.line(
                "worker", number=death.worker, ended=death.how, unfinished=death.unfinished, again=death.again
            )
        self._executor.deaths.clear()

    def _count(self, seen: Sequence[Seen]) -> None:
        outcomes = [s.outcome for s in seen if s.outcome.end is not End.REFUSED]
        self.tally.inputs += len(outcomes)
        self.tally.reached += sum(outcome.reached for outcome in outcomes)
        self.tally.random += sum(outcome.item.id.family == RANDOM for outcome in outcomes)
        self.tally.reactions.update(o.reaction if o.reached else "state not reached" for o in outcomes)
        self.energy.learn(outcomes)

    def _cells_reached(self, batch: Batch, came: _Waves) -> None:
        """A cell of a state into which nobody came is not covered; nor is one of which much was never sent."""
        left = {item.id._replace(counter=0) for item in came.left}
        for cell in batch.cells:
            state, _ = self.tally.cells.get(cell.key, ("", ""))
            if not came.reached and state != STOPPED and not (left and self._over):
                self.tally.cells[cell.key] = (UNREACHABLE, f"{cell.state} was not reached")
            elif state == UNREACHABLE:
                del self.tally.cells[cell.key]
            if came.reached and cell.id(0) in left and state != STOPPED and not self._over:
                self.tally.stop(cell.key, "some of its inputs could not be sent")

    def _is_stopped(self, cell: Cell) -> bool:
        return self.tally.cells.get(cell.key, ("",))[0] == STOPPED

    # --- rows

    def _observe(self, seen: Sequence[Seen], check: Check) -> None:
        """One row for each input that was sent."""
        source = Source(
            self.id, self.subject.name, self.product, self.target_version, self._suite_version,
            self.order.plan["grammar"], self.subject.dialect,
        )  # fmt: skip
        judged = self._complaints.verdicts.of(check, [s.outcome for s in seen])
        self._rows.write([
            observation(source, one, how)
            for one, how in zip(seen, judged, strict=True) if one.outcome.end is not End.REFUSED
        ])  # fmt: skip

    def _stand(self) -> None:
        self.tally.trials = self._trials_before + self._triage.trials
        self._journal.stand({
            "plan": self.order.plan, "run": self.id, "started": self.started,
            "position": self.position.to_json(), "tally": self.tally.to_json(),
            "energy": self.energy.to_json(), **self._complaints.to_json(),
        })  # fmt: skip

    # --- what came of it

    def summary(self) -> dict[str, Any]:
        """The campaign in figures; findings are those in the folder, earlier parts of a resumed one included."""
        return {
            **self.order.plan, "run": self.id, "started": self.started, "product": self.product,
            "version": self.target_version, "ended": self.ended, "workers": self.order.workers,
            "response_states": len(self.energy.seen), **self.tally.figures(len(self.cells)),
            "unblamed": self._complaints.limit.repeats, "note": self.note, "url": self.subject.url,
            "suite_version": self._suite_version, "reactions": dict(self.tally.reactions),
            "cell_states": self.tally.states(((c.key, c.counted) for c in self.cells), self.ended),
            "findings": [
                dict(read_finding(self.order.out / "findings" / name)) for name in self._complaints.signatures.values()
            ],
        }  # fmt: skip
