"""A seeded broker's process as its parent holds it: start, restart on the same port, stop.

Knows: processes. Must not know: defects' effects, oracles.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.selftest.defects import Defect, defect
from amqpspec.fuzz.states.model import Values

_HOST = "127.0.0.1"
_NONE = "none"
_END_S = 5.0
HANG_S = 2.5
SEEDED = "seeded:"
"""How names of such targets begin."""


class SeededBroker:
    """The clean broker, or one with a defect or with faults of the reference broker, as a child process."""

    def __init__(
        self, defect: Defect | None, folder: Path, dialect: str = "amqp-0-9-1", faults: Sequence[str] = ()
    ) -> None:
        self.defect, self.log, self.faults = defect, folder / "broker.log", tuple(faults)
        self.dialect = defect.dialect if defect is not None else dialect
        self.port = 0
        self.pid: int | None = None
        self._nursery: subprocess.Popen[str] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def named(cls, name: str, folder: Path) -> SeededBroker:
        """The broker behind a target's name without ``seeded:``; raises KeyError for a defect that there is not."""
        dialect, _, rest = name.partition("/")
        return cls(None, folder, dialect) if rest == _NONE else cls(defect(name), folder)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def name(self) -> str:
        """``amqp-1-0/crash@rare``, ``amqp-1-0/none``."""
        return self.defect.name if self.defect is not None else f"{self.dialect}/{_NONE}"

    def start(self) -> None:
        """Start, or start again on the same port, and wait until it listens. Raises OSError."""
        nursery = self._nursery = self._nursery or self._opened()
        assert nursery.stdin is not None and nursery.stdout is not None
        nursery.stdin.write(f"start {self.port}\n")
        nursery.stdin.flush()
        said = nursery.stdout.readline().split()
        if len(said) != 2:
            raise OSError(f"seeded broker {self.name}: expected a port, actual: it ended ({self.log})")
        self.port, self.pid = int(said[0]), int(said[1])

    def _opened(self) -> subprocess.Popen[str]:
        planted = self.defect.to_json() if self.defect is not None else _NONE
        command = [
            sys.executable,
            "-m",
            "amqpspec.fuzz.selftest.broker",
            planted,
            self.dialect,
            str(self.log),
            *self.faults,
        ]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stop(self) -> None:
        """End it, whatever it does."""
        nursery, self._nursery, self.pid = self._nursery, None, None
        if nursery is None:
            return
        assert nursery.stdin is not None and nursery.stdout is not None
        nursery.stdin.close()
        try:
            nursery.wait(_END_S)
        except subprocess.TimeoutExpired:
            nursery.kill()
            nursery.wait()
        nursery.stdout.close()

    def restart(self) -> None:
        """Another process on the same port."""
        self.start()

    def subject(self) -> Subject:
        """The broker as a target."""
        # In AMQP 1.0 the host name of open is what names the virtual host.
        second = Values(user="second", password="second", vhost="second", hostname="second")
        return Subject(
            SEEDED + self.name, self.dialect, Address(_HOST, self.port), others=(second,),
            restart=self.restart, pid=lambda: self.pid, log=self.log, hang_s=HANG_S,
        )  # fmt: skip
