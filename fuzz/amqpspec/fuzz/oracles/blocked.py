"""Finds what the threads of a silent process wait for: a deadlock that a JVM reports, or the locks of a Go program.

Knows: signals, how a JVM and Go write their threads. Must not know: inputs, findings.

A JVM says which threads are deadlocked. Go does not: of all goroutines that wait for a lock, the one with the longest
stack is named, because who holds a lock and waits for another was called from below the first.
"""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

from amqpspec.fuzz.oracles.frames import go_functions, jvm_functions
from amqpspec.fuzz.oracles.process import gauge
from amqpspec.fuzz.oracles.suspicion import BLOCKED
from amqpspec.fuzz.oracles.threads import is_jvm, written_threads

_GO_BUILD = b"\xff Go buildinf:"
"""What the linker of Go writes into each program."""
_STACKS, _HEAP = "Java stack information for the threads listed above", "\nHeap\n"
"""A JVM writes its threads, those that are deadlocked, and its heap, in this order."""
_AT_A_LOCK = re.compile(r"goroutine \d+ \[(?:semacquire|sync\.(?:RW)?Mutex\.R?Lock)\b")
_MOST_LINES, _MOST_WAITING = 100_000, 8

Waits = tuple[str, str]
"""The cause, and for people, one line for each place in which something waits; both empty if nothing is known."""


def blocked_in(pid: int | None, news: Callable[[], str], wait: Callable[[float], None]) -> Waits:
    """What a process waits for that neither works nor answers. **A Go program ends**: it is restarted afterwards.

    ``news`` returns what the target's log says since the last call: both runtimes write their threads there.
    """
    if pid is None:
        return "", ""
    if is_jvm(pid):
        return of_jvm(written_threads(pid, news, wait, lambda text: _HEAP in text))
    if is_go(pid):
        return of_go(written_threads(pid, news, wait, lambda text: not gauge(pid).alive))
    return "", ""


def is_go(pid: int) -> bool:
    """Whether a process runs a program that was linked by Go."""
    try:
        with (
            Path(f"/proc/{pid}/exe").open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
        ):
            return program.find(_GO_BUILD) >= 0
    except (OSError, ValueError):
        return False


def of_jvm(text: str) -> Waits:
    """The deadlock that a dump of a JVM reports, by the first function of the target in each of its threads."""
    _, known, stacks = text.rpartition(_STACKS)
    threads = re.split(r'^".*":$', stacks.partition(_HEAP)[0], flags=re.MULTILINE)[1:] if known else []
    places = [own[0] for own in (jvm_functions(_frames(thread)) for thread in threads) if own]
    return _waits(sorted(set(places)), Counter(places))


def _frames(thread: str) -> list[str]:
    """The frames of a stack without the lines about its locks."""
    return [line for line in thread.splitlines() if line.lstrip().startswith("at ")]


def of_go(text: str) -> Waits:
    """The function of the goroutine that waits for a lock with the longest stack."""
    stacks = [own for own in _at_locks(text.splitlines()[-_MOST_LINES:]) if own]
    if not stacks:
        return "", ""
    # The same stack in every run, whatever the order of goroutines.
    deepest = max(stacks, key=lambda own: (len(own), own))
    return _waits([deepest[0]], Counter(own[0] for own in stacks))


def _at_locks(lines: list[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines):
        if _AT_A_LOCK.match(line):
            yield go_functions(list(takewhile(str.strip, lines[number + 1 :])))


def _waits(cause: list[str], places: Counter[str]) -> Waits:
    if not cause:
        return "", ""
    lines = [f"{count} waiting in {place}" for place, count in places.most_common(_MOST_WAITING)]
    return BLOCKED + " and ".join(cause), "\n".join(lines)
