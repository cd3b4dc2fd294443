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
from heapq import heappop, heappush

from amqpspec.fuzz.executor.conversation import Conversation, Filling
from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.executor.reusable import ReusableConnection
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.executor.tls import Pipe, Tls
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput

READ_OCTETS = 65_536
_RESET = struct.pack("ii", 1, 0)
_AT_ONCE_OCTETS = 1 << 20
MANY_STUCK = 8
"""After so many without an answer on their way, no more are begun."""
_BEGINNING = 64
"""So many connections at most are on the way into their state at once: a target's backlog is not much longer."""
_MOST_ON_ONE = 16
"""So many inputs at most share a connection that the target keeps: what they leave behind would add up."""
_FEWEST = 16
"""A target that ends connections on their way is given fewer at a time, but not less than these."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the target listens; ``tls`` are the settings of a TLS stream, those of its URL."""

    host: str
    port: int
    tls: Tls | None = None


class _Line:
    """A socket with its conversation. ``due_s`` is when the loop looks at it at the latest."""

    __slots__ = ("begins", "begun", "due_s", "events", "inputs", "on", "pipe", "talk")

    def __init__(self, on: socket.socket, talk: Conversation, pipe: Pipe | None) -> None:
        self.on, self.talk, self.pipe = on, talk, pipe
        self.events, self.due_s, self.begun, self.begins = 0, talk.deadline_s, pipe is None, True
        self.inputs = 1

    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.talk.result is not None


class _Waiting:
    """Inputs that are still to come; those that are put back go first, each on a connection of its own."""

    def __init__(self, inputs: Iterable[FuzzInput]) -> None:
        self._rest, self._back = iter(inputs), list[FuzzInput]()

    def take(self) -> FuzzInput | None:
        """The next one; None where there is none."""
        return self._back.pop() if self._back else next(self._rest, None)

    def take_for(self, reusable: ReusableConnection) -> FuzzInput | None:
        """The next one, where it can be said on a kept connection."""
        item = None if self._back else next(self._rest, None)
        if item is None or reusable.fits(item):
            return item
        self.put_back(item)
        return None

    def put_back(self, item: FuzzInput) -> None:
        """Whatever became of it does not count."""
        self._back.append(item)


