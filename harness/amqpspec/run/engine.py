"""The runner: many cases at once, restarts together, each verdict in the journal as soon as it is there.

Knows: threads, phases, liveness, what to do when a target dies. Must not know: what a case does, how results are shown.

Phases: ordinary cases in parallel, the slow ones begun first, then destructive ones in parallel, then heavy ones one
at a time, then all that need a restart around one restart. The target is probed once a second. If it has died,
results since it was last seen alive are withdrawn, the target is restarted, and those cases go again one at a time,
so that the right one is blamed. With one connection, or one case and no restart, the target is probed after every
case instead, and nothing is withdrawn. A target that is wanted fresh gets one case at a time, is probed before the
case closes its connections, and is restarted after it. Observers receive rows as they are written; they must not
raise.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeVar

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Context, Patience
from amqpspec.record.journal import Journal
from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.record.transcript import starred
from amqpspec.run.case import Case
from amqpspec.run.driver import Identity, ProbeFailed, Recognised
from amqpspec.run.execute import World, execute
from amqpspec.run.plan import Planned
from amqpspec.run.recorded import Stopped
from amqpspec.run.rendezvous import Rendezvous
from amqpspec.spec.dialects import parts_of

_T = TypeVar("_T")
Observer = Callable[[CaseRow], None]
GONE = "the target is gone"
_PROBE_BUDGET_S = 20.0
_PROBES_KEPT = 10
_LOOK_S = 0.2
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run: connections at once, how often each case; ``fresh`` restarts the target after each, one at a time."""

    connections: int = 16
    repeat: int = 1
    fresh: bool = False


class Batch:
    """Cases in parallel, and what can be trusted of them: what ended before the last check that found the target
    alive.
    """

    def __init__(self, look: Callable[[], str]) -> None:
        self._look = look
        self._alive_s = self._looked_s = monotonic_s()
        self._ended_s: dict[str, float] = {}
        self.skipped: set[str] = set()
        self.died = ""

    def ended(self, row: CaseRow) -> None:
        """A case has ended."""
        self._ended_s[row.id] = monotonic_s()

    def look_now_and_then(self) -> None:
        """Check the target, at most once in ``_LOOK_EVERY_S``."""
        if not self.died and monotonic_s() - self._looked_s > _LOOK_EVERY_S:
            self.look()

    def look(self) -> None:
        """Look whether the target lives."""
        if self.died:
            return
        started_s = monotonic_s()
        self.died = self._look()
        self._looked_s = monotonic_s()
        if not self.died:
            self._alive_s = started_s

    @property
    def suspects(self) -> set[str]:
        """Cases that ended after the target was last seen alive."""
        return {case for case, ended_s in self._ended_s.items() if ended_s > self._alive_s}


