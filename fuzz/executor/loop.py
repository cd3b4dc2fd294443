"""An event loop over many connections to one loopback address, one thread; each is given up with a reset.

Knows: sockets, selectors, the clock. Must not know: what is said on them.
"""

from __future__ import annotations

import errno
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from fuzz.catalogue import FuzzInput
from fuzz.executor.conversation import Conversation, Filling, Tempo
from fuzz.executor.outcome import End, Outcome

READ_OCTETS = 65_536
_RESET = struct.pack("ii", 1, 0)
_MANY_STUCK = 8
_CLOCK_S = 0.02


@dataclass(frozen=True, slots=True)
class Address:
    """Where the target listens."""

    host: str
    port: int


class _Line:
    """A socket with its conversation."""

    __slots__ = ("events", "on", "talk")

    def __init__(self, on: socket.socket, talk: Conversation) -> None:
        self.on, self.talk, self.events = on, talk, selectors.EVENT_READ | selectors.EVENT_WRITE


class Executor:
    """Runs inputs, so many connections at a time."""

    def __init__(self, address: Address, filling: Filling, tempo: Tempo, connections: int = 64) -> None:
        self.address, self.filling, self.tempo, self.connections = address, filling, tempo, connections
        self._selector = selectors.DefaultSelector()
        self._number = 0
        self._stuck = 0
        self._down = False
        self.recording = False
        self.last: Conversation | None = None

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[Outcome]:
        """Outcomes as they come. Once the target takes no connection, or answers none, no more are begun."""
        self._down, self._stuck = False, 0
        waiting = iter(inputs)
        lines: set[_Line] = set()
        more = True
        try:
            while True:
                while more and not self._down and len(lines) < self.connections:
                    item = next(waiting, None)
                    if item is None:
                        more = False
                        break
                    begun = self._begin(item)
                    if isinstance(begun, Outcome):
                        yield self._noted(begun)
                    else:
                        lines.add(begun)
                if not lines:
                    return
                for line in self._turn(lines):
                    lines.discard(line)
                    assert line.talk.outcome is not None
                    yield self._noted(line.talk.outcome)
        finally:
            for line in lines:
                self._drop(line)

    def close(self) -> None:
        """Give the selector back."""
        self._selector.close()

    def _noted(self, outcome: Outcome) -> Outcome:
        if outcome.end is End.REFUSED:
            self._down = True
        elif outcome.reached:
            self._stuck = 0
        elif outcome.end is End.OPEN and outcome.why.startswith("no "):
            self._stuck += 1
            self._down = self._down or self._stuck >= _MANY_STUCK
        return outcome

    def _begin(self, item: FuzzInput) -> _Line | Outcome:
        self._number += 1
        now_s = time.monotonic()
        talk = Conversation(item, self.filling(self._number), self.tempo, now_s)
        self.last = talk
        if self.recording:
            talk.spoken = []
        family = socket.AF_INET6 if ":" in self.address.host else socket.AF_INET
        on = socket.socket(family, socket.SOCK_STREAM)
        on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        on.setblocking(False)
        code = on.connect_ex((self.address.host, self.address.port))
        if code not in (0, errno.EINPROGRESS):
            on.close()
            talk.ended(End.REFUSED, now_s)
            assert talk.outcome is not None
            return talk.outcome
        line = _Line(on, talk)
        self._selector.register(on, line.events, line)
        talk.connected(now_s)
        return line

    def _turn(self, lines: set[_Line]) -> list[_Line]:
        """Wait for something to happen; gives the lines that are done."""
        now_s = time.monotonic()
        until_s = min(line.talk.deadline_s for line in lines)
        ready = self._selector.select(max(0.0, min(until_s - now_s, 1.0)))
        now_s = time.monotonic()
        for key, events in ready:
            line: _Line = key.data
            if events & selectors.EVENT_READ:
                self._read(line, now_s)
            if line.talk.outcome is None and (line.talk.out or events & selectors.EVENT_WRITE):
                self._write(line, now_s)
        done = []
        for line in lines:
            line.talk.tick(now_s)
            if line.talk.outcome is not None:
                self._drop(line)
                done.append(line)
        return done

    def _read(self, line: _Line, now_s: float) -> None:
        try:
            octets = line.on.recv(READ_OCTETS)
        except BlockingIOError:
            return
        except ConnectionRefusedError:
            line.talk.ended(End.REFUSED, now_s)
            return
        except OSError:
            line.talk.ended(End.RST, now_s)
            return
        if octets:
            line.talk.heard(octets, now_s)
        else:
            line.talk.ended(End.FIN, now_s)

    def _write(self, line: _Line, now_s: float) -> None:
        out = line.talk.out
        if out:
            try:
                del out[: line.on.send(memoryview(out)[:1048576].tobytes())]
            except BlockingIOError:
                pass
            except OSError:
                # Reading tells how it ended, after what had arrived before.
                out.clear()
        if not out:
            line.talk.flushed(now_s)
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if out else 0)
        if wanted != line.events:
            line.events = wanted
            self._selector.modify(line.on, wanted, line)

    def _drop(self, line: _Line) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(line.on)
        line.on.close()


def now_s() -> float:
    """The monotonic clock."""
    return time.monotonic()


def pause(seconds_s: float) -> None:
    """Let time pass."""
    time.sleep(seconds_s)
