"""One case against a reference broker in memory: the same verdict as over sockets, in milliseconds.

Knows: what a case is given, how to bound it. Must not know: what a case does, transcripts, the engine.

Every case meets a separate broker. What waiting costs on sockets costs nothing here, so patience is a user's. No one
reads the words of these verdicts: what histories find is confirmed, and not made small.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Context, Login
from amqpspec.reference.memory import Meddling, MemoryBroker
from amqpspec.run.case import Case
from amqpspec.run.driver import driver_of
from amqpspec.run.execute import verdict_of
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import widest
from amqpspec.spec.model import Requirement
from amqpspec.target.live import REFERENCE_LOGINS, REFERENCE_VHOSTS


@dataclass(frozen=True, slots=True)
class Conditions:
    """The broker that a case meets, and how much real time in seconds and how many calls it may take."""

    faults: Collection[str] = ()
    late_s: float = 0.0
    meddle: Callable[[], Meddling] = Meddling
    limit_s: float = 120.0
    calls: int = 1_000_000


CLEAN = Conditions()


class MemoryTarget(MemoryBroker):
    """One broker for one case."""

    def __init__(self, dialect: str, conditions: Conditions = CLEAN) -> None:
        super().__init__(dialect, conditions.faults, conditions.late_s, conditions.meddle, self._spend)
        self.dialect = dialect
        self._until_s, self._left = monotonic_s() + conditions.limit_s, conditions.calls

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0 or monotonic_s() > self._until_s:
            raise BudgetSpent

    def context(self, requirements: tuple[Requirement, ...] = (), tag: str = "memory") -> Context:
        """The world of one case."""
        return Context(
            dialect=widest(self.dialect),
            requirements=requirements,
            dial=self.dial,
            logins={role: Login(user, word) for role, (user, word) in REFERENCE_LOGINS.items()},
            vhosts=REFERENCE_VHOSTS,
            tag=tag,
            restart_hook=self.restart,
            shrinks=False,
        )


def judged_in_memory(case: Case, conditions: Conditions = CLEAN) -> Verdict:
    """The result of a case; whatever the broker throws before it can be spoken to is raised."""
    target = MemoryTarget(case.dialect, conditions)
    try:
        context = target.context(case.requirements, case.id)
        return verdict_of(case, driver_of(widest(case.dialect)).peer(context))
    finally:
        target.close()
