"""A client under test as a process: started with a scenario, watched, ended with all its children.

Knows: processes, their output, their limits. Must not know: any dialect, verdicts.
The contract: ``AMQPSPEC_URL``, ``AMQPSPEC_SCENARIO`` and ``AMQPSPEC_CONTEXT`` (JSON) say what to do; each line of the
output that is a JSON object with ``event`` is an event, other lines are the agent's own affair. Exit code 0 is "done",
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
from typing import IO, Any

import psutil

from amqpspec.net.clock import monotonic_s

CANNOT = 89
MAX_OUTPUT_OCTETS = 1 << 20
_ERRORS = frozenset({"error", "closed"})
_LOOK_S = 0.05


class Application(StrEnum):
    """Whether the application learned of what happened."""

    REPORTED = "reported"
    SILENT = "silent"
    HANG = "hang"
    CRASH = "crash"
    MEMORY = "memory"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an agent may take to start, how long from its first connection on, and how much memory it may take."""

    start_s: float = 60.0
    scenario_s: float = 15.0
    memory_octets: int = 1 << 30

    def scaled(self, factor: float) -> Limits:
        """The same limits with more time, or less."""
        return replace(self, start_s=self.start_s * factor, scenario_s=self.scenario_s * factor)


@dataclass(frozen=True, slots=True)
class Ran:
    """What an agent came to; ``said`` are the last octets of its error output, as text."""

    application: Application
    exit_code: int | None
    events: tuple[Mapping[str, Any], ...]
    said: str

    def describe(self) -> str:
        """The application's side in one phrase."""
        if self.application is Application.REPORTED:
            return "the application learned of it"
        return {
            Application.SILENT: "the application ended as if nothing had happened",
            Application.HANG: "the application did not come to an end",
            Application.CRASH: f"the application crashed (signal {-(self.exit_code or 0)})",
            Application.MEMORY: "the application took more memory than it may",
            Application.CANNOT: "the client cannot do that",
        }[self.application]


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
    try:
        broken = _watch(process, limits, connected_s)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        out.join()
        err.join()
    return _ran(
        process.returncode, broken, _events(out.octets), err.octets[-2000:].decode("utf-8", "replace")
    )


def _watch(
    process: subprocess.Popen[bytes], limits: Limits, connected_s: Callable[[], float | None]
) -> Application | None:
    """Wait for the end; what limit was broken, if any."""
    begun_s = monotonic_s()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_S)
            return None
        since_s = connected_s()
        until_s = begun_s + limits.start_s if since_s is None else since_s + limits.scenario_s
        if monotonic_s() > until_s:
            return Application.HANG
        if _memory_octets(process.pid) > limits.memory_octets:
            return Application.MEMORY


def _memory_octets(pid: int) -> int:
    """Resident memory of a process and its children; 0 where it is gone."""
    try:
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))
    except psutil.Error:
        return 0


def _ran(exit_code: int, broken: Application | None, events: tuple[Mapping[str, Any], ...], said: str) -> Ran:
    if broken is not None:
        return Ran(broken, None, events, said)
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
        """Wait until all is read; a child that got away may hold the pipe, so not for ever."""
        self._thread.join(1.0)


def _events(output: bytes) -> tuple[Mapping[str, Any], ...]:
    found: list[Mapping[str, Any]] = []
    for line in output.splitlines():
        with suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict) and isinstance(event.get("event"), str):
                found.append(event)
    return tuple(found)
