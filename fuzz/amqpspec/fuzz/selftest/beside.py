"""Pieces of work in parallel, each in a process split off from this one; what they give comes in their order.

Knows: processes, how long one may take. Must not know: what the work is.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from amqpspec.net.clock import monotonic_s

_END_S = 10.0
"""How long a process may take to end: a campaign looks at its target before it does."""
T = TypeVar("T")


def side_by_side(work: Sequence[Callable[[], T]], at_once: int, most_s: float) -> Generator[T, None, None]:
    """What each piece gives, in order; raises what one raises, OSError for one that dies or takes too long.

    No process is left over, however this ends.
    """
    running: dict[Connection, _Piece] = {}
    done: dict[int, T] = {}
    begun = 0
    try:
        for turn in range(len(work)):
            while turn not in done:
                while begun < len(work) and len(running) < at_once:
                    piece = _Piece.begin(begun, work[begun], most_s)
                    running[piece.answer] = piece
                    begun += 1
                for answer in _ready(running):
                    done[running[answer].number] = running[answer].result()
                    running.pop(answer).join()
            yield done.pop(turn)
    finally:
        _end(list(running.values()))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A running piece of work."""

    number: int
    process: BaseProcess
    answer: Connection
    until_s: float

    @classmethod
    def begin(cls, number: int, work: Callable[[], Any], most_s: float) -> _Piece:
        """Split its process off."""
        context = get_context("fork")
        answer, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_do, args=(work, theirs), daemon=True)
        process.start()
        theirs.close()
        return cls(number, process, answer, monotonic_s() + most_s)

    def result(self) -> Any:
        """What it gives; raises what it raised."""
        if not self.answer.poll():
            raise OSError("self-test: expected the result of a process in time, actual: none")
        try:
            result, error = self.answer.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            raise OSError(f"self-test: expected a result, actual: its process ended with {code}") from None
        if error is not None:
            raise error
        return result

    def join(self) -> None:
        """Wait until it is gone; it is killed if it stays."""
        self.process.join(_END_S)
        self.process.kill()
        self.process.join()
        self.answer.close()


def _do(work: Callable[[], Any], answer: Connection) -> None:
    """In the process of its own: an end is an interrupt, so that it ends what it started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    said: tuple[Any, BaseException | None]
    try:
        said = work(), None
    except BaseException as error:
        said = None, error
    answer.send(said)


def _ready(running: dict[Connection, _Piece]) -> list[Connection]:
    """Those that answered, died, or used up their time."""
    rest_s = max(0.0, min(piece.until_s for piece in running.values()) - monotonic_s())
    ready = [answer for answer in wait(list(running), rest_s) if isinstance(answer, Connection)]
    return ready or [answer for answer, piece in running.items() if monotonic_s() >= piece.until_s]


def _end(pieces: Sequence[_Piece]) -> None:
    for piece in pieces:
        piece.process.terminate()
    for piece in pieces:
        piece.join()
