"""A seeded broker's process as its parent holds it: start, restart on the same port, stop.

Knows: processes. Must not know: defects' effects, oracles.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from fuzz.executor.loop import Address
from fuzz.executor.subject import Subject
from fuzz.seeded.defects import DIALECT
from fuzz.states import Values

_HOST = "127.0.0.1"
_SECOND = Values(user="second", password="second", vhost="second")
HANG_S = 2.5
SEEDED = "seeded:"
"""How names of such targets begin."""


class SeededBroker:
    """The clean broker, or one with a defect, as a child process."""

    def __init__(self, defect: str, folder: Path) -> None:
        self.defect, self.log = defect, folder / "broker.log"
        self.port = 0
        self._child: subprocess.Popen[str] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start, and wait until it listens. Raises OSError."""
        command = [sys.executable, "-m", "fuzz.seeded.broker", self.defect, str(self.port), str(self.log)]
        root = Path(__file__).resolve().parents[2]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
        )
        assert self._child.stdout is not None
        said = self._child.stdout.readline().strip()
        if not said:
            raise OSError(f"seeded broker {self.defect}: expected a port, actual: it ended ({self.log})")
        self.port = int(said)

    def stop(self) -> None:
        """End the child, whatever it does."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                assert pipe is not None
                pipe.close()

    def restart(self) -> None:
        """Another child on the same port."""
        self.stop()
        self.start()

    @property
    def pid(self) -> int | None:
        """The child's pid."""
        return self._child.pid if self._child is not None else None

    def subject(self) -> Subject:
        """The broker as a target."""
        return Subject(
            SEEDED + self.defect, DIALECT, Address(_HOST, self.port), others=(_SECOND,),
            restart=self.restart, pid=lambda: self.pid, log=self.log, hang_s=HANG_S,
        )  # fmt: skip
