"""Which lines of a reference broker each case executes.

Knows: Python's trace hook, one case at a time. Must not know: mutants, verdicts.

A case's lines include those of its handshake and of the broker's own timers in the meantime: more than its own
doing, never less. The hook slows the broker down, so cases go through several processes in parallel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import amqpspec.reference
from amqpspec.run.case import load_suite
from amqpspec.run.memory import judged_in_memory
from amqpspec.target.live import TargetError

Line = tuple[str, int]
"""A file of the reference broker, and a line of it."""

_ROOM = str(Path(amqpspec.reference.__path__[0]))


def lines_by_case(dialect: str, workers: int, names: Iterable[str] = ()) -> Mapping[str, frozenset[Line]]:
    """The lines of the reference broker that each case of a dialect executes, all cases if none is named.

    Raises TargetError if a process ends without an answer.
    """
    cases = list(names) or list(load_suite(dialect))
    context = get_context("fork")
    found: dict[str, frozenset[Line]] = {}
    started = []
    for first in range(workers):
        answer, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_be_traced, args=(dialect, cases[first::workers], theirs), daemon=True
        )
        process.start()
        theirs.close()
        started.append((process, answer))
    for process, answer in started:
        try:
            found |= answer.recv()
        except EOFError as error:
            process.join()
            said = f"actual: its process ended with exit code {process.exitcode}"
            raise TargetError(f"{dialect}: expected the lines that cases execute, {said}") from error
        process.join()
    return found


def _be_traced(dialect: str, names: Sequence[str], answer: Connection) -> None:
    """The life of a process."""
    tracer = _Tracer()
    sys.settrace(tracer.call)
    suite, found = load_suite(dialect), {}
    for name in names:
        tracer.lines = set()
        judged_in_memory(suite[name])
        found[name] = frozenset(tracer.lines)
    sys.settrace(None)
    answer.send(found)


class _Tracer:
    """Collects lines of the reference broker; of all other code only calls are traced."""

    def __init__(self) -> None:
        self.lines: set[Line] = set()

    def call(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """A function is entered."""
        return self._line if frame.f_code.co_filename.startswith(_ROOM) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def module_name(file: str) -> str:
    """The module that a file of the reference broker is."""
    inside = Path(file).relative_to(_ROOM).with_suffix("")
    return ".".join((amqpspec.reference.__name__, *inside.parts)).removesuffix(".__init__")
