"""Processes that were started here: their identity, their life and their end.

Knows: pids, times of birth, zombies, signals.
Must not know: brokers, ports, configuration.

A pid alone names no one: it is given away again. A process is its pid together with the moment of its birth,
and no signal is sent before both have been compared.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

POLL_INTERVAL_S = 0.01
KILL_TIMEOUT_S = 30.0
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Process:
    """One process forever: ``born`` is what tells it from a later one with the same pid."""

    pid: int
    born: str


@dataclass(frozen=True, slots=True)
class Command:
    """What to execute, in which environment; ``ready_port`` must listen before the next command.

    ``one_cpu`` keeps the process to one CPU from its first instruction on, where the system can do that.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    ready_port: int | None = None
    data_limit_octets: int | None = None
    one_cpu: bool = False


def birth(pid: int) -> str | None:
    """When the process was born; None when there is none or it is a zombie."""
    born = _birth_from_proc(pid) if BOOT_ID.exists() else _birth_from_system(pid)
    if born is None:
        _reap(pid)
    return born


def _birth_from_proc(pid: int) -> str | None:
    """Boot id and start tick: unlike a time of day, neither moves when the clock is set.

    A first thread that ended is shown as a zombie too; the process is one only when no other thread is left.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    state, threads, start_tick = fields[0], int(fields[17]), fields[19]
    return None if state in "ZXx" and threads <= 1 else f"{BOOT_ID.read_text().strip()}/{start_tick}"


def _birth_from_system(pid: int) -> str | None:
    """The time of creation, for systems without /proc."""
    try:
        other = psutil.Process(pid)
        return None if other.status() == psutil.STATUS_ZOMBIE else f"{other.create_time():.2f}"
    except psutil.Error:
        return None


def _reap(pid: int) -> None:
    """Collects the exit status of a dead child of this process, so that it does not stay a zombie."""
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        del _children[pid]


def is_alive(process: Process) -> bool:
    """Whether this process, and not another one with its pid, still runs."""
    return birth(process.pid) == process.born


def spawn(command: Command, cwd: Path, log: Path) -> Process:
    """Starts a command in a separate session, so that it outlives us; its output is appended to ``log``."""
    with log.open("ab") as output, _on_one_cpu() if command.one_cpu else contextlib.nullcontext():
        child = subprocess.Popen(
            _under_limit(command),
            env=command.env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[child.pid] = child
    return Process(child.pid, birth(child.pid) or "ended at once")


def _under_limit(command: Command) -> Sequence[str]:
    """What to execute so that the limit is there before the command's first instruction.

    Bounds what the process may write to, not what it may map: runtimes reserve far more than they use. A command that
    is missing is returned unchanged: its start fails and reports it.
    """
    if (
        command.data_limit_octets is None
        or shutil.which(command.argv[0], path=command.env.get("PATH")) is None
    ):
        return command.argv
    kib = str(command.data_limit_octets >> 10)
    return ("/bin/sh", "-c", 'ulimit -d "$0" && exec "$@"', kib, *command.argv)


@contextlib.contextmanager
def _on_one_cpu() -> Iterator[None]:
    """What this thread starts meanwhile inherits one CPU of those that the thread may use."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(usual)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def end(process: Process, timeout_s: float) -> bool:
    """Asks the process to end and insists after ``timeout_s``; True when it is gone."""
    _signal(process, os.kill, signal.SIGTERM)
    if _ends_within(process, timeout_s):
        return True
    _signal(process, os.killpg, signal.SIGKILL)
    return _ends_within(process, KILL_TIMEOUT_S)


def _signal(process: Process, send: Callable[[int, int], None], number: signal.Signals) -> None:
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError):
            send(process.pid, number)


def _ends_within(process: Process, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_INTERVAL_S)
    return True