class Executor:
    """Runs inputs, so many connections at a time; fewer as long as the target ends some on their way.

    With ``keeping``, inputs follow each other on a connection that the target keeps; where the next one does not reach
    its state on it, it has a connection of its own, as all have without.
    """

    def __init__(
        self,
        address: Address,
        filling: Filling,
        tempo: Tempo,
        connections: int = 128,
        *,
        thorough: bool = False,
        keeping: bool = False,
    ) -> None:
        self.address, self.filling, self.tempo, self.connections = address, filling, tempo, connections
        self.thorough, self.keeping = thorough, keeping
        self._selector = selectors.DefaultSelector()
        self._family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._number = 0
        self._stuck = 0
        self._room, self._beginning = connections, 0
        self._down = False
        self._due: list[tuple[float, int, _Line]] = []
        self._pushed = 0
        self.recording = False
        self.last: Conversation | None = None

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
        """Results as they come. Once the target takes no connection, or answers none, no more are begun."""
        self._down, self._stuck, self._beginning = False, 0, 0
        waiting = _Waiting(inputs)
        lines: set[_Line] = set()
        self._due.clear()
        try:
            while True:
                while not self._down and self._has_room(len(lines)) and (item := waiting.take()) is not None:
                    begun = self._begin(item)
                    if isinstance(begun, InputResult):
                        yield self._noted(begun)
                    else:
                        lines.add(begun)
                if not lines:
                    return
                for line in self._turn():
                    result = line.talk.result
                    assert result is not None
                    lost = line.talk.is_reused and not result.reached
                    if lost:
                        waiting.put_back(result.item)
                    if lost or not self._goes_on(line, waiting):
                        lines.discard(line)
                        self._drop(line)
                    if not lost:
                        yield self._noted(result)
        finally:
            for line in lines:
                self._drop(line)

    def close(self) -> None:
        """Give the selector back."""
        self._selector.close()

    def _has_room(self, lines: int) -> bool:
        return lines < self._room and self._beginning < _BEGINNING

    def _noted(self, result: InputResult) -> InputResult:
        if result.end is End.REFUSED:
            self._down = True
        elif result.reached:
            self._stuck = 0
            self._room = min(self.connections, self._room + 1)
        elif result.end in (End.FIN, End.RST):
            self._room = min(self.connections, max(_FEWEST, self._room // 2))
        elif result.end is End.OPEN and result.why.startswith("no "):
            self._stuck += 1
            self._down = self._down or self._stuck >= MANY_STUCK
        return result

    def _talk(self, item: FuzzInput, now_s: float, on: ReusableConnection | None = None) -> Conversation:
        self._number += 1
        talk = Conversation(
            item, self.filling(self._number), self.tempo, now_s, thorough=self.thorough, on=on
        )
        self.last = talk
        if self.recording:
            talk.spoken = []
        return talk

    def _goes_on(self, line: _Line, waiting: _Waiting) -> bool:
        """The next input on the same connection, where the target keeps it."""
        if not self.keeping or self._down or line.inputs >= _MOST_ON_ONE:
            return False
        reusable = line.talk.reusable
        item = waiting.take_for(reusable) if reusable is not None else None
        if item is None:
            return False
        now_s = time.monotonic()
        line.talk = self._talk(item, now_s, reusable)
        line.talk.connected(now_s)
        line.inputs += 1
        line.begins = True
        self._beginning += 1
        line.events = selectors.EVENT_READ | selectors.EVENT_WRITE
        self._selector.modify(line.on, line.events, line)
        self._remind(line)
        return True

    def _begin(self, item: FuzzInput) -> _Line | InputResult:
        now_s = time.monotonic()
        talk = self._talk(item, now_s)
        on = socket.socket(self._family, socket.SOCK_STREAM)
        on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        on.setblocking(False)
        code = on.connect_ex((self.address.host, self.address.port))
        if code not in (0, errno.EINPROGRESS):
            on.close()
            talk.ended(End.REFUSED, now_s)
            assert talk.result is not None
            return talk.result
        line = _Line(on, talk, Pipe(self.address.tls, self.address.host) if self.address.tls else None)
        self._beginning += 1
        if line.begun:
            talk.connected(now_s)
        # On a loopback address the stream is mostly there already.
        if not self._put(line, now_s):
            on.close()
            self._beginning -= 1
            talk.ended(End.REFUSED, now_s)
            assert talk.result is not None
            return talk.result
        line.events = self._wanted(line)
        self._selector.register(on, line.events, line)
        self._remind(line)
        return line

    def _remind(self, line: _Line) -> None:
        self._pushed += 1
        line.due_s = line.talk.deadline_s
        heappush(self._due, (line.due_s, self._pushed, line))

    def _turn(self) -> list[_Line]:
        """Wait for something to happen; gives the lines that are done."""
        until_s = self._due[0][0] if self._due else 0.0
        ready = self._selector.select(max(0.0, min(until_s - time.monotonic(), 1.0)))
        now_s = time.monotonic()
        done = []
        for key, events in ready:
            line: _Line = key.data
            if events & selectors.EVENT_READ:
                self._read(line, now_s)
            if not line.is_done() and (line.talk.out or line.pipe or events & selectors.EVENT_WRITE):
                self._write(line, now_s)
            if line.is_done():
                done.append(line)
            elif line.talk.deadline_s < line.due_s:
                self._remind(line)
        return done + self._overdue(now_s)

    def _overdue(self, now_s: float) -> list[_Line]:
        """Lines whose waiting is over; a reminder that came too early is put off."""
        done = []
        while self._due and self._due[0][0] <= now_s:
            at_s, _, line = heappop(self._due)
            if line.is_done() or at_s != line.due_s:
                continue
            line.talk.tick(now_s)
            if not line.is_done() and line.talk.out:
                self._write(line, now_s)
            if line.is_done():
                done.append(line)
            else:
                self._remind(line)
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
        over = not octets
        if line.pipe is not None:
            octets, over = line.pipe.arrived(octets)
        if octets:
            line.talk.heard(octets, now_s)
        if over and not line.is_done():
            line.talk.ended(End.FIN, now_s)

    def _write(self, line: _Line, now_s: float) -> None:
        if not self._put(line, now_s):
            line.talk.ended(End.REFUSED, now_s)
            return
        wanted = self._wanted(line)
        if wanted != line.events:
            line.events = wanted
            self._selector.modify(line.on, wanted, line)

    def _wanted(self, line: _Line) -> int:
        out = line.talk.out if line.pipe is None else line.pipe.out
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if out else 0)

    def _put(self, line: _Line, now_s: float) -> bool:
        """Send what can be sent; False where there is nobody who listens."""
        out = line.talk.out
        if line.pipe is not None:
            line.pipe.leave(out)
            if line.pipe.agreed and not line.begun:
                line.begun = True
                line.talk.connected(now_s)
                line.pipe.leave(out)
            out = line.pipe.out
        if out:
            try:
                sent = line.on.send(out if len(out) <= _AT_ONCE_OCTETS else out[:_AT_ONCE_OCTETS])
                del out[:sent]
            except BlockingIOError:
                pass
            except ConnectionRefusedError:
                return False
            except OSError as error:
                if error.errno == errno.ENOTCONN:
                    return True
                # Reading tells how it ended, after what had arrived before.
                out.clear()
                line.talk.out.clear()
        if line.begun and not out and not line.talk.out:
            line.talk.flushed(now_s)
        if line.begins and line.talk.has_begun:
            line.begins = False
            self._beginning -= 1
        return True

    def _drop(self, line: _Line) -> None:
        if line.begins:
            line.begins = False
            self._beginning -= 1
        with suppress(KeyError, ValueError):
            self._selector.unregister(line.on)
        line.on.close()


def now_s() -> float:
    """The monotonic clock."""
    return time.monotonic()


def pause(seconds_s: float) -> None:
    """Let time pass."""
    time.sleep(seconds_s)
