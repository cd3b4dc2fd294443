"""A worker process: runs shares of batches in its own event loop, and reports the results to its parent.

Knows: an executor, the pipes to the parent. Must not know: other workers, what results mean.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

from amqpspec.fuzz.executor.frames import Frames, framed
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.states.model import Values

_OF_THE_PARENT = frozenset({"restart", "pid", "log", "known", "make_node"})
"""Parts of a subject that a worker has no use for; functions cannot be sent to another process."""
_GENERATION = 1_000_000
_READ_OCTETS = 1 << 20


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The first message to a worker: the target, the tempo, and which of how many workers it is."""

    subject: Mapping[str, Any]
    tempo: Tempo
    number: int
    workers: int
    generation: int


@dataclass(frozen=True, slots=True)
class Share:
    """Inputs by their places in the batch."""

    serial: int
    items: tuple[tuple[int, FuzzInput], ...]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """A result without its input. Without ``fields``, it is the end of a share; ``failure`` is a fault of our own."""

    serial: int
    place: int = -1
    fields: Mapping[str, Any] | None = None
    expectation: Expectation | None = None
    failure: str = ""


def portable(subject: Subject) -> dict[str, Any]:
    """The parts of a subject that a worker needs; all of them can be pickled."""
    return {f.name: getattr(subject, f.name) for f in fields(subject) if f.name not in _OF_THE_PARENT}


def executor_of(settings: WorkerSettings) -> Executor:
    """The worker's executor: its share of the connections, with names that no other worker uses."""
    subject = Subject(**settings.subject)
    executor = subject.executor(settings.tempo)
    executor.connections = max(1, subject.connections // settings.workers)
    filling = executor.filling

    def filled(number: int) -> Values:
        return filling(settings.generation * _GENERATION + number * settings.workers + settings.number)

    executor.filling = filled
    return executor


def _listen(inbox: queue.SimpleQueue[Any], fd: int) -> None:
    """Yield what the parent says until it closes the pipe or is gone; then the process ends, whatever it is doing."""
    frames = Frames()
    while octets := os.read(fd, _READ_OCTETS):
        for message in frames.take(octets):
            inbox.put(message)
    os._exit(0)


def _say(fd: int, report: WorkerReport) -> None:
    octets = memoryview(framed(report))
    while octets:
        octets = octets[os.write(fd, octets) :]


def _serve(inbox: queue.SimpleQueue[Any], fd: int) -> None:
    executor = executor_of(inbox.get())
    while True:
        share: Share = inbox.get()
        # Copies, for one input may stand at several places.
        items = {place: copy(item) for place, item in share.items}
        places = {id(item): place for place, item in items.items()}
        for result in executor.run(items.values()):
            _say(fd, _report_of(share.serial, places[id(result.item)], result))
        _say(fd, WorkerReport(share.serial))


def _report_of(serial: int, place: int, result: InputResult) -> WorkerReport:
    parts = {f.name: getattr(result, f.name) for f in fields(result) if f.name != "item"}
    return WorkerReport(serial, place, parts, result.item.expectation)


def main() -> None:
    """Serve on standard input and output until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_listen, args=(inbox, sys.stdin.fileno()), daemon=True).start()
    try:
        _serve(inbox, out)
    except Exception:
        _say(out, WorkerReport(0, failure=" | ".join(traceback.format_exc().strip().splitlines()[-3:])))
        os._exit(1)
