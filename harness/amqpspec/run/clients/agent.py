"""A client under test as a process: started with a scenario, watched, ended with all its children.

Knows: processes, their output, their limits. Must not know: any dialect, verdicts.
The contract: ``AMQPSPEC_URL``, ``AMQPSPEC_SCENARIO`` and ``AMQPSPEC_CONTEXT`` (JSON) say what to do; each line of the
output that is a JSON object with ``event`` is an event, other lines are ignored. Exit code 0 is "done",
89 "this client cannot do that", any other one an error that the application learned of.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import IO, Any, Protocol

import psutil

from amqpspec.net.clock import monotonic_ns, monotonic_s
from amqpspec.run.exits import CANNOT

MAX_OUTPUT_OCTETS = 1 << 20
_ERRORS = frozenset({"error", "closed"})
_LOOK_S = 0.05


class AgentError(Exception):
    """The client's command cannot be run at all, or does not speak as agents do."""


class Application(StrEnum):
    """Whether the application learned of what happened."""

    REPORTED = "reported"
    SILENT = "silent"
    HANG = "hang"
    CRASH = "crash"
    MEMORY = "memory"
    CANNOT = "cannot"
    UNSEEN = "unseen"


FATAL = frozenset({Application.HANG, Application.CRASH, Application.MEMORY})
"""Results that no application may have, whatever its peer does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an agent may take to start, how long from its first connection on, and how much memory it may take."""

    start_s: float = 60.0
    scenario_s: float = 20.0
    memory_octets: int = 1 << 30

    def scaled(self, factor: float) -> Limits:
        """The same limits with more time, or less."""
        return replace(self, start_s=self.start_s * factor, scenario_s=self.scenario_s * factor)

    def broken(self, begun_s: float, connected_s: float | None, usage: Usage) -> Application | None:
        """The result of an agent that began, and perhaps connected, at these times; None within the limits."""
        until_s = begun_s + self.start_s if connected_s is None else connected_s + self.scenario_s
        if monotonic_s() > until_s:
            return Application.HANG
        return Application.MEMORY if usage.look() > self.memory_octets else None


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of an agent; ``said`` are the last octets of its error output, as text.

    ``is_shared``: its process had carried out other tasks before. ``cpu_s`` is about how much processor time it took.
    ``stopped_ns`` is when the harness decided to end it, None if it ended itself. ``reconnected``: it connected again
    after the connection that is judged had ended.
    """

    application: Application
    exit_code: int | None
    events: tuple[Mapping[str, Any], ...]
    said: str
    is_shared: bool = False
    cpu_s: float = 0.0
    stopped_ns: int | None = None
    reconnected: bool = False

    def describe(self) -> str:
        """The application's side in one phrase."""
        if self.application is Application.REPORTED:
            return "the application was informed"
        return {
            Application.SILENT: "the application ended normally",
            Application.HANG: "the application did not end in time",
            Application.CRASH: f"the application crashed (signal {-(self.exit_code or 0)})",
            Application.MEMORY: "the application exceeded its memory limit",
            Application.CANNOT: "the client cannot do that",
            Application.UNSEEN: "the application was not observed",
        }[self.application]


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent has to do, and where."""

    url: str
    scenario: str
    context: Mapping[str, Any]

    def environment(self) -> Mapping[str, str]:
        """The task as the environment of a process."""
        return {
            "AMQPSPEC_URL": self.url,
            "AMQPSPEC_SCENARIO": self.scenario,
            "AMQPSPEC_CONTEXT": json.dumps(self.context),
        }


class Sockets(Protocol):
    """The connections that an agent makes while it carries out a task."""

    @property
    def connected_s(self) -> float | None:
        """When the first of them began, on the monotonic clock; None if none has."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether the client still holds one of them open."""
        ...


