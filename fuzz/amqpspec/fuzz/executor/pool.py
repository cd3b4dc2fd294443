"""Several worker processes behind the interface of one executor; what one that died left unfinished is sent again.

Knows: processes, pipes, the clock. Must not know: what is sent, journals, oracles.

A worker is given its share of a batch at once, and says each result as it comes. Monitors, blame and journal stay
with the parent. A worker lives as long as the pipe from its parent: a parent that is killed leaves none behind.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from amqpspec.fuzz.executor.frames import Frames, framed
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.spare_time import SpareTime
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.executor.worker import Share, WorkerReport, WorkerSettings, portable
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId

_REPLACED_A_BATCH = 3
"""How often one share is sent again; what has no result then stays undecided."""
_SILENT_S, _SILENT_STEPS = 60.0, 8
_READ_OCTETS = 1 << 20
_ENDING_S = 5.0
_WORKER = ("from amqpspec.fuzz.executor.worker import main; main()",)


class WorkerError(OSError):
    """Workers cannot be kept alive, or one failed by itself; the text is one line."""


@dataclass(frozen=True, slots=True)
class Death:
    """A worker that ended: how, and which inputs had no result yet. ``again`` says whether they are sent again."""

    worker: int
    how: str
    unfinished: tuple[str, ...]
    again: bool


class WorkerPool(Protocol):
    """Runs inputs. ``worker`` is the worker of the last result; ``undecided`` inputs have no result because of a fault
    on our side.

    ``waiting`` inputs were sent and only wait for the end of a silence: their results come with a later run, or from
    ``finish``. ``spare`` is the time in which this process waits for the target or for workers.
    """

    worker: int
    deaths: list[Death]
    undecided: list[FuzzInput]
    spare: SpareTime

    @property
    def waiting(self) -> list[FuzzInput]:
        """Inputs without a result."""
        ...

    @property
    def ports(self) -> Mapping[int, InputId]:
        """Those that are still waiting, by the port of their connection."""
        ...

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
        """Yield results as they come, including those that were left waiting."""
        ...

    def finish(self) -> Iterator[InputResult]:
        """Yield the results of what was left waiting."""
        ...

    def serve(self, seconds_s: float) -> None:
        """Listen to the waiting connections for this long."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...


def start_workers(subject: Subject, tempo: Tempo, workers: int) -> WorkerPool:
    """Start one executor in this process, or several worker processes."""
    return SingleWorker(subject.executor(tempo)) if workers == 1 else ExecutorPool(subject, tempo, workers)


