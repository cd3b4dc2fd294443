"""Oracles over the target's process: is it there, what does it hold, what does it burn.

Knows: /proc through psutil. Must not know: inputs, sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Gauge:
    """What a process uses: memory in octets, CPU time in seconds; ``alive`` is False if it is gone."""

    pid: int | None
    alive: bool = True
    rss_octets: int = 0
    cpu_s: float = 0.0


def gauge(pid: int | None) -> Gauge:
    """Inspect a process. A zombie is gone, although it can still be signalled. Without a pid, nothing is known."""
    if pid is None:
        return Gauge(None)
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return Gauge(pid, False)
            times = process.cpu_times()
            return Gauge(pid, True, process.memory_info().rss, times.user + times.system)
    except psutil.Error:
        return Gauge(pid, False)


def is_working(pid: int | None) -> bool:
    """Whether any thread of a process could run now, whether or not the machine has a processor for it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False
    return any(_state(task) == "R" for task in tasks)


def held_back_s(pid: int | None) -> float:
    """How long its threads have waited for a processor, in total: what they did not do meanwhile is no sign of
    idleness.
    """
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return 0.0
    return sum(_run_delay_ns(task) for task in tasks) / 1e9


def _run_delay_ns(task: Path) -> int:
    try:
        return int((task / "schedstat").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _state(task: Path) -> str:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What inputs may cost a target; everything beyond is suspected. Memory unused between collections counts."""

    memory_octets: int = 32 << 20
    memory_per_octet: float = 16.0
    cpu_s: float = 1.0
    cpu_per_octet_s: float = 2e-6

    def memory(self, before: Gauge, after: Gauge, sent_octets: int) -> str:
        """A complaint about growth, or nothing."""
        grown, allowed = after.rss_octets - before.rss_octets, self.memory_octets
        allowed += int(sent_octets * self.memory_per_octet)
        if not _both(before, after) or grown <= allowed:
            return ""
        return f"memory grew by {grown >> 20} MiB for {sent_octets} octets, allowed {allowed >> 20} MiB"

    def cpu(self, before: Gauge, after: Gauge, sent_octets: int, usual_s: float) -> str:
        """A complaint about CPU time beyond what as many harmless inputs take, or nothing."""
        spent_s = after.cpu_s - before.cpu_s
        allowed_s = self.cpu_s + usual_s + sent_octets * self.cpu_per_octet_s
        if not _both(before, after) or spent_s <= allowed_s:
            return ""
        return f"{spent_s:.1f} s of processor time for {sent_octets} octets, allowed {allowed_s:.1f} s"


def _both(before: Gauge, after: Gauge) -> bool:
    return before.pid is not None and before.pid == after.pid and before.alive and after.alive
