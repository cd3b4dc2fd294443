"""Suspicions that wait until blame may take time again: every cell has its first turn before much is tried again.

Knows: batches, seconds spent on blame. Must not know: how blame is found, what happens to it.

Blame of one cause takes seconds to minutes on a target that restarts slowly; on a target with many causes it would take
the whole budget, and most cells would never be met. Each time, sending stops until every answer has come, which takes
seconds on a target that ends refused connections late; therefore several causes are followed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import Any

from amqpspec.fuzz.campaign.journal import inputs_of
from amqpspec.fuzz.campaign.schedule import Batch, Position
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.inputs.catalogue import resolve
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.triage import COST_A_RESTART

_AT_ONCE_S, _SENDING = 10.0, 0.7
"""So much blame never waits, where any may come early; behind such a part of the budget it has all the time."""
_STRETCH_S, _APART_S = 5.0, 10.0
"""An early stretch of blame begins if it may take so long, and if the last one ended so many seconds ago."""
_MOST = 64

Key = tuple[str, ...]


class Deferred:
    """Suspicions with their batches, by cause as far as it is known.

    ``budget_s`` is the time of this part; ``share`` is how much of it blame may take early: with all of it, nothing
    waits. With ``is_closing``, nothing more is sent, and blame has all the time that is left. Before ``is_broad``, not
    every cell has had its first turn, and blame that costs restarts waits.
    """

    def __init__(self, budget_s: float, share: float, saved: Sequence[Mapping[str, Any]] = ()) -> None:
        self._budget_s, self._share = budget_s, share
        self._begun_s, self._spent_s = now_s(), 0.0
        self._since_s: float | None = None
        self._is_stretch, self._ended_s = False, -float("inf")
        self.is_closing = self.is_broad = False
        self._waiting: dict[Key, tuple[Batch, Suspicion]] = {}
        for one in saved:
            # What was made of a corpus cannot be made again from its id alone; it stays a finding without blame.
            with suppress(ValueError, KeyError, TypeError):
                self.put(*_restored(one))

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def never_waits(self) -> bool:
        """Whether blame may take all the time from the start, or nothing more is sent."""
        return self.is_closing or self._share >= 1.0

    @property
    def has_due(self) -> bool:
        """Whether a suspicion waits for which blame has time."""
        return any(self.is_due(seen.oracle) for _, seen in self)

    def stretches(self, due: bool) -> bool:
        """Whether a stretch of blame begins or continues, if something is ``due``; otherwise, it ends."""
        before = self._is_stretch
        self._is_stretch = due and (before or self._may_begin())
        if before and not self._is_stretch:
            self._ended_s = now_s()
        return self._is_stretch

    def _may_begin(self) -> bool:
        passed_s, since_s = now_s() - self._begun_s, now_s() - self._ended_s
        enough = self._spent_s + _STRETCH_S <= self._allowed_s(passed_s)
        return self._has_all_time(passed_s) or (enough and since_s >= _APART_S)

    def _allowed_s(self, passed_s: float) -> float:
        return max(_AT_ONCE_S, self._share * passed_s)

    @property
    def breadth_is_over(self) -> bool:
        """Whether every cell has had its first inputs, or blame has all the time: what costs much need not wait."""
        return self.is_broad or self._has_all_time(now_s() - self._begun_s)

    def _has_all_time(self, passed_s: float) -> bool:
        return self.never_waits or passed_s >= _SENDING * self._budget_s

    def is_due(self, oracle: Oracle) -> bool:
        """Whether blame may take time now. Late answers, which a busy machine causes first, wait longest."""
        passed_s = now_s() - self._begun_s
        if self._has_all_time(passed_s):
            return True
        spent_s = self._spent_s + (now_s() - self._since_s if self._since_s is not None else 0.0)
        has_time = self._share > 0 and spent_s <= self._allowed_s(passed_s)
        return has_time and oracle is not Oracle.LATE and (self.is_broad or oracle not in COST_A_RESTART)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the time of a blame."""
        begun_s = self._since_s = now_s()
        try:
            yield
        finally:
            self._since_s = None
            self._spent_s += now_s() - begun_s

    def put(self, batch: Batch, seen: Suspicion) -> bool:
        """Keep a suspicion for later, each cause once; returns False if there is no room."""
        key = _key(batch, seen)
        if key not in self._waiting and len(self._waiting) >= _MOST:
            return False
        self._waiting.setdefault(key, (batch, seen))
        return True

    def holds(self, batch: Batch, seen: Suspicion) -> bool:
        """Whether the same cause waits already."""
        return _key(batch, seen) in self._waiting

    def __iter__(self) -> Iterator[tuple[Batch, Suspicion]]:
        return iter(list(self._waiting.values()))

    def take(self) -> tuple[Batch, Suspicion]:
        """The suspicion that has waited longest of those that may be blamed now; those that cost restarts come last.

        If the time for blame has just passed, it is one of all.
        """
        order = [
            (not self.is_due(seen.oracle), seen.oracle in COST_A_RESTART, key)
            for key, (_, seen) in self._waiting.items()
        ]
        return self._waiting.pop(min(order, key=itemgetter(0, 1))[2])

    def to_json(self) -> list[dict[str, Any]]:
        """The state, for ``saved``."""
        return [
            {
                "batch": batch.names, "oracle": str(seen.oracle), "top": seen.top,
                "cause": seen.cause, "detail": seen.detail, "inputs": [str(id) for id in seen.inputs],
            }
            for batch, seen in self
        ]  # fmt: skip


def _key(batch: Batch, seen: Suspicion) -> Key:
    """The top of a log line or a deviation names a cause; other oracles have the same top for all causes."""
    telling = seen.oracle in (Oracle.LOG, Oracle.CONFORMANCE)
    place = () if telling else batch.place
    single = seen.oracle in SPOILS or seen.oracle is Oracle.OBEDIENCE
    suspect = (str(seen.inputs[0]),) if single and seen.inputs else ()
    return (*place, *suspect, str(seen.oracle), seen.name)


def _restored(one: Mapping[str, Any]) -> tuple[Batch, Suspicion]:
    """Raises ValueError, KeyError, TypeError for what ``to_json`` did not write with the same tables."""
    items = [resolve(InputId.parse(id)) for id in inputs_of(one["batch"])]
    inputs = tuple(map(InputId.parse, one["inputs"]))
    seen = Suspicion(Oracle(one["oracle"]), one["top"], one["detail"], inputs, one.get("cause", ""))
    return Batch(items, Position()), seen
