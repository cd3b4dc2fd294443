"""Loads: much is taken and given back, again and again; a target must not keep more of it each time.

Knows: repetitions, what a process uses. Must not know: any dialect, what a load takes.

No absolute figure is judged. The first repetitions fill caches and pools; after them, the second half of the others is
compared with the first half, so that a pool which fills up, or a heap that grows before its next collection, is no
violation: what grows at the same rate to the end is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from amqpspec.fuzz.oracles.process import Gauge, gauge
from amqpspec.fuzz.sequences.step import LOAD, Hold, Step, Violation
from amqpspec.peer.context import Unmet
from amqpspec.wire.transport import StreamEnded

COUNT = 2000
"""How many things a load takes each time."""
_WARM, _HALF = 3, 4
_LEAST_OCTETS, _LEAST_CPU_S, _SLOWER = 4 << 20, 2.0, 3.0


def steps_of(names: Iterable[str]) -> list[Step]:
    """The steps that run loads."""
    return [Step(LOAD, (name, COUNT)) for name in names]


def repeated(name: str, run: Callable[[Hold], None], pid: Callable[[], int | None]) -> None:
    """Run a load enough times that growth can be distinguished from warm-up; raises Violation."""
    seen = list[Gauge]()
    for _ in range(_WARM + 2 * _HALF):
        _once(name, run)
        seen.append(gauge(pid()))
    judge(name, seen[_WARM - 1 :])


def _once(name: str, run: Callable[[Hold], None]) -> None:
    try:
        run(lambda octets: None)
    except Unmet as unmet:
        raise Violation(f"{name}: not served", unmet.expected, unmet.observed) from unmet
    except StreamEnded as ended:
        raise Violation(f"{name}: connection ended", "an open connection", str(ended)) from ended


def judge(name: str, seen: Sequence[Gauge]) -> None:
    """Compare the halves of what was seen after each repetition; raises Violation."""
    if len({one.pid for one in seen}) != 1 or not all(one.alive and one.pid for one in seen):
        return  # a restart, or no process to inspect: nothing can be compared
    middle = len(seen) // 2
    first, second = (part[-1].rss_octets - part[0].rss_octets for part in (seen[: middle + 1], seen[middle:]))
    steps = [after.rss_octets - before.rss_octets for before, after in pairwise(seen)]
    if second >= _LEAST_OCTETS and 2 * second >= first and all(step > 0 for step in steps):
        grown = f"{first / 2**20:.0f} MiB, then {second / 2**20:.0f} MiB in as many repetitions"
        raise Violation(f"{name}: memory grows", "no growth from one repetition to the next", grown)
    early_s, late_s = (part[-1].cpu_s - part[0].cpu_s for part in (seen[: middle + 1], seen[middle:]))
    if late_s >= _LEAST_CPU_S and late_s >= _SLOWER * early_s:
        spent = f"{early_s:.1f} s, then {late_s:.1f} s of processor time in as many repetitions"
        raise Violation(f"{name}: work grows", "the same work for each repetition", spent)
