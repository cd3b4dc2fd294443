"""A worker process: runs shares of batches in an event loop of its own, and tells its parent what came of them.

Knows: an executor, the pipes to the parent. Must not know: other workers, what outcomes mean.
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
from amqpspec.fuzz.executor.outcome import Outcome
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.states.model import Values

_OF_THE_PARENT = frozenset({"restart", "pid", "log", "known"})
"""Parts of a subject that a worker has no use for; functions cannot be sent to another process."""
_GENERATION = 1_000_000
_READ_OCTETS = 1 << 20


@dataclass(frozen=True, slots=True)
class Hired:
    """The first thing that a worker is told: against whom, how patient, and which of how many it is."""

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
class Said:
    """An outcome without its input; without ``fields``, the end of a share; ``failure`` is a fault of our own."""

    serial: int
    place: int = -1
    fields: Mapping[str, Any] | None = None
    expectation: Expectation | None = None
    failure: str = ""


def portable(subject: Subject) -> dict[str, Any]:
    """The parts of a subject that a worker needs; all of them have to be picklable."""
    return {f.name: getattr(subject, f.name) for f in fields(subject) if f.name not in _OF_THE_PARENT}


def executor_of(hired: Hired) -> Executor:
    """The worker's executor: its part of the connections, with names that no other worker uses."""
    subject = Subject(**hired.subject)
    executor = subject.executor(hired.tempo)
    executor.connections = max(1, subject.connections // hired.workers)
    filling = executor.filling

    def filled(number: int) -> Values:
        return filling(hired.generation * _GENERATION + number * hired.workers + hired.number)

    executor.filling = filled
    return executor


def _listen(inbox: queue.SimpleQueue[Any], fd: int) -> None:
    """Everything that the parent says, until it hangs up or is gone: then the process ends, whatever it is at."""
    frames = Frames()
    while octets := os.read(fd, _READ_OCTETS):
        for message in frames.take(octets):
            inbox.put(message)
    os._exit(0)


def _say(fd: int, said: Said) -> None:
    octets = memoryview(framed(said))
    while octets:
        octets = octets[os.write(fd, octets) :]


def _serve(inbox: queue.SimpleQueue[Any], fd: int) -> None:
    executor = executor_of(inbox.get())
    while True:
        share: Share = inbox.get()
        # Copies, for one input may stand at several places.
        items = {place: copy(item) for place, item in share.items}
        places = {id(item): place for place, item in items.items()}
        for outcome in executor.run(items.values()):
            _say(fd, _told(share.serial, places[id(outcome.item)], outcome))
        _say(fd, Said(share.serial))


def _told(serial: int, place: int, outcome: Outcome) -> Said:
    parts = {f.name: getattr(outcome, f.name) for f in fields(outcome) if f.name != "item"}
    return Said(serial, place, parts, outcome.item.expectation)


def main() -> None:
    """Serve on standard input and output until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_listen, args=(inbox, sys.stdin.fileno()), daemon=True).start()
    try:
        _serve(inbox, out)
    except Exception:
        _say(out, Said(0, failure=" | ".join(traceback.format_exc().strip().splitlines()[-3:])))
        os._exit(1)
