"""A campaign: families first, cell by cell, then random mutation until the budget ends; every batch watched and judged.

Knows: the order of inputs, the journal, when to blame. Must not know: sockets, how a finding is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fuzz.catalogue import Cell, FuzzInput, cells
from fuzz.energy import Energy
from fuzz.executor.client import Unanswered
from fuzz.executor.conversation import Tempo
from fuzz.executor.loop import now_s
from fuzz.executor.outcome import End, Outcome
from fuzz.executor.subject import Subject
from fuzz.findings import Finding, read_finding, signature_of, write_finding
from fuzz.grammar import grammar_hash
from fuzz.identity import RANDOM
from fuzz.journal import CampaignJournal, read_progress
from fuzz.mutation import random_id, random_input
from fuzz.oracles.monitor import Check, Monitor
from fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from fuzz.tally import COVERED, STOPPED, UNREACHABLE, Tally
from fuzz.triage import NOISY, Blame, Status, TargetLost, Triage
from harness.record.journal import JournalError

BATCH = 128
_WAVES = 6
_RANDOM_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted. ``patterns`` choose cells by glob (``C04/*/channel``); ``shard`` is (i, n), i from 1."""

    subject: Subject
    out: Path
    budget_s: float = 600.0
    seed: int = 1
    shard: tuple[int, int] = (1, 1)
    patterns: tuple[str, ...] = ()
    mutate: bool = True
    batch: int = BATCH
    resume: bool = False
    smaller: bool = True
    stop_when: Callable[[Finding], bool] = lambda finding: False
    told: Callable[[Campaign], None] = lambda campaign: None

    @property
    def plan(self) -> dict[str, Any]:
        """What a resumed campaign has to have in common with its beginning."""
        return {
            "dialect": self.subject.dialect, "grammar": grammar_hash(self.subject.dialect), "seed": self.seed,
            "shard": list(self.shard), "cells": list(self.patterns), "target": self.subject.name,
        }  # fmt: skip


@dataclass(slots=True)
class Position:
    """Where the next batch begins: a number in a cell, or a counter of random inputs behind all cells."""

    cell: int = 0
    number: int = 0
    counter: int = 0


@dataclass(slots=True)
class _Batch:
    """Inputs that go together, and the cell that they are of."""

    items: Sequence[FuzzInput]
    cell: Cell | None
    position: Position = field(default_factory=Position)

    @property
    def place(self) -> tuple[str, str]:
        """Family and state, as far as all have them in common."""
        return (self.cell.family, self.cell.state) if self.cell else (RANDOM, "")


