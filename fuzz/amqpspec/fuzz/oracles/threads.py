"""Finds where a busy JVM works: dumps of its threads, and the function of the busiest one in all of them.

Knows: signals, how a JVM writes its threads. Must not know: inputs, findings.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import psutil

from amqpspec.fuzz.oracles.frames import jvm_functions

_DUMPS, _BETWEEN_S = 6, 0.1
_THREAD = re.compile(r'^"(?P<name>.*)" .*\bcpu=(?P<cpu>[\d.]+)ms ')
_MOST_LINES = 20_000
_END, _LOOKS, _LOOK_S = "JNI global refs", 50, 0.1
"""Near the end of a dump; a JVM writes it once its threads have stopped."""


Stack = tuple[str, ...]
"""Functions, the innermost last."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of a dump: its CPU time, and its stack."""

    cpu_ms: float
    functions: Stack


def endless_stack(pid: int | None, news: Callable[[], str], wait: Callable[[float], None]) -> Stack:
    """The functions that the busiest thread does not leave; empty if nothing is known.

    ``news`` returns what the target's log says since the last call: a JVM writes its threads there.
    """
    dumps = [_dump(pid, news, wait)]
    while dumps[-1] and len(dumps) < _DUMPS:
        wait(_BETWEEN_S)
        dumps.append(_dump(pid, news, wait))
    return stack_in_all(dumps)


def stack_in_all(dumps: Sequence[Mapping[str, Thread]]) -> Stack:
    """The functions that the busiest thread was in each time; what they call differs from dump to dump."""
    first, last = dumps[0], dumps[-1]
    spent = {name: last[name].cpu_ms - first[name].cpu_ms for name in first if name in last}
    busiest = max((name for name in spent if last[name].functions), key=spent.__getitem__, default="")
    if not busiest or spent[busiest] <= 0:
        return ()
    return _common([dump[busiest].functions for dump in dumps if busiest in dump])


def is_jvm(pid: int) -> bool:
    """Whether a process is a JVM that writes its threads when asked to."""
    try:
        process = psutil.Process(pid)
        return process.name() == "java" and "-Xrs" not in process.cmdline()
    except psutil.Error:
        return False


def _dump(pid: int | None, news: Callable[[], str], wait: Callable[[float], None]) -> dict[str, Thread]:
    """The threads of a process if it is a JVM; the signal would end any other process."""
    if pid is None or not is_jvm(pid):
        return {}
    return threads_in(written_threads(pid, news, wait, lambda text: _END in text))


def written_threads(
    pid: int, news: Callable[[], str], wait: Callable[[float], None], is_whole: Callable[[str], bool]
) -> str:
    """What a process writes into its log when it is asked for its threads, as far as it does so soon."""
    try:
        os.kill(pid, signal.SIGQUIT)
    except OSError:
        return ""
    text = ""
    for _ in range(_LOOKS):
        whole = is_whole(text)
        text += news()
        if whole:
            break
        wait(_LOOK_S)
    return text


def threads_in(text: str) -> dict[str, Thread]:
    """The threads of the last dump in a text, by name."""
    lines = text.splitlines()[-_MOST_LINES:]
    found = {}
    for number, line in enumerate(lines):
        if head := _THREAD.match(line):
            stack = list(takewhile(str.strip, lines[number + 1 :]))
            found[head["name"]] = Thread(float(head["cpu"]), tuple(reversed(jvm_functions(stack))))
    return found


def _common(stacks: Sequence[Stack]) -> Stack:
    """What all stacks have in common, from their beginnings."""
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*stacks, strict=False))
    return tuple(level[0] for level in levels)
