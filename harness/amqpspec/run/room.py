"""How many cases this machine has room for at once: open files, and memory where a target floods them all.

Knows: limits of the system. Must not know: cases, targets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import psutil

from amqpspec.peer.line import FLOOD_OCTETS

try:
    import resource
except ImportError:  # Windows, which counts no descriptors
    _HAS_LIMITS = False
else:
    _HAS_LIMITS = True

FILES_OF_A_CASE = 4
"""Its transcript and its connections; those that need many more are few."""
FILES_OF_AN_AGENT = 4096
"""More connections than any client opens on purpose."""
OWN_FILES = 64


@dataclass(frozen=True, slots=True)
class Room:
    """This many cases at once; ``says`` what someone who asked for more has to know, a line each."""

    at_once: int
    says: tuple[str, ...] = ()


def room_for(
    wanted: int,
    files: Callable[[int], int] | None = None,
    free_octets: Callable[[], int] = lambda: int(psutil.virtual_memory().available),
) -> Room:
    """Room for this many cases at once, or for as many as the system allows;

    ``files`` raises the limit to that many.
    """
    needed = wanted * FILES_OF_A_CASE + OWN_FILES
    most = (files or most_files)(needed)
    at_once = wanted if most >= needed else max(1, (most - OWN_FILES) // FILES_OF_A_CASE)
    says = []
    if at_once < wanted:
        says.append(
            f"-n {wanted}: expected room for {needed} open files, actual {most} (ulimit -n): {at_once} cases at once"
        )
    worst, free = at_once * FLOOD_OCTETS, free_octets()
    if worst > free:
        says.append(
            f"-n {at_once}: a target that floods every case may take {_mib(worst)} of memory, {_mib(free)} are free"
        )
    return Room(at_once, tuple(says))


def _mib(octets: int) -> str:
    return f"{octets >> 20} MiB"


def most_files(needed: int) -> int:
    """How many files may be open, after the limit was raised as far as needed and allowed."""
    if not _HAS_LIMITS:
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):
        return soft
    return raised