class Campaign:
    """One campaign against one target. ``run`` once."""

    def __init__(self, order: Order) -> None:
        self.order, self.subject = order, order.subject
        self.cells = chosen_cells(self.subject.dialect, order.patterns)
        self.tally, self.position = Tally(), Position()
        self.findings: list[Finding] = []
        self.ended, self.target_lost = "", False
        kept = self._kept() if order.resume else None
        self.energy = Energy(self.subject.dialect, kept and kept["energy"])
        self._known: Counter[tuple[str, ...]] = Counter()
        self._signatures: dict[str, str] = kept["signatures"] if kept else {}
        if kept:
            self.tally = Tally.from_json(kept["tally"])
            self.position = Position(**kept["position"])
            self._known.update({tuple(key): count for key, count in kept["known"]})
        self._begun_s = now_s()
        self._before_s = self.tally.seconds_s
        self._journal = CampaignJournal(order.out)
        self._monitor = Monitor(self.subject)
        self._tempo = Tempo()
        self._done = False

    def _kept(self) -> dict[str, Any]:
        kept = read_progress(self.order.out)
        if kept["plan"] != self.order.plan:
            raise JournalError(
                f"{self.order.out}: expected a campaign of {kept['plan']}, actual order {self.order.plan}"
            )
        return kept

    # --- the whole

    def run(self) -> Campaign:
        """Run until the budget ends. Raises Unanswered where the target is not there to begin with."""
        self._tempo = Tempo.of(self.subject.round_trip_s(), self.subject.patience, self.subject.hang_s)
        self._triage = Triage(self.subject, self._monitor, self._tempo)
        self._executor = self.subject.executor(self._tempo)
        self._journal.line("campaign", plan=self.order.plan, resumed=self.order.resume)
        try:
            for batch in self._batches():
                self._one(batch)
                if self._done or self._spent:
                    break
            self.ended = self.ended or ("budget spent" if self._spent else "all done")
        except TargetLost as lost:
            self.ended, self.target_lost = str(lost), True
        except KeyboardInterrupt:
            self.ended = "stopped"
        finally:
            self._close()
        return self

    def _close(self) -> None:
        self.tally.trials = self._triage.trials
        self.tally.seconds_s = self._seconds_s
        self._stand()
        self._journal.line("end", why=self.ended, inputs=self.tally.inputs, findings=len(self.findings))
        self._journal.close()
        self._executor.close()
        self._monitor.close()

    @property
    def _seconds_s(self) -> float:
        return self._before_s + now_s() - self._begun_s

    @property
    def _spent(self) -> bool:
        return now_s() - self._begun_s >= self.order.budget_s

    # --- what comes next

    def _batches(self) -> Iterator[_Batch]:
        while self.position.cell < len(self.cells):
            cell = self.cells[self.position.cell]
            yield from self._of_cell(cell)
            self.tally.cells.setdefault(cell.key, (COVERED, ""))
            self.position.cell, self.position.number = self.position.cell + 1, 0
        while self.order.mutate:
            yield self._at_random()

    def _of_cell(self, cell: Cell) -> Iterator[_Batch]:
        index, shards = self.order.shard
        while self.position.number < cell.inputs:
            if self.tally.cells.get(cell.key, ("",))[0] == STOPPED:
                return
            first = self.position.number
            stop = min(cell.inputs, first + self.order.batch * shards)
            items = [cell.input(n) for n in range(first, stop) if n % shards == index - 1]
            if items:
                yield _Batch(items, cell)
            self.position.number = stop

    def _at_random(self) -> _Batch:
        index, shards = self.order.shard
        dialect, seed = self.subject.dialect, self.order.seed
        items = []
        for step in range(self.order.batch):
            counter = (self.position.counter + step) * shards + index - 1
            items.append(random_input(dialect, random_id(dialect, seed, counter, self.energy.weights)))
        # What is written down before the batch is sent points at its beginning.
        batch = _Batch([item for item in items if item.octets], None)
        self._next_counter = self.position.counter + self.order.batch
        return batch

    # --- one batch

    def _one(self, batch: _Batch) -> None:
        self._stand()
        ids = [str(item.id) for item in batch.items]
        shown = {"ids": ids} if batch.cell is None else {"first": ids[0], "last": ids[-1]}
        self._journal.line("batch", inputs=len(ids), **shown)
        reached: list[Outcome] = []
        left: Sequence[FuzzInput] = batch.items
        for _ in range(_WAVES):
            outcomes, check = self._wave(left)
            reached += [outcome for outcome in outcomes if outcome.reached]
            fatal = any(s.oracle in SPOILS for s in check.suspicions)
            self._handle(left, batch, check)
            # What was under way to its state when the target went down was not tried yet.
            done = {outcome.item.id for outcome in outcomes if outcome.reached or not fatal}
            left = [item for item in left if item.id not in done]
            if not left or not fatal or self._is_stopped(batch) or self._done or self._spent:
                break
        self._cell_reached(batch, reached, len(batch.items) - len(left))
        if batch.cell is None:
            self.position.counter = self._next_counter
        self._journal.line("done", inputs=len(ids) - len(left), left=[str(item.id) for item in left])
        self.tally.seconds_s = self._seconds_s
        self.order.told(self)

    def _wave(self, items: Sequence[FuzzInput]) -> tuple[list[Outcome], Check]:
        try:
            self._monitor.before()
        except Unanswered:
            self._triage.revive()
            self._monitor.before()
        outcomes = list(self._executor.run(items))
        check = self._monitor.after(outcomes)
        self._count(outcomes)
        return outcomes, check

    def _count(self, outcomes: Sequence[Outcome]) -> None:
        outcomes = [outcome for outcome in outcomes if outcome.end is not End.REFUSED]
        self.tally.inputs += len(outcomes)
        self.tally.reached += sum(outcome.reached for outcome in outcomes)
        self.tally.random += sum(outcome.item.id.family == RANDOM for outcome in outcomes)
        self.tally.reactions.update(o.reaction if o.reached else "state not reached" for o in outcomes)
        self.energy.learn(outcomes)

    def _cell_reached(self, batch: _Batch, reached: Sequence[Outcome], executed: int) -> None:
        if batch.cell is not None and executed and not reached and not self._is_stopped(batch):
            self.tally.cells[batch.cell.key] = (UNREACHABLE, f"{batch.cell.state} was not reached")

    def _is_stopped(self, batch: _Batch) -> bool:
        return batch.cell is not None and self.tally.cells.get(batch.cell.key, ("",))[0] == STOPPED

    # --- suspicions

    def _handle(self, items: Sequence[FuzzInput], batch: _Batch, check: Check) -> None:
        """The worst complaint about the whole, which may explain the others, and each kind of deviation once."""
        whole = [s for s in check.suspicions if s.oracle is not Oracle.CONFORMANCE]
        if whole:
            self._suspect(items, batch, whole[0])
        by_top: dict[str, Suspicion] = {}
        for suspicion in check.suspicions:
            if suspicion.oracle is Oracle.CONFORMANCE:
                requirement = suspicion.top.partition(":")[0]
                if requirement in self.subject.known:
                    self.tally.suppressed[requirement] += 1
                elif by_top.setdefault(suspicion.top, suspicion) is not suspicion:
                    self.tally.repeats += 1
        for suspicion in by_top.values():
            if not self._done:
                self._suspect(items, batch, suspicion)

    def _suspect(self, items: Sequence[FuzzInput], batch: _Batch, seen: Suspicion) -> None:
        key = (*batch.place, str(seen.oracle), seen.top)
        limit = 1 if batch.cell is not None else _RANDOM_REPEATS
        if self._known[key] >= limit:
            self.tally.repeats += 1
            if seen.oracle in SPOILS:
                self._stop_cell(batch, f"{seen.oracle} again: {seen.top}")
                self._triage.revive()
            return
        try:
            blame = self._triage.blame(items, seen)
            if self.order.smaller:
                blame = self._triage.smaller(blame)
        except TargetLost:
            self._found(items, batch, key, Blame(Status.LOST, seen))
            raise
        if (blame.status is Status.LOST or blame.item is None) and seen.oracle in NOISY:
            self.tally.unconfirmed += 1
            self._journal.line("unconfirmed", oracle=seen.oracle, top=seen.top, detail=seen.detail)
            return
        self._found(items, batch, key, blame)

    def _found(self, items: Sequence[FuzzInput], batch: _Batch, key: tuple[str, ...], blame: Blame) -> None:
        self._known[key] += 1
        item, seen = blame.item, blame.suspicion
        family, state = batch.place
        if item is not None:
            family, state = item.id.family, item.state
            if item.id.family == RANDOM and seen.oracle in SPOILS:
                self.energy.mute((item.id.role, item.state))
        signature = signature_of(seen.oracle, seen.top, family, state)
        if signature in self._signatures:
            self.tally.repeats += 1
            return
        suspects = () if item is not None else tuple(str(i.id) for i in items)
        finding = Finding(
            signature,
            blame.status,
            seen,
            self.subject.dialect,
            family,
            state,
            item,
            suspects,
            self._seconds_s,
        )
        place = write_finding(self.order.out, finding, blame, self.subject)
        self._signatures[signature] = place.name
        self.findings.append(finding)
        self._journal.line("finding", folder=place.name, **finding.to_json())
        if self.order.stop_when(finding):
            self._done = True

    def _stop_cell(self, batch: _Batch, why: str) -> None:
        if batch.cell is not None:
            self.tally.cells[batch.cell.key] = (STOPPED, why)

    def _stand(self) -> None:
        self._journal.stand({
            "plan": self.order.plan,
            "position": {
                "cell": self.position.cell, "number": self.position.number, "counter": self.position.counter,
            },
            "tally": self.tally.to_json(), "energy": self.energy.to_json(), "signatures": self._signatures,
            "known": [[list(key), count] for key, count in self._known.items()],
        })  # fmt: skip

    # --- what came of it

    def summary(self) -> dict[str, Any]:
        """The campaign in figures; findings are those in the folder, earlier parts of a resumed one included."""
        stand = Counter(state for state, _ in self.tally.cells.values())
        tally, seconds_s = self.tally, self.tally.seconds_s
        return {
            **self.order.plan, "ended": self.ended, "inputs": tally.inputs, "random": tally.random,
            "reached": tally.reached, "seconds": round(seconds_s, 1),
            "rate_per_s": round(tally.inputs / seconds_s, 1) if seconds_s else 0.0,
            "cells_planned": len(self.cells), "covered": stand[COVERED], "not_reachable": stand[UNREACHABLE],
            "stopped": stand[STOPPED], "open": len(self.cells) - sum(stand.values()),
            "cells_not_covered": {k: f"{s}: {w}" for k, (s, w) in tally.cells.items() if s != COVERED},
            "response_states": len(self.energy.seen), "suppressed": dict(tally.suppressed),
            "repeats": tally.repeats, "unconfirmed": tally.unconfirmed, "trials": tally.trials,
            "findings": [
                dict(read_finding(self.order.out / "findings" / name)) for name in self._signatures.values()
            ],
        }  # fmt: skip


def chosen_cells(dialect: str, patterns: Sequence[str]) -> tuple[Cell, ...]:
    """The cells that any of the globs fits, with the dialect before them or without; all where there are none."""
    return tuple(
        cell
        for cell in cells(dialect)
        if not patterns
        or any(fnmatchcase(name, p) for p in patterns for name in (cell.key, cell.key.partition("/")[2]))
    )
