"""The life of a known real broker: install, start, restart, stop, on the loopback interface only.

Knows: state directories, ports, readiness, and that only a broker started here may be stopped here. Must not know:
how any one broker is configured (see the other modules of this package), nor any dialect.
"""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from amqpspec.net.ports import LOOPBACK, free_ports, is_listening
from amqpspec.target.known import process
from amqpspec.target.known.memory import limit_in_force_mib, limited
from amqpspec.target.known.process import Command, Process
from amqpspec.target.known.state import Options, Ports, State, StateFile, Tls

__all__ = ["NODES", "USERS", "BrokerError", "Command", "KnownBroker", "Options", "Ports", "Running", "Tls"]

USERS = {"default": ("guest", "guest"), "second": ("second", "second"), "limited": ("limited", "limited")}
"""Name and password of each user, for brokers that have all of them."""
NODES = "amqpspec-1-0."
"""The beginning of the names of queues that brokers create when a link of AMQP 1.0 asks for them."""
POLL_INTERVAL_S = 0.01
HELPER_TIMEOUT_S = 60.0
STARTED_AGAIN = "amqpspec: started again, because "
"""The beginning of the line that we write into a broker's log after a failed start."""
_MOST_LOG_OCTETS = 256 << 20
TAIL_LINES = 3
TAIL_OCTETS = 4096


class BrokerError(Exception):
    """A broker cannot be provisioned: one line with what was expected, what was found, and where."""


@dataclass(frozen=True)
class Running:
    """A broker that answers; a role that it cannot offer is absent from ``users`` or ``vhosts``.

    ``memory_limit_mib`` bounds what its process may write to, as the system says; None if nothing does.
    """

    name: str
    url: str
    pid: int
    log: Path
    version: str
    users: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    vhosts: Mapping[str, str] = field(default_factory=dict)
    tls_url: str | None = None
    memory_limit_mib: int | None = None