class Engine:
    """Runs a plan against one world and writes its journal."""

    def __init__(
        self, world: World, journal: Journal, settings: Settings, observers: Iterable[Observer] = ()
    ) -> None:
        self._world, self._journal, self._settings = world, journal, settings
        self._observers = tuple(observers)
        self._reporting = threading.Lock()
        self._failure: Exception | None = None
        self._probes = 0
        self.target_gone = ""

    def run(self, plan: Sequence[Planned]) -> bool:
        """Run it all; True when it finished, False when it was stopped or the target is gone.

        Raises JournalError.
        """
        for planned in plan:
            if planned.outcome is not None:
                self._record(planned.row())
        cases = [planned.case for planned in plan if planned.outcome is None]
        for attempt in range(1, self._settings.repeat + 1):
            self._phases(cases, attempt)
            self._restarts([c for c in cases if c.restarts], attempt)
        if self._failure is not None:
            raise self._failure
        return not self._world.stop.is_set() and not self.target_gone

    def probe(self, name: str, patience: Patience | None = None) -> Identity:
        """A liveness probe with evidence of its own, with the run's patience or another; raises ProbeFailed."""
        return self._asked(name, self._world.driver.probe, patience)

    def recognise(self) -> Recognised:
        """What the target speaks, with evidence of its own; raises ProbeFailed."""
        return self._asked("recognise", self._world.driver.recognise)

    def lacking(self) -> Mapping[str, str]:
        """The optional parts that the target was asked for and does not have; raises ProbeFailed."""
        return self._asked("parts", self._world.driver.lacking)

    def _asked(self, name: str, ask: Callable[[Context], _T], patience: Patience | None = None) -> _T:
        world = replace(self._world, patience=patience or self._world.patience)
        streams = world.streams(name, _PROBE_BUDGET_S)
        try:
            return ask(world.context(name, streams))
        except ProbeFailed as failed:
            raise ProbeFailed(starred(str(failed), self._world.live.secrets)) from failed
        except BudgetSpent as spent:
            raise ProbeFailed(f"no end of a login within {_PROBE_BUDGET_S:.0f} s") from spent
        finally:
            with closing(streams.transcript):
                streams.hang_up()

    # --- phases

    def _phases(self, cases: Sequence[Case], attempt: int) -> None:
        if not self._fresh:
            for phase in _phases(cases):
                self._phase(phase, attempt)
            return
        for case in cases:
            if not case.restarts:
                self._afresh(case, attempt)

    def _phase(self, cases: Sequence[Case], attempt: int) -> None:
        """Cases in parallel; where the target dies, those that it may have died of again, one at a time."""
        if self._settings.connections == 1 or (len(cases) == 1 and self._world.live.restart is None):
            for case in cases:
                self._alone(case, attempt)
            return
        waiting = list(cases)
        while waiting and not self._stopped:
            batch = Batch(self._probe_quietly)
            self._all(waiting, attempt, self._world, self._settings.connections, batch)
            batch.look()
            if not batch.died:
                return
            waiting = [case for case in waiting if case.id in batch.skipped]
            suspects = [case for case in cases if case.id in batch.suspects]
            self._journal.void([case.id for case in suspects], f"the target died: {batch.died}")
            if self._world.live.restart is None:
                # No one can say which of the suspects it died of: without a restart none of them is blamed.
                self.target_gone = batch.died
                waiting = [*suspects, *waiting]
                continue
            self._revive(batch.died)
            for case in suspects:
                self._alone(case, attempt)

    def _afresh(self, case: Case, attempt: int) -> None:
        """One case while no other case runs, before a restart; what happens to the target afterwards is no matter."""
        row = self._execute(case, attempt, self._world, self._probe_quietly)
        if row is not None:
            self._record(row)
            self._revive("")

    def _alone(self, case: Case, attempt: int) -> None:
        """One case while no other case runs; a target that dies of it is restarted, and the case is blamed."""
        row = self._execute(case, attempt, self._world)
        if row is None:
            return
        died = self._probe_quietly()
        if died:
            observed = f"{row.observed or row.reason}; the target died: {died}"
            expected = row.expected or "a verdict"
            row = replace(
                row,
                verdict=Outcome.FAIL,
                expected=expected,
                observed=observed,
                reason="",
                blocked_by=None,
                died=died,
            )
        self._record(row)
        if died:
            self._revive(died)

    def _restarts(self, cases: Sequence[Case], attempt: int) -> None:
        if not cases or self._world.live.restart is None:
            return
        meeting = Rendezvous(len(cases), self._world.live.restart, self._world.stop)
        world = replace(self._world, restart=meeting.arrive)
        self._all(cases, attempt, world, len(cases), Batch(lambda: ""), meeting.leave)

    @property
    def _fresh(self) -> bool:
        return self._settings.fresh and self._world.live.restart is not None

    @property
    def _stopped(self) -> bool:
        return self._world.stop.is_set()

    def _probe_quietly(self) -> str:
        """Why the target is not alive; empty if it is, tried twice.

        The second try is never hurried: a run may have little patience with answers, but a busy target is not dead.
        """
        if self._stopped or self.target_gone:
            return ""
        said = ""
        for patience in (self._world.patience, self._world.patience.unhurried()):
            self._probes += 1
            try:
                self.probe(f"probe-{self._probes % _PROBES_KEPT}", patience)
            except ProbeFailed as failed:
                said = str(failed)
            except Stopped:
                return ""
            else:
                return ""
        return said

    def _revive(self, died: str) -> None:
        if self.target_gone:
            return
        revive = self._world.live.revive or self._world.live.restart
        if revive is None:
            self.target_gone = died
            return
        try:
            revive()
        except Exception as error:
            self.target_gone = f"it could not be restarted: {error}"

    # --- cases

    def _all(
        self,
        cases: Sequence[Case],
        attempt: int,
        world: World,
        workers: int,
        batch: Batch,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        with ThreadPoolExecutor(workers, "case") as pool:
            pending: set[Future[None]] = {
                pool.submit(self._one, c, attempt, world, batch, ended) for c in cases
            }
            while pending:
                done, pending = wait(pending, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                batch.look_now_and_then()
                for future in done:
                    self._fail(future.exception())

    def _one(self, case: Case, attempt: int, world: World, batch: Batch, ended: Callable[[], None]) -> None:
        try:
            if batch.died:
                batch.skipped.add(case.id)
                return
            row = self._execute(case, attempt, world)
            if row is not None:
                batch.ended(row)
                self._record(row)
        finally:
            ended()

    def _execute(
        self, case: Case, attempt: int, world: World, look: Callable[[], str] = lambda: ""
    ) -> CaseRow | None:
        """A case's row; None if the run is being stopped."""
        if world.stop.is_set():
            return None
        if self.target_gone:
            why = f"{GONE}: {self.target_gone}"
            return Planned(case, Outcome.BLOCKED, why, BlockedBy.TARGET_GONE).row()
        try:
            return execute(case, world, attempt, look)
        except Stopped:
            return None

    def _record(self, row: CaseRow) -> None:
        with self._reporting:
            self._journal.case(row)
            for observer in self._observers:
                observer(row)

    def _fail(self, error: BaseException | None) -> None:
        if error is not None:
            self._failure = self._failure or (error if isinstance(error, Exception) else None)
            self._world.stop.set()


def _phases(cases: Sequence[Case]) -> list[list[Case]]:
    rest = [case for case in cases if not case.restarts]
    ordinary = [case for case in rest if not case.destructive and not case.heavy]
    ordinary.sort(key=lambda case: not case.slow)
    destructive = [case for case in rest if case.destructive and not case.heavy]
    return [ordinary, destructive, *([case] for case in rest if case.heavy)]


def meet(world: World, journal: Journal) -> tuple[World, Identity]:
    """The world with the dialect that its target was recognised to speak, and who it is; raises ProbeFailed."""
    recognised = Engine(world, journal, Settings()).recognise()
    spoken = recognised.dialect
    known = replace(world, recognised=spoken)
    identity = Engine(known, journal, Settings()).probe("probe")
    known = replace(known, nodes=identity.nodes)
    identity = replace(identity, lacks={**identity.lacks, **Engine(known, journal, Settings()).lacking()})
    if spoken == world.dialect:
        return known, identity
    note = (
        f"the target {recognised.why}: it is tested in {spoken}, and judged by the rules that this shares with"
        f" {world.dialect}"
    )
    lacks = {part: note for part in parts_of(world.dialect) if part not in parts_of(spoken)}
    return known, replace(identity, lacks={**identity.lacks, **lacks}, note=note)
