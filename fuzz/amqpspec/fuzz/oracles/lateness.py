"""Late answers: beyond the usual, and beyond what else the target answered at the same moment.

Knows: how long each wait took and when it ended. Must not know: what was sent, who is to blame.

Many connections of our own make everything slow on a target that serves them one by one; then all wait alike. If one
input holds the target up, its answer comes first, after quick ones, and those that had to wait for it follow: they are
compared with that answer, and it is not compared with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion

_KEPT = 4096
_FEWEST, _ALIKE = 4, 4.0
"""So many other waits say how slow the target is at a moment; one so many times as long is not like them any more."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait for an answer, in seconds, and when it ended on the monotonic clock (0: not known)."""

    took_s: float
    until_s: float = 0.0


class Moments:
    """The most recent waits."""

    def __init__(self) -> None:
        self._waits: deque[Wait] = deque(maxlen=_KEPT)

    def learn(self, results: Iterable[InputResult]) -> None:
        """Learn how long all of these waited."""
        self._waits += (wait for result in results for wait in waits(result))

    def explain(self, wait: Wait) -> bool:
        """Whether others that were answered during this wait had to wait about as long."""
        since_s = wait.until_s - wait.took_s
        others = [one.took_s for one in self._waits if since_s < one.until_s < wait.until_s]
        return len(others) >= _FEWEST and wait.took_s <= _ALIKE * median(others)


def waits(result: InputResult) -> Sequence[Wait]:
    """The waits of one input: for the slowest step to its state, and for its first answer."""
    timing = result.timing
    way = [Wait(timing.slowest_step_s, timing.slowest_step_until_s)] if timing.slowest_step_s else []
    return way if timing.latency_s is None else [*way, Wait(timing.latency_s, timing.answered_s)]


def late(results: Iterable[InputResult], limit_s: float, moments: Moments) -> Iterator[Suspicion]:
    """Yield one suspicion: the slowest answer that neither limit nor moment explains, with all such inputs."""
    slow = [(worst, result) for result in results if (worst := _unexplained_s(result, limit_s, moments))]
    if slow:
        slow.sort(key=lambda one: -one[0])
        detail = f"expected an answer within {limit_s:.2f} s, actual {slow[0][0]:.2f} s"
        yield Suspicion(Oracle.LATE, "late answer", detail, tuple(result.item.id for _, result in slow))


def _unexplained_s(result: InputResult, limit_s: float, moments: Moments) -> float:
    """The longest wait of an input that is late; 0 if none is."""
    found = [one.took_s for one in waits(result) if one.took_s > limit_s and not moments.explain(one)]
    return max(found, default=0.0)
