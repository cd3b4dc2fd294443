"""Reference brokers with one planted defect, each in a separate process, so that its death and its memory are real.

Knows: where frames come in, how a process is split off. Must not know: what defects do, oracles, campaigns.

``python -m amqpspec.fuzz.selftest.broker DEFECT DIALECT LOG FAULT…`` is a nursery: it has everything loaded, and for
each line ``start PORT`` of its standard input ends the broker that it has, splits off another one, and answers
``PORT PID``. DEFECT is a line of JSON or ``none``. It ends with its standard input, and its broker with it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from amqpspec.fuzz.selftest.defects import Defect
from amqpspec.fuzz.selftest.effects import EFFECTS, as_taken
from amqpspec.fuzz.selftest.part import selftest_part
from amqpspec.reference.server import ReferenceBroker

NONE = "none"

_ANSWER_OCTETS = 64


def plant(defect: Defect) -> None:
    """Activate a defect in this process from now on: wherever a frame that it is meant for comes in."""
    effect, condition = EFFECTS[defect.kind], defect.condition
    seams = selftest_part(defect.dialect).seams()
    go_on = seams.inbox.on_frame

    def on_frame(self: Any, incoming: Any) -> None:
        taken = as_taken(self, incoming)
        if taken is None:
            return
        if condition.is_at(seams.frame_of(incoming)):
            effect(self, lambda: go_on(self, taken), seams)
        else:
            go_on(self, taken)

    seams.inbox.on_frame = on_frame


class Nursery:
    """Splits brokers off, one at a time; has no threads, so that what is split off is whole."""

    def __init__(self, defect: str, dialect: str, log: str, faults: Sequence[str]) -> None:
        self.defect = None if defect == NONE else Defect.from_json(defect)
        self.dialect, self.log, self.faults = dialect, log, faults
        self._pid = 0
        self._life = os.pipe()
        # Made once here, tables and codecs are there in every process that is split off.
        ReferenceBroker(dialect, faults)
        selftest_part(dialect).seams()

    def start(self, port: int) -> str:
        """End the broker that there is; gives port and pid of another one, or nothing if it did not come up."""
        self.end()
        pipe = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(pipe[0])
            os.close(self._life[1])
            self._serve(port, pipe[1])
        os.close(pipe[1])
        with os.fdopen(pipe[0], "rb") as answer:
            listening = answer.read(_ANSWER_OCTETS).decode()
        return f"{listening} {self._pid}" if listening else ""

    def end(self) -> None:
        """End the broker."""
        pid, self._pid = self._pid, 0
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _serve(self, port: int, pipe: int) -> None:
        """The broker's own process; never returns."""
        try:
            logging.basicConfig(filename=self.log, level=logging.WARNING)
            if self.defect is not None:
                plant(self.defect)
            broker = ReferenceBroker(self.dialect, self.faults, port=port)
            broker.start()
            os.write(pipe, str(broker.port).encode())
            os.close(pipe)
            os.read(self._life[0], 1)
        except BaseException:
            logging.getLogger("amqpspec.seeded").exception("the broker did not start")
        finally:
            os._exit(0)


def main(defect: str, dialect: str, log: str, *faults: str) -> None:
    """Obey standard input until it ends."""
    nursery = Nursery(defect, dialect, log, faults)
    try:
        # The parent may be stopped together with this process, or before it gets its answer.
        with suppress(KeyboardInterrupt, BrokenPipeError):
            for line in sys.stdin:
                os.write(sys.stdout.fileno(), f"{nursery.start(int(line.split()[1]))}\n".encode())
    finally:
        nursery.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
