"""Agents that carry out many tasks in one process: tasks go in as lines of JSON, events come out as lines of JSON.

Knows: processes that are kept, and when one may be kept no longer. Must not know: any dialect, verdicts.
The contract: ``AMQPSPEC_BATCH`` is 1. The agent prints the event ``ready`` once. Each line of its input is a task:
``order`` (a number), ``scenario``, ``url``, ``context``. Each event of a task carries its ``order``; the last one is
``done`` with ``exit_code``, which means what the exit code of a process means. At the end of its input the agent ends.
A process is used again only if it is like new: it said ``done``, holds no connection and left no children.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

import psutil

from amqpspec.net.clock import monotonic_ns, monotonic_s
from amqpspec.run.clients.agent import (
    MAX_OUTPUT_OCTETS,
    AgentError,
    Application,
    Limits,
    Ran,
    Sockets,
    Task,
    Usage,
    came_to,
    event_of,
)

_LOOK_S, _GRACE_S, _END_S = 0.05, 0.5, 1.0
_SAID_OCTETS = 2000
_MAX_EXIT_CODE = 255


class BatchAgents:
    """A ``Runner`` that keeps processes; leaving it ends them all."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self.started = 0

    def run(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task, in a process that may have carried out others."""
        process = self._kept() or self._new(limits)
        try:
            ran = process.run(task, limits, sockets)
        except BaseException:
            process.end()
            raise
        if process.is_reusable:
            with self._lock:
                self._idle.append(process)
        else:
            process.end()
        return ran

    def run_alone(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task in a process that does nothing else."""
        process = self._new(limits)
        try:
            return process.run(task, limits, sockets)
        finally:
            process.end()

    def _kept(self) -> _Process | None:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_reusable:
                    return process
                process.end()
        return None

    def _new(self, limits: Limits) -> _Process:
        with self._lock:
            self.started += 1
        process = _Process(self._command)
        try:
            process.wait_until_ready(limits)
        except BaseException:
            process.end()
            raise
        return process

    def __enter__(self) -> BatchAgents:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_idle()

    def end_idle(self) -> None:
        """End the processes that carry out nothing now."""
        with self._lock:
            processes, self._idle = self._idle, []
        for process in processes:
            process.end()


class _Process:
    """One process of an agent, with at most one task in progress. Raises OSError for a command that cannot run."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "AMQPSPEC_BATCH": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._usage = Usage(self._process.pid)
        self._errors = _Tail(self._process.stderr)
        self._events = _Events(self._process.stdout, self._kill)
        self._family: frozenset[int] = frozenset()
        self._order, self._is_spoilt = 0, False

    @property
    def is_reusable(self) -> bool:
        """Whether it may carry out another task."""
        return not self._is_spoilt and self._process.poll() is None

    def wait_until_ready(self, limits: Limits) -> None:
        """Wait for the event ``ready``; raises AgentError."""
        until_s = monotonic_s() + limits.start_s
        while not self._events.wait(lambda: self._events.is_ready):
            if self._process.poll() is not None or monotonic_s() > until_s:
                why = self._errors.text.strip().splitlines()[-1:] or ["nothing"]
                name = " ".join(self._command)[:200]
                raise AgentError(
                    f"{name}: expected an agent that reports that it is ready (--batch), actual: {why[0][:200]}"
                )
        self._family = self._session()

    def run(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task; whatever happens, it ends within the limits."""
        self._order += 1
        self._errors.forget()
        self._usage.begin()
        self._events.begin(self._order)
        order = {"order": self._order, "scenario": task.scenario, "url": task.url, "context": task.context}
        with suppress(OSError):  # Then it has ended, and is seen to have.
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
        broken = self._watch(limits, sockets)
        stopped_ns = monotonic_ns()
        self._usage.look()
        exit_code = self._exit_code(broken, sockets)
        ran = came_to(exit_code, broken, self._events.finish(), self._errors.text, stopped_ns)
        return replace(ran, is_shared=self._order > 1, cpu_s=self._usage.cpu_s)

    def _watch(self, limits: Limits, sockets: Sockets) -> Application | None:
        """Wait until the task is done, or the process has ended; what limit was broken, if any."""
        begun_s = monotonic_s()
        while not self._events.wait(lambda: self._events.exit_code is not None):
            if self._process.poll() is not None:
                return None
            if (broken := limits.broken(begun_s, sockets.connected_s, self._usage)) is not None:
                return broken
        return None

    def _exit_code(self, broken: Application | None, sockets: Sockets) -> int:
        """What the task ended with; a process that may not be used again is ended now, as its own end would be."""
        said = self._events.exit_code
        if broken is not None or said is None:
            self.end()
            # It may have said the last word before it ended, and no one had read it yet.
            said = self._events.exit_code
            return self._process.returncode if said is None or broken is not None else said
        until_s = monotonic_s() + _GRACE_S
        while sockets.is_open and monotonic_s() < until_s:
            self._events.wait(lambda: not sockets.is_open)
        if sockets.is_open or self._session() - self._family:
            self.end()
        return said

    def _session(self) -> frozenset[int]:
        """All processes that descend from the agent and did not leave its session."""
        found = set()
        for pid in psutil.pids():
            with suppress(OSError):
                if os.getsid(pid) == self._process.pid:
                    found.add(pid)
        return frozenset(found)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it, with all its children; nothing of it is left."""
        if self._is_spoilt:
            return
        self._is_spoilt = True
        self._kill()
        self._process.wait()
        self._events.join()
        self._errors.join()
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()


class _Events:
    """Reads a process's events; keeps those of the task in progress, the first ``MAX_OUTPUT_OCTETS`` of them.

    A process that never ends between two tasks is killed.
    """

    def __init__(self, pipe: IO[bytes], kill: Callable[[], None]) -> None:
        self.is_ready = False
        self.exit_code: int | None = None
        self._pipe, self._kill = pipe, kill
        self._order: int | None = None
        self._kept: list[Mapping[str, Any]] = []
        self._octets = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def begin(self, order: int) -> None:
        """A task is in progress from now on."""
        with self._changed:
            self._order, self._kept, self._octets, self.exit_code = order, [], 0, None

    def finish(self) -> tuple[Mapping[str, Any], ...]:
        """No task is in progress any more; the events of the last one."""
        with self._changed:
            self._order, self._octets = None, 0
            return tuple(self._kept)

    def wait(self, until: Callable[[], bool]) -> bool:
        """Wait a moment for something to happen; whether it has."""
        with self._changed:
            return self._changed.wait_for(until, _LOOK_S)

    def join(self) -> None:
        """Wait until all is read; a child that got away may hold the pipe, so not forever."""
        self._thread.join(_END_S)

    def _read(self) -> None:
        with self._pipe:
            for octets, line in _lines(self._pipe):
                event = event_of(line) if line is not None else None
                with self._changed:
                    self._octets += octets
                    if event is not None:
                        self._take(event)
                    if self._order is None and self._octets > MAX_OUTPUT_OCTETS:
                        self._kill()

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "ready":
            self.is_ready = True
        elif self._order is None or event.get("order") != self._order or self.exit_code is not None:
            return  # Of a task that is over, or of none.
        elif event["event"] == "done":
            code = event.get("exit_code")
            if isinstance(code, int) and not isinstance(code, bool) and 0 <= code <= _MAX_EXIT_CODE:
                self.exit_code = code
        elif self._octets <= MAX_OUTPUT_OCTETS:
            self._kept.append(event)
        self._changed.notify_all()


def _lines(pipe: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """How much was read, with each line that became whole; None for what is no line yet, or too long for one."""
    begun, is_too_long = bytearray(), False
    while data := os.read(pipe.fileno(), 1 << 16):
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield len(end) + 1, None if is_too_long else bytes(begun + end)
            begun.clear()
            is_too_long = False
        yield len(rest), None
        is_too_long = is_too_long or len(begun) + len(rest) > MAX_OUTPUT_OCTETS
        begun = bytearray() if is_too_long else begun + rest


class _Tail:
    """Reads a process's error output, keeps the last octets of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._octets = pipe, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """The last octets, as text."""
        return self._octets.decode("utf-8", "replace")

    def forget(self) -> None:
        """The output so far belongs to another task."""
        self._octets = b""

    def join(self) -> None:
        """Wait until all is read, not forever."""
        self._thread.join(_END_S)

    def _read(self) -> None:
        with self._pipe:
            while data := os.read(self._pipe.fileno(), 1 << 16):
                self._octets = (self._octets + data)[-_SAID_OCTETS:]
