"""Loads: much is taken, held and given back, again and again; a target must not keep more of it each time.

Knows: repetitions, what a process uses. Must not know: any dialect, what a load takes.

The first repetitions fill caches and pools; after them, the second half of the others is compared with the first half,
so that a pool which fills up, or a heap that grows before its next collection, is no violation: what grows at the same
rate to the end is. This holds for memory after each repetition and while it held what it took. No absolute figure is
judged but one: what is needed only while messages are held must be in proportion to their octets, as in a campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from amqpspec.fuzz.oracles.process import Allowance, Gauge, gauge
from amqpspec.fuzz.sequences.step import LOAD, Hold, Step, Violation
from amqpspec.peer.context import Unmet
from amqpspec.wire.transport import StreamEnded

COUNT = 2000
"""How many things a load takes each time."""
_WARM, _HALF = 3, 4
_LEAST_OCTETS, _LEAST_CPU_S, _SLOWER, _FASTER = 4 << 20, 2.0, 3.0, 4


def steps_of(names: Iterable[str]) -> list[Step]:
    """The steps that run loads."""
    return [Step(LOAD, (name, COUNT)) for name in names]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a process used while a repetition held what it took, at most, and after it; ``octets`` of messages held."""

    held: Gauge
    after: Gauge
    octets: int = 0


def repeated(name: str, run: Callable[[Hold], None], pid: Callable[[], int | None]) -> None:
    """Run a load enough times that growth can be distinguished from warm-up; raises Violation."""
    seen = [_once(name, run, pid) for _ in range(_WARM + 2 * _HALF)]
    judge(name, [one.after for one in seen[_WARM - 1 :]])
    judge_held(name, seen[_WARM - 1 :])


def _once(name: str, run: Callable[[Hold], None], pid: Callable[[], int | None]) -> Reading:
    held, sizes = [gauge(pid())], [0]

    def hold(octets: int) -> None:
        held.append(gauge(pid()))
        sizes.append(octets)

    try:
        run(hold)
    except Unmet as unmet:
        raise Violation(f"{name}: not served", unmet.expected, unmet.observed) from unmet
    except StreamEnded as ended:
        raise Violation(f"{name}: connection ended", "an open connection", str(ended)) from ended
    largest = max(held[1:], key=lambda one: one.rss_octets, default=held[0])
    return Reading(largest, gauge(pid()), max(sizes))


def _comparable(seen: Sequence[Gauge]) -> bool:
    """Not after a restart, nor where there is no process to look at."""
    return len({one.pid for one in seen}) == 1 and all(one.alive and one.pid for one in seen)


def judge(name: str, seen: Sequence[Gauge]) -> None:
    """Compare the halves of what was seen after each repetition; raises Violation."""
    if not _comparable(seen):
        return
    if grown := _growth(seen):
        raise Violation(f"{name}: memory grows", "no growth from one repetition to the next", grown)
    middle = len(seen) // 2
    early_s, late_s = (part[-1].cpu_s - part[0].cpu_s for part in (seen[: middle + 1], seen[middle:]))
    if late_s >= _LEAST_CPU_S and late_s >= _SLOWER * early_s:
        spent = f"{early_s:.1f} s, then {late_s:.1f} s of processor time in as many repetitions"
        raise Violation(f"{name}: work grows", "the same work for each repetition", spent)


def _growth(seen: Sequence[Gauge]) -> str:
    """How memory grows to the end, if it does."""
    middle = len(seen) // 2
    first, second = (part[-1].rss_octets - part[0].rss_octets for part in (seen[: middle + 1], seen[middle:]))
    steps = [after.rss_octets - before.rss_octets for before, after in pairwise(seen)]
    is_steady = first <= 2 * second and second <= _FASTER * first
    if second < _LEAST_OCTETS or not is_steady or not all(step > 0 for step in steps):
        return ""
    return f"{first / 2**20:.0f} MiB, then {second / 2**20:.0f} MiB in as many repetitions"


def judge_held(name: str, seen: Sequence[Reading]) -> None:
    """Compare what was seen while things were held: over repetitions, and with what follows; raises Violation."""
    if not _comparable([gauge for one in seen for gauge in (one.held, one.after)]):
        return
    if grown := _growth([one.held for one in seen]):
        raise Violation(f"{name}: held memory grows", "no growth from one repetition to the next", grown)
    last = seen[-_HALF:]
    complaints = [Allowance().memory(one.after, one.held, one.octets) for one in last if one.octets]
    if len(complaints) == len(last) and all(complaints):
        raise Violation(f"{name}: too much memory while held", "memory in proportion", complaints[-1])
