"""A stream that leaves a transcript and keeps to its case's budget.

Knows: transports, transcripts, the budget. Must not know: what the octets mean.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from amqpspec.net.clock import monotonic_ns, monotonic_s
from amqpspec.net.dial import dial
from amqpspec.net.stream import ConnectError, Endpoint, Stream
from amqpspec.peer.context import BudgetSpent
from amqpspec.record.transcript import Transcript
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnd, StreamEnded

_SLICE_S = 0.5


class Stopped(Exception):
    """The run is being stopped; the case has no verdict."""


@dataclass(slots=True)
class Budget:
    """Until when a case may continue; ``stop`` ends every case of the run at once."""

    until_s: float
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Stopped or BudgetSpent."""
        if self.stop.is_set():
            raise Stopped
        if monotonic_s() > self.until_s:
            raise BudgetSpent


class Streams:
    """Dials streams for one case, numbers them, and knows how each one ended."""

    def __init__(self, endpoint: Endpoint, transcript: Transcript, budget: Budget) -> None:
        self._endpoint = endpoint
        self.transcript = transcript
        self.budget = budget
        self._streams: list[RecordedStream] = []

    def dial(self) -> RecordedStream:
        """A new stream; raises StreamEnded(REFUSED)."""
        _keep_to(self.budget, self.transcript)
        stream = RecordedStream(self._endpoint, len(self._streams) + 1, self.transcript, self.budget)
        self._streams.append(stream)
        return stream

    @property
    def endings(self) -> str:
        """How each stream has ended so far, in order."""
        return ", ".join(stream.how for stream in self._streams)

    def telling_of(self, restart: Callable[[], None] | None) -> Callable[[], None] | None:
        """The hook, leaving a line in the transcript when the target has been restarted."""
        if restart is None:
            return None

        def told() -> None:
            restart()
            self.transcript.write("restart", monotonic_ns())

        return told

    def hang_up(self) -> None:
        """Close every stream, also if the end of one cannot be recorded; raises TranscriptError."""
        with ExitStack() as closing:
            for stream in reversed(self._streams):
                closing.callback(stream.close)


class RecordedStream:
    """See ``amqpspec.wire.transport.Transport``; everything is written down as it passes."""

    def __init__(self, endpoint: Endpoint, number: int, transcript: Transcript, budget: Budget) -> None:
        self._transcript, self._budget, self._number = transcript, budget, number
        self.how = "open"
        self._closed = False
        try:
            self._stream = dial(endpoint)
        except ConnectError as error:
            transcript.write("note", monotonic_ns(), conn=number, text=str(error))
            transcript.write("end", monotonic_ns(), conn=number, how=str(StreamEnd.REFUSED))
            raise StreamEnded(StreamEnd.REFUSED) from error
        transcript.write(
            "open",
            monotonic_ns(),
            conn=number,
            local=self._stream.local,
            remote=self._stream.remote,
            tls=endpoint.tls is not None,
        )

    def now(self) -> float:
        """The monotonic clock in seconds; each reading of a case is recorded."""
        t_ns = monotonic_ns()
        self._transcript.clock(t_ns)
        return t_ns / 1e9

    def note(self, text: str) -> None:
        """A remark in the transcript."""
        self._transcript.write("note", monotonic_ns(), conn=self._number, text=text)

    def send(self, octets: bytes) -> bool:
        """Send, writing down what was sent."""
        _keep_to(self._budget, self._transcript)
        self._transcript.octets(monotonic_ns(), self._number, "out", octets)
        took = self._stream.send(octets)
        if not took:
            self._transcript.write("unsent", monotonic_ns(), conn=self._number)
        return took

    def receive(self, until_s: float) -> bytes:
        """Receive, in slices short enough to notice that the run is stopped."""
        while True:
            _keep_to(self._budget, self._transcript)
            try:
                octets = self._stream.receive(min(until_s, monotonic_s() + _SLICE_S, self._budget.until_s))
            except StreamEnded as ended:
                if ended.__cause__ is not None:
                    self.note(str(ended.__cause__))
                self._ended(ended.how)
                raise
            except WireError as error:
                self.note(str(error))
                raise
            if octets:
                self._transcript.octets(monotonic_ns(), self._number, "in", octets)
                return octets
            if monotonic_s() >= until_s:
                self._transcript.write("quiet", monotonic_ns(), conn=self._number)
                return b""

    def half_close(self, last: bytes = b"") -> None:
        """Shut the write side, with these octets as the last."""
        if last:
            self._transcript.octets(monotonic_ns(), self._number, "out", last)
        self.note("write side shut")
        self._stream.half_close(last)

    def reset(self) -> None:
        """End the stream by a reset if possible, else close it."""
        self.note("reset")
        if isinstance(self._stream, Stream):
            self._stream.reset()
        self.close()

    def close(self) -> None:
        """Close the stream."""
        if not self._closed:
            self._closed = True
            try:
                self._ended(self.how)
            finally:
                self._stream.close()

    def _ended(self, how: str) -> None:
        if self.how == "open":
            self.how = str(how)
            self._transcript.write("end", monotonic_ns(), conn=self._number, how=self.how)


def _keep_to(budget: Budget, transcript: Transcript) -> None:
    try:
        budget.check()
    except BudgetSpent:
        transcript.write("spent", monotonic_ns())
        raise


class _Nowhere(Transcript):
    """A transcript that keeps nothing."""

    def __init__(self) -> None:
        pass

    def write(self, kind: str, t_ns: int | None = None, **data: object) -> None:
        """Nothing."""

    def octets(self, t_ns: int, conn: int, direction: str, octets: bytes) -> None:
        """Nothing."""

    def clock(self, t_ns: int) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


NO_TRANSCRIPT = _Nowhere()
