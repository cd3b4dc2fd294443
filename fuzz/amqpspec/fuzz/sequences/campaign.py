"""Programs against a target until the budget is spent: what violates the model is shrunk, repeated and written down.

Knows: searches, stages, findings. Must not know: any dialect, how targets are found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.sequences.finding import SequenceFinding, write_sequence
from amqpspec.fuzz.sequences.machine import Search, prune, run_program
from amqpspec.fuzz.sequences.part import World, sequences_part
from amqpspec.fuzz.sequences.stage import Stage
from amqpspec.fuzz.sequences.step import LOAD, Found, Program
from amqpspec.peer.context import BudgetSpent, Nodes
from amqpspec.record.capture import write_capture

ROUNDS = ((40, 8), (40, 20), (30, 50))
"""Programs and steps of each round, over and over: what short programs find needs little shrinking."""
_SHRINK_S, _REPEATS = 30.0, 2
_SLACK_S, _SLACK_SHARE = 10.0, 0.1
"""A violation may be looked into for so much longer than the budget."""
_STATUS = {0: "lost", 1: "flaky", 2: "stable"}
SPENT, STOPPED, DONE = "budget spent", "stopped", "all done"


@dataclass(frozen=True, slots=True)
class SequenceOrder:
    """The options. ``programs`` also ends a campaign after that many programs; 0 does not.

    ``nodes`` says how queues are made, if the configuration of the target defines it.
    """

    subject: Subject
    out: Path
    budget_s: float = 600.0
    seed: int = 1
    programs: int = 0
    nodes: Nodes | None = None
    notify: Callable[[SequenceFinding], None] = lambda finding: None


@dataclass(slots=True)
class SequenceCampaign:
    """Run once; ``ended`` says why it ended, ``lost`` whether the target was lost.

    ``unjudged`` counts programs and loads that were cut off; ``programs`` includes such programs, ``loads`` no such
    loads. ``unconfirmed`` are violations of loads that did not occur again: chance can cause them.
    """

    order: SequenceOrder
    findings: list[SequenceFinding] = field(default_factory=list)
    programs: int = 0
    steps: int = 0
    loads: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    unconfirmed: Counter[str] = field(default_factory=Counter)
    ended: str = DONE
    lost: bool = False
    seconds_s: float = 0.0
    _begun_s: float = field(default_factory=now_s)

    def run(self) -> SequenceCampaign:
        """Run until the budget or the programs are spent, or the target is lost. Raises Unanswered."""
        stage = Stage.of(self.order.subject, self.order.nodes)
        try:
            self._rounds(stage)
        except KeyboardInterrupt:
            self.ended = STOPPED
        self.seconds_s = now_s() - self._begun_s
        return self

    def _rounds(self, stage: Stage) -> None:
        number = 0
        while not (self._is_spent or self._is_enough or self.lost):
            programs, steps = ROUNDS[number % len(ROUNDS)]
            self._round(stage, self.order.seed * 1_000_003 + number, programs, steps)
            number += 1
            if number == 1:
                self._loads(stage)
        self.ended = self.ended if self.lost else SPENT if self._is_spent else DONE

    def _loads(self, stage: Stage) -> None:
        """Each load once: the second half of its repetitions is compared with the first half."""
        for step in stage.loads:
            if self._is_spent or self.lost:
                return
            stage.until_s = self._until_s
            stage.unjudged.clear()
            found, cut = run_program(stage.begin, (step,)), len(stage.unjudged)
            self.loads += not cut
            self.unjudged.update(stage.unjudged)
            if found is not None:
                self._take(stage, found, self.order.seed, lambda: self._is_spent)

    @property
    def _until_s(self) -> float:
        return self._begun_s + self.order.budget_s

    @property
    def _is_spent(self) -> bool:
        return now_s() >= self._until_s

    @property
    def _is_enough(self) -> bool:
        return 0 < self.order.programs <= self.programs

    def _round(self, stage: Stage, seed: int, programs: int, steps: int) -> None:
        verbs, known = (
            sequences_part(self.order.subject.dialect).verbs,
            {f.found.violation.kind for f in self.findings},
        )
        search = Search(stage.begin, verbs, known)
        shrink_until_s: list[float] = []

        def is_over() -> bool:
            stage.hasty = search.smallest is not None
            if stage.hasty and not shrink_until_s:
                shrink_until_s.append(now_s() + _SHRINK_S)
            return (
                self._is_spent
                or self._is_enough_with(search)
                or any(now_s() > at_s for at_s in shrink_until_s)
            )

        search.is_over, stage.until_s = is_over, self._until_s
        try:
            found = search.run(seed, programs, steps)
        except BudgetSpent:
            found = search.smallest
            self.unjudged["program"] += found is None
        stage.hasty = False
        self.programs, self.steps = self.programs + search.tried, self.steps + search.steps
        self.again.update(search.again)
        if found is not None:
            self._take(stage, found, seed, is_over)

    def _is_enough_with(self, search: Search) -> bool:
        """Programs that only shrink are not counted."""
        return search.smallest is None and 0 < self.order.programs <= self.programs + search.tried

    # --- a violation

    def _take(self, stage: Stage, found: Found, seed: int, is_over: Callable[[], bool]) -> None:
        """A violation is written down before it is looked into, and again when it is known how many times it occurs."""
        place = self._write(found, "unblamed", seed)
        if not self._is_there():
            return
        stage.until_s = max(now_s(), self._until_s) + max(_SLACK_S, _SLACK_SHARE * self.order.budget_s)
        stage.hasty = True
        smallest = prune(stage.begin, found, is_over)
        stage.hasty = False
        seen = [
            again for _ in range(_REPEATS) if (again := self._again(stage, smallest.program, found, place))
        ]
        if not seen and found.program[-1].verb == LOAD:
            self._withdraw(place, found)
        else:
            self._write(seen[0] if seen else found, _STATUS[len(seen)], seed)

    def _withdraw(self, place: Path, found: Found) -> None:
        rmtree(place)
        self.findings = [finding for finding in self.findings if finding.found is not found]
        self.unconfirmed[found.violation.kind] += 1

    def _again(self, stage: Stage, program: Program, found: Found, place: Path) -> Found | None:
        """The same violation again, with full patience, and with a transcript."""
        path = place / "transcript.jsonl"
        again = run_program(lambda: self._recorded(stage, path), program)
        write_capture(path)
        return again if again is not None and again.violation.kind == found.violation.kind else None

    def _recorded(self, stage: Stage, path: Path) -> World:
        return stage.begin(stage.transcript(path))

    def _is_there(self) -> bool:
        """Whether the target still answers, or does after a restart."""
        subject = self.order.subject
        if subject.awake(subject.hang_s) or subject.renew():
            return True
        self.lost, self.ended = True, f"{subject.name}: no answer after a program, and no restart"
        return False

    def _write(self, found: Found, status: str, seed: int) -> Path:
        finding = SequenceFinding(found, status, self.order.subject.dialect, seed, self.programs)
        place = self.order.out / "findings" / finding.name
        write_sequence(place, finding, self.order.subject)
        self.findings = [*(f for f in self.findings if f.name != finding.name), finding]
        if status != "unblamed":
            self.order.notify(finding)
        return place

    # --- what is written down

    def summary(self) -> dict[str, Any]:
        """The campaign in figures."""
        order, subject = self.order, self.order.subject
        return {
            "target": subject.name, "url": subject.url, "dialect": subject.dialect, "seed": order.seed,
            "ended": self.ended, "seconds": round(self.seconds_s, 1), "programs": self.programs, "steps": self.steps,
            "loads": self.loads, "unjudged": dict(self.unjudged), "again": dict(self.again),
            "unconfirmed": dict(self.unconfirmed),
            "findings": [f.to_json(subject, order.out / "findings" / f.name) for f in self.findings],
        }  # fmt: skip
