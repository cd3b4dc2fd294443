"""State of a started broker between two commands: one JSON file and one lock.

Knows: the fields of the state file and how to write it so that it is never half there.
Must not know: how brokers start and stop.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from amqpspec.record.lock import take
from amqpspec.target.known.process import Process, is_alive


@dataclass(frozen=True, slots=True)
class Tls:
    """Files for a TLS listener: the authority, the certificate of the broker and its key, all PEM."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Options:
    """What was requested beyond the defaults; a restart keeps it."""

    plugins: tuple[str, ...] = ()
    tls: Tls | None = None
    memory_limit_mib: int | None = None


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a broker listens; ``extra`` are ports that it needs for itself."""

    amqp: int
    tls: int | None = None
    extra: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """One start: ``processes`` in order of starting, the broker last; none of them once it was stopped."""

    version: str
    ports: Ports
    options: Options
    log: Path
    log_offset_octets: int
    processes: tuple[Process, ...] = ()
    complete: bool = False
    ready: bool = False

    @property
    def broker(self) -> Process | None:
        """The process of the broker itself, if it came so far."""
        return self.processes[-1] if self.complete else None

    @property
    def alive(self) -> bool:
        """Whether the broker's process still runs."""
        return self.broker is not None and is_alive(self.broker)

    def with_process(self, process: Process, *, complete: bool) -> State:
        """The state after one more process was started."""
        return replace(self, processes=(*self.processes, process), complete=complete)

    def stopped(self) -> State:
        """The state after the end: the port and the options stay, for a restart."""
        return replace(self, processes=(), complete=False, ready=False)


class StateFile:
    """The state file in one directory, and the lock that keeps two commands off the same broker."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / "state.json"

    def read(self) -> State | None:
        """The last state, or None when there is none that can be read."""
        try:
            return _from_json(json.loads(self._path.read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, state: State) -> None:
        """Replaces the file in one step."""
        partial = self._path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(state), indent=2, default=str) + "\n")
        partial.replace(self._path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Waits until no other command works on this broker, and keeps others out."""
        self._directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._directory / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            take(handle, wait=True)
            yield
        finally:
            os.close(handle)


def _from_json(row: dict[str, Any]) -> State:
    tls = row["options"]["tls"]
    return State(
        version=row["version"],
        ports=Ports(row["ports"]["amqp"], row["ports"]["tls"], tuple(row["ports"]["extra"])),
        options=Options(
            plugins=tuple(row["options"]["plugins"]),
            tls=Tls(**{name: Path(path) for name, path in tls.items()}) if tls else None,
            memory_limit_mib=row["options"].get("memory_limit_mib"),
        ),
        log=Path(row["log"]),
        log_offset_octets=row["log_offset_octets"],
        processes=tuple(Process(**process) for process in row["processes"]),
        complete=row["complete"],
        ready=row["ready"],
    )