class Runner(Protocol):
    """How an agent is brought to carry out tasks; both raise OSError, AgentError for a command that cannot run."""

    def run(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task."""
        ...

    def run_alone(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task in a process that does nothing else."""
        ...


@dataclass(frozen=True, slots=True)
class OneEach:
    """A process for each task; it reads the task from its environment."""

    command: Sequence[str]

    def run(self, task: Task, limits: Limits, sockets: Sockets) -> Ran:
        """Carry out a task."""
        return run_agent(self.command, task.environment(), limits, lambda: sockets.connected_s)

    run_alone = run


def run_agent(
    command: Sequence[str],
    environment: Mapping[str, str],
    limits: Limits,
    connected_s: Callable[[], float | None],
) -> Ran:
    """Run an agent to its end, or to the end of its limits; nothing of it is left running.

    ``connected_s`` says when it first connected, on the monotonic clock. Raises OSError for a command that cannot run.
    """
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    out, err = _Output(process.stdout), _Output(process.stderr)
    usage = Usage(process.pid)
    try:
        broken = _watch(process, limits, connected_s, usage)
        stopped_ns = monotonic_ns()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        out.join()
        err.join()
    said = err.octets[-2000:].decode("utf-8", "replace")
    return replace(
        came_to(process.returncode, broken, _events(out.octets), said, stopped_ns), cpu_s=usage.cpu_s
    )


def _watch(
    process: subprocess.Popen[bytes], limits: Limits, connected_s: Callable[[], float | None], usage: Usage
) -> Application | None:
    """Wait for the end; what limit was broken, if any."""
    begun_s = monotonic_s()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_S)
            return None
        if (broken := limits.broken(begun_s, connected_s(), usage)) is not None:
            return broken


class Usage:
    """What a process and its children use, sampled from time to time."""

    def __init__(self, pid: int) -> None:
        self._pid, self._seen_s, self._begun_s = pid, 0.0, 0.0

    @property
    def cpu_s(self) -> float:
        """Processor time since the beginning, as of the last look."""
        return max(0.0, self._seen_s - self._begun_s)

    def begin(self) -> None:
        """What was used so far does not count."""
        self.look()
        self._begun_s = self._seen_s

    def look(self) -> int:
        """Look; resident memory in octets, 0 if the process is gone."""
        try:
            process = psutil.Process(self._pid)
            family = (process, *process.children(recursive=True))
            self._seen_s = sum(sum(p.cpu_times()[:2]) for p in family)
            return sum(p.memory_info().rss for p in family)
        except psutil.Error:
            return 0


def came_to(
    exit_code: int,
    broken: Application | None,
    events: tuple[Mapping[str, Any], ...],
    said: str,
    stopped_ns: int,
) -> Ran:
    """What an exit code, a limit that was broken, and events mean; ``stopped_ns``: when the watching ended."""
    if broken is not None:
        return Ran(broken, None, events, said, stopped_ns=stopped_ns)
    if exit_code == CANNOT:
        return Ran(Application.CANNOT, exit_code, events, said)
    if exit_code < 0:
        return Ran(Application.CRASH, exit_code, events, said)
    learned = exit_code != 0 or any(event.get("event") in _ERRORS for event in events)
    return Ran(Application.REPORTED if learned else Application.SILENT, exit_code, events, said)


class _Output:
    """Reads one of a process's outputs to its end, keeps the first ``MAX_OUTPUT_OCTETS``."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.octets = b""
        self._pipe = pipe
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe:
            while data := os.read(self._pipe.fileno(), 1 << 16):
                self.octets += data[: MAX_OUTPUT_OCTETS - len(self.octets)]

    def join(self) -> None:
        """Wait until all is read; a child that got away may hold the pipe, so not forever."""
        self._thread.join(1.0)


def _events(output: bytes) -> tuple[Mapping[str, Any], ...]:
    found: list[Mapping[str, Any]] = []
    for line in output.splitlines():
        if (event := event_of(line)) is not None:
            found.append(event)
    return tuple(found)


def event_of(line: bytes) -> Mapping[str, Any] | None:
    """The event that a line of output holds; None if it holds none."""
    with suppress(ValueError, RecursionError):
        event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            return event
    return None