def workers_for(processors: int | None) -> int:
    """The usual number of workers: the target needs processors, too, and on two of them one worker keeps it busy."""
    return max(1, min(4, (processors or 1) // 2)) if (processors or 1) > 2 else 1


def utc_us() -> int:
    """Now, in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


class SingleWorker:
    """One executor in this process."""

    def __init__(self, executor: Executor) -> None:
        self._executor, self.spare = executor, executor.spare
        executor.carrying = True
        self.worker = 0
        self.deaths: list[Death] = []
        self.undecided: list[FuzzInput] = []

    @property
    def waiting(self) -> list[FuzzInput]:
        """Inputs without a result."""
        return self._executor.waiting

    @property
    def ports(self) -> Mapping[int, InputId]:
        """Those that are still waiting, by the port of their connection."""
        return self._executor.ports

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
        """Yield results as they come, including those that were left waiting."""
        return self._executor.run(inputs)

    def finish(self) -> Iterator[InputResult]:
        """Yield the results of what was left waiting."""
        return self._executor.finish()

    def serve(self, seconds_s: float) -> None:
        """Listen to the waiting connections for this long."""
        self._executor.serve(seconds_s)

    def close(self) -> None:
        """Close the executor."""
        self._executor.close()


@dataclass(slots=True)
class _Worker:
    """A child, its pipe, and the places in the batch for which it has not answered yet."""

    number: int
    child: subprocess.Popen[bytes]
    frames: Frames = field(default_factory=Frames)
    open: dict[int, FuzzInput] = field(default_factory=dict)
    sent: int = 0
    heard_s: float = 0.0

    @property
    def fd(self) -> int:
        assert self.child.stdout is not None
        return self.child.stdout.fileno()


class ExecutorPool:
    """Worker processes, started when it is made and ended by ``close``. Raises WorkerError.

    Each run is complete: nothing is left waiting.
    """

    waiting: ClassVar[list[FuzzInput]] = []
    ports: ClassVar[Mapping[int, InputId]] = {}

    def __init__(self, subject: Subject, tempo: Tempo, workers: int) -> None:
        self._subject, self._tempo, self._count = subject, tempo, workers
        self._silent_s = _SILENT_S + _SILENT_STEPS * (tempo.way_s + tempo.refusal_s + tempo.quiet_s)
        self._selector, self.spare = selectors.DefaultSelector(), SpareTime()
        self._started = 0
        self._barren = 0
        self.worker = 0
        self.deaths: list[Death] = []
        self.undecided: list[FuzzInput] = []
        self._workers = [self._start(number) for number in range(workers)]

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids."""
        return tuple(worker.child.pid for worker in self._workers)

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
        """Yield results as they come. An input without one was not started, or is ``undecided``."""
        items, self.undecided = list(inputs), []
        for worker in self._workers:
            worker.open = {}
        losses = dict.fromkeys(range(self._count), 0)
        for number in range(self._count):
            self._give(number, dict(list(enumerate(items))[number :: self._count]), losses)
        while any(worker.open for worker in self._workers):
            for worker, report in self._heard():
                if report is None:
                    self._lost(worker, losses)
                elif report.failure:
                    raise WorkerError(f"worker {worker.number} failed: {report.failure}")
                elif report.fields is None:
                    # Its share is done; what it did not begin, for the target was gone, has no result.
                    worker.open = {} if report.serial == worker.sent else worker.open
                elif report.serial == worker.sent and report.place in worker.open:
                    self._barren = 0
                    self.worker = worker.number
                    yield _result(worker.open.pop(report.place), report)

    def finish(self) -> Iterator[InputResult]:
        """Yield nothing: nothing is left waiting."""
        return iter(())

    def serve(self, seconds_s: float) -> None:
        """Sleep."""
        self.spare.sleep(seconds_s)

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            self._end(worker)
        self._selector.close()

    # --- single workers

    def _start(self, number: int) -> _Worker:
        self._started += 1
        command = [sys.executable, "-c", *_WORKER]
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0, bufsize=0
        )
        worker = _Worker(number, child)
        os.set_blocking(worker.fd, False)
        self._selector.register(worker.fd, selectors.EVENT_READ, worker)
        settings = WorkerSettings(portable(self._subject), self._tempo, number, self._count, self._started)
        with suppress(OSError):
            self._say(worker, settings)
        return worker

    def _say(self, worker: _Worker, message: object) -> None:
        assert worker.child.stdin is not None
        octets = memoryview(framed(message))
        while octets:
            octets = octets[worker.child.stdin.write(octets) :]

    def _give(self, number: int, share: dict[int, FuzzInput], losses: dict[int, int]) -> None:
        if not share:
            return
        worker = self._workers[number]
        worker.open, worker.sent, worker.heard_s = share, worker.sent + 1, time.monotonic()
        try:
            self._say(worker, Share(worker.sent, tuple(share.items())))
        except OSError:
            self._lost(worker, losses)

    def _heard(self) -> list[tuple[_Worker, WorkerReport | None]]:
        """What workers have reported; None for one that has ended or has been silent for far too long."""
        heard: list[tuple[_Worker, WorkerReport | None]] = []
        for key, _ in self.spare.select(self._selector, 1.0):
            worker: _Worker = key.data
            octets = _read(worker.fd)
            worker.heard_s = time.monotonic()
            heard += [(worker, report) for report in worker.frames.take(octets)]
            if not octets:
                heard.append((worker, None))
        until_s = time.monotonic() - self._silent_s
        heard += [(w, None) for w in self._workers if w.open and w.heard_s < until_s]
        return heard

    def _lost(self, worker: _Worker, losses: dict[int, int]) -> None:
        """Replace a worker that is gone; its unfinished inputs are sent again, a limited number of times."""
        if self._workers[worker.number] is not worker:
            return
        how, number, left = self._end(worker), worker.number, worker.open
        losses[number] = losses.get(number, 0) + 1
        self._barren += 1
        again = losses[number] <= _REPLACED_A_BATCH
        self.deaths.append(Death(number, how, tuple(str(item.id) for item in left.values()), again))
        if self._barren > (_REPLACED_A_BATCH + 1) * self._count * 2:
            raise WorkerError(f"{self._barren} workers ended without an outcome, the last one by {how}")
        self._workers[number] = self._start(number)
        if again:
            self._give(number, dict(left), losses)
        else:
            self.undecided += left.values()

    def _end(self, worker: _Worker) -> str:
        """Close the pipe to a worker and wait for its end; returns how it ended."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(worker.fd)
        child = worker.child
        assert child.stdin is not None and child.stdout is not None
        with suppress(OSError):
            child.stdin.close()
        try:
            code = child.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        child.stdout.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, _READ_OCTETS)
    except BlockingIOError:
        raise AssertionError("a pipe that was ready had nothing to read") from None
    except OSError:
        return b""


def _result(item: FuzzInput, report: WorkerReport) -> InputResult:
    """A result with its input; what the worker has judged is not judged again here."""
    vars(item).setdefault("expectation", report.expectation)
    fields: dict[str, Any] = dict(report.fields or {})
    return InputResult(item=item, **fields)