class KnownBroker(ABC):
    """One known broker in one state directory; everything it leaves behind is there.

    ``dialects`` are those it speaks, by id; ``mechanism`` is how one logs in where PLAIN is not offered.
    """

    name: ClassVar[str]
    ready_mark: ClassVar[bytes]
    dialects: ClassVar[tuple[str, ...]]
    users: ClassVar[Mapping[str, tuple[str, str]]]
    vhosts: ClassVar[Mapping[str, str]]
    extra_ports: ClassVar[int] = 0
    takes_plugins: ClassVar[bool] = False
    takes_tls: ClassVar[bool] = False
    takes_release: ClassVar[bool] = False
    mechanism: ClassVar[str] = ""
    stored: ClassVar[str] = ""
    """The folder, in the state directory, of what the broker stores; "" if it stores nothing."""
    start_timeout_s: ClassVar[float] = 180.0
    """Enough for a virtual machine on a busy processor: if a restart is given up, its case ends in an error."""
    stop_timeout_s: ClassVar[float] = 20.0

    def __init__(
        self,
        state_dir: Path | None = None,
        *,
        plugins: tuple[str, ...] = (),
        tls: Tls | None = None,
        release: str = "",
        memory_limit_mib: int | None = None,
    ) -> None:
        if plugins and not self.takes_plugins:
            raise BrokerError(
                f"{self.name}: expected no plugins, it has none; requested {', '.join(plugins)}"
            )
        if tls and not self.takes_tls:
            raise BrokerError(f"{self.name}: expected no TLS files, it has no TLS listener")
        if release and not self.takes_release:
            raise BrokerError(f"{self.name}: expected no version, there is only one; requested {release}")
        self.release = release
        self.state_dir = (state_dir or Path(".brokers") / self.full_name).absolute()
        self.options = Options(plugins, tls, memory_limit_mib)
        self._file = StateFile(self.state_dir)

    @property
    def full_name(self) -> str:
        """The name, with the release if one was requested."""
        return f"{self.name}@{self.release}" if self.release else self.name

    @abstractmethod
    def version(self) -> str | None:
        """The version that is installed, or None."""

    @abstractmethod
    def install(self) -> None:
        """Installs the broker unless it is installed."""

    @abstractmethod
    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        """Writes the configuration; the commands to start, helpers first, the broker last."""

    def start(self, port: int | None = None, *, empty: bool = False) -> Running:
        """Starts the broker on ``port`` or a free one and waits until it is ready; a running one stays.

        With ``empty``, what it stored before is deleted first, which a running one does not allow.
        """
        with self._file.locked():
            state = self._file.read()
            if state is None or not state.alive:
                return self._launch(port, None, self.options, empty=empty)
            if empty:
                raise BrokerError(f"{self.name}: expected to start it without data, it runs already")
            if port not in (None, state.ports.amqp):
                actual = f"it runs on port {state.ports.amqp} already"
                raise BrokerError(f"{self.name}: expected to start on port {port}, {actual}")
            return self._await_ready(state)

    def restart(self, stop_timeout_s: float | None = None) -> Running:
        """Stops the broker if it runs and starts it with the same port, data and options.

        If it does not start, a second attempt follows, with other extra ports, and its log says why: another process
        may have taken a port meanwhile. ``stop_timeout_s`` is how long it may take to end before it is killed; less for
        one that hangs.
        """
        with self._file.locked():
            state = self._file.read()
            if state is None:
                raise BrokerError(
                    f"{self.name}: expected one that was started before, found none in {self.state_dir}"
                )
            self._end(state, stop_timeout_s)
            limit_mib = self.options.memory_limit_mib or state.options.memory_limit_mib
            options = replace(state.options, memory_limit_mib=limit_mib)
            try:
                return self._launch(state.ports.amqp, state.ports.tls, options)
            except BrokerError as error:
                with state.log.open("a") as log:
                    log.write(f"{STARTED_AGAIN}{error}\n")
                return self._launch(state.ports.amqp, state.ports.tls, options)

    def stop(self) -> None:
        """Stops the broker if it was started from this state directory; its data stay."""
        with self._file.locked():
            state = self._file.read()
            if state is not None:
                self._end(state)

    def is_running(self) -> bool:
        """Whether the broker that was started from this state directory still runs."""
        state = self._file.read()
        return state is not None and state.alive

    def running(self) -> Running | None:
        """The broker that runs from this state directory and was seen to be ready, if any."""
        state = self._file.read()
        return self._describe(state) if state is not None and state.ready and state.alive else None

    def _delete_stored(self) -> None:
        """Deletes what the broker stored."""
        if not self.stored:
            return
        try:
            shutil.rmtree(self.state_dir / self.stored)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BrokerError(
                f"{self.name}: expected to delete {error.filename}, {error.strerror}"
            ) from error

    def _launch(
        self, port: int | None, tls_port: int | None, options: Options, *, empty: bool = False
    ) -> Running:
        version = self.version()
        if version is None:
            hint = f"run: amqpspec brokers install {self.full_name}"
            raise BrokerError(f"{self.name}: expected it to be installed, it is not; {hint}")
        self._end_remains()
        if empty:
            self._delete_stored()
        ports = self._choose_ports(port, tls_port, options)
        log, log_octets = self._make_room_for_log()
        try:
            return self._await_ready(self._spawn(State(version, ports, options, log, log_octets)))
        except BaseException:
            self._end_remains()
            raise

    def _make_room_for_log(self) -> tuple[Path, int]:
        """The log and its size; a large one is set aside, in place of the one before it.

        A fuzzed broker may write gigabytes in an hour, and is restarted many times.
        """
        log = self.state_dir / f"{self.name}.log"
        log_octets = log.stat().st_size if log.exists() else 0
        if log_octets <= _MOST_LOG_OCTETS:
            return log, log_octets
        log.replace(log.with_suffix(".log.1"))
        return log, 0

    def _choose_ports(self, port: int | None, tls_port: int | None, options: Options) -> Ports:
        for wanted in (port, tls_port):
            if wanted is not None and is_listening(LOOPBACK, wanted):
                raise BrokerError(
                    f"{self.name}: expected port {wanted} of {LOOPBACK} to be free, it is taken"
                )
        free = free_ports(2 + self.extra_ports)
        tls = (tls_port or free[1]) if options.tls else None
        return Ports(port or free[0], tls, free[2:])

    def _spawn(self, state: State) -> State:
        *helpers, broker = self._commands(state.ports, state.options)
        commands = (*helpers, limited(broker, state.options.memory_limit_mib))
        for command in commands:
            started = self._spawn_one(command, state)
            state = state.with_process(started, complete=command is commands[-1])
            self._file.write(state)
            self._await_helper(command, state)
        return state

    def _spawn_one(self, command: Command, state: State) -> Process:
        try:
            return process.spawn(command, self.state_dir, state.log)
        except OSError as error:
            raise BrokerError(f"{self.name}: expected {command.argv[0]} to start, got: {error}") from error

    def _await_helper(self, command: Command, state: State) -> None:
        deadline = time.monotonic() + HELPER_TIMEOUT_S
        while command.ready_port is not None and not is_listening(LOOPBACK, command.ready_port):
            if time.monotonic() > deadline or not process.is_alive(state.processes[-1]):
                what = (
                    f"{command.argv[0]} to listen on port {command.ready_port} within {HELPER_TIMEOUT_S:g} s"
                )
                raise BrokerError(f"{self.name}: expected {what}, it does not: {tail(state)}")
            time.sleep(POLL_INTERVAL_S)

    def _await_ready(self, state: State) -> Running:
        what = f"it to be ready on port {state.ports.amqp} within {self.start_timeout_s:g} s"
        expected = f"{self.name}: expected {what}"
        deadline = time.monotonic() + self.start_timeout_s
        while not self._is_ready(state):
            if not state.alive:
                raise BrokerError(f"{expected}, it ended; {state.log} says: {tail(state)}")
            if time.monotonic() > deadline:
                raise BrokerError(f"{expected}, it is not; {state.log} says: {tail(state)}")
            time.sleep(POLL_INTERVAL_S)
        self._file.write(replace(state, ready=True))
        return self._describe(state)

    def _is_ready(self, state: State) -> bool:
        if state.ready:
            return True
        return self.ready_mark in _log_of(state) and is_listening(LOOPBACK, state.ports.amqp)

    def _end_remains(self) -> None:
        """Ends what a start that failed, or a broker that crashed, has left behind."""
        state = self._file.read()
        if state is not None:
            self._end(state)

    def _end(self, state: State, stop_timeout_s: float | None = None) -> None:
        timeout_s = self.stop_timeout_s if stop_timeout_s is None else stop_timeout_s
        for one in reversed(state.processes):
            if not process.end(one, timeout_s):
                raise BrokerError(
                    f"{self.name}: expected process {one.pid} to end, it still runs after a kill"
                )
        self._file.write(state.stopped())

    def _describe(self, state: State) -> Running:
        user, password = (quote(word, safe="") for word in self.users["default"])
        authority = f"{user}:{password}@{LOOPBACK}"
        query = f"?auth_mechanism={self.mechanism}" if self.mechanism else ""
        return Running(
            name=self.name,
            url=f"amqp://{authority}:{state.ports.amqp}/{query}",
            pid=state.processes[-1].pid,
            log=state.log,
            version=state.version,
            users=dict(self.users),
            vhosts=dict(self.vhosts),
            tls_url=f"amqps://{authority}:{state.ports.tls}/{query}" if state.ports.tls else None,
            memory_limit_mib=limit_in_force_mib(state.processes[-1].pid),
        )


def _log_of(state: State) -> bytes:
    """What was logged since this start."""
    try:
        with state.log.open("rb") as log:
            log.seek(state.log_offset_octets)
            return log.read()
    except OSError:
        return b""


def tail(state: State) -> str:
    """The last lines of the log of this start, as one line."""
    text = _log_of(state)[-TAIL_OCTETS:].decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-TAIL_LINES:]) or "nothing"
