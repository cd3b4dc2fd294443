"""What work takes: wall, CPU of Python, its ended children and the JVM, and memory at its peak.

Knows: processes. Must not know: what is measured.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.row import Row

MIB = 1 << 20
_SAMPLE_S = 0.1
_TICK_S = 0.01


@dataclass(frozen=True, slots=True)
class Spent:
    """What something took."""

    wall_s: float
    cpu_s: float

    def rates(self, count: int) -> tuple[float, float]:
        """This many a second, and a second of CPU; what took less than the clock's tick took a tick."""
        return count / max(self.wall_s, _TICK_S), count / max(self.cpu_s, _TICK_S)


Spans = Mapping[str, Spent]


def timed(work: Callable[[], object], other: psutil.Process | None = None) -> Spent:
    """Wall time, and CPU of this process, its children that ended, and another one."""
    before_s, begun_s = _cpu_s(other), time.perf_counter()
    work()
    return Spent(time.perf_counter() - begun_s, _cpu_s(other) - before_s)


def _cpu_s(other: psutil.Process | None) -> float:
    mine = psutil.Process().cpu_times()
    spent_s = float(mine.user + mine.system + mine.children_user + mine.children_system)
    if other is not None:
        theirs = other.cpu_times()
        spent_s += float(theirs.user + theirs.system)
    return spent_s


def best(first: Spans, second: Spans) -> Spans:
    """Of each the quicker one."""
    return {name: min(first[name], second[name], key=lambda spent: spent.wall_s) for name in first}


def jvm() -> psutil.Process | None:
    """The process of Spark that this one has started; none if it was not started from here."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "java" in Path(child.exe()).name:
                return child
    return None


def peak_octets(process: psutil.Process) -> int:
    """What Linux calls VmHWM; elsewhere what is there now."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        return int(process.memory_info().rss)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


@dataclass(slots=True)
class Peak:
    """The most that was seen."""

    octets: int = 0


@contextmanager
def watched_children() -> Iterator[Peak]:
    """The memory of all processes below this one, together, at its peak while this lasts; sampled."""
    peak, ended = Peak(), threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_S):
            peak.octets = max(peak.octets, _below_octets())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def _below_octets() -> int:
    found: dict[int, int] = {}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            memory = child.memory_info()
            # Until it executes its program, a child of Java's (a chmod of Hadoop's) has the memory of its parent, not
            # as much again; its size is then equal to the octet.
            found[memory.vms] = int(memory.rss)
    return sum(found.values())


def beside(name: str, ours: float, theirs: float, unit: str) -> Row:
    """One line: ours, theirs, and the ratio."""
    return Row(name, round(ours, 2), round(theirs, 2), round(ours / max(theirs, 1e-9), 2), unit)


def both(name: str, ours: Spent, theirs: Spent) -> Iterator[Row]:
    """Wall and CPU of one thing compared with those of another."""
    yield beside(name, ours.wall_s, theirs.wall_s, "s")
    yield beside(f"{name}, CPU", ours.cpu_s, theirs.cpu_s, "s of CPU")


def total(spans: Spans) -> Spent:
    """All of them one after the other."""
    found = list(spans.values())
    return Spent(sum(spent.wall_s for spent in found), sum(spent.cpu_s for spent in found))
