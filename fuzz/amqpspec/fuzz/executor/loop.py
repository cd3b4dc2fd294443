"""An event loop over many connections to one loopback address, one thread; each is given up with a reset.

Knows: sockets, selectors, the clock. Must not know: the data on them.
"""

from __future__ import annotations

import errno
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from heapq import heappop, heappush

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.connections import MOST_CARRIED, Connection, InputQueue
from amqpspec.fuzz.executor.conversation import Conversation, Filling
from amqpspec.fuzz.executor.gates import Gates
from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.executor.reusable import ReusableConnection
from amqpspec.fuzz.executor.spare_time import SpareTime
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId

READ_OCTETS = 65_536
_RESET = struct.pack("ii", 1, 0)
_AT_ONCE_OCTETS = 1 << 20
MANY_STUCK = 8
"""With this many outstanding answers, no new inputs are started."""
BEGINNING = 64
"""How many connections may be on the way to their state at once: a target's backlog is not much longer."""
_MOST_ON_ONE = 16
"""The maximum number of inputs on a connection that the target keeps open: what they leave behind would add up."""
_GLANCE_S = 0.05
"""The interval at which the loop looks for connections that only wait."""
_FEWEST = 16
"""If a target ends connections on the way to their state, it gets fewer at a time, but at least this number."""


class Executor:
    """Runs inputs on many connections at once; on fewer as long as the target ends some before they reach their state.

    With ``keeping``, inputs share a connection that the target keeps open; an input that does not reach its state on
    it gets a separate connection, as every input does without ``keeping``.

    With ``carrying``, connections that only wait for the end of a silence take up no room, and a run ends once no
    others are left; their results come with the next run, or from ``finish``. ``most_carried`` limits their number. If
    no input reaches a state, the loop skips that state for a while.
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
        self.thorough, self.keeping, self.carrying = thorough, keeping, False
        self._selector, self.spare = selectors.DefaultSelector(), SpareTime()
        self._family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._number = 0
        self._stuck, self._down = 0, False
        self._room, self._beginning = connections, 0
        self._gates = Gates()
        self._running: set[Connection] = set()
        self._idle: set[Connection] = set()
        self.most_carried, self._counted_s, self._left_s = MOST_CARRIED, 0.0, 0.0
        self._early: list[InputResult] = []
        self._due: list[tuple[float, int, Connection]] = []
        self._pushed = 0
        self.recording = False
        self.last: Conversation | None = None

    @property
    def waiting(self) -> list[FuzzInput]:
        """Inputs that were sent and have no result yet."""
        running = [connection.conversation.item for connection in self._running]
        return [*running, *(result.item for result in self._early)]

    @property
    def ports(self) -> dict[int, InputId]:
        """Those that are still waiting, by the port of their connection."""
        return {connection.port: connection.conversation.item.id for connection in self._running}

    def run(self, inputs: Iterable[FuzzInput]) -> Iterator[InputResult]:
        """Yield results as they come, including those that an earlier run left waiting.

        Once the target accepts or answers no connection, the loop starts no more.
        """
        yield from self._run(InputQueue(inputs), self.carrying)

    def finish(self) -> Iterator[InputResult]:
        """Yield the results that earlier runs left waiting. The target may have been restarted since."""
        self._gates.retry()
        yield from self._run(InputQueue(()), carrying=False)

    def serve(self, seconds_s: float) -> None:
        """Listen to the waiting connections for this long; the next run yields their results."""
        until_s = time.monotonic() + seconds_s
        self._listen_again()
        while self._running and (left_s := until_s - time.monotonic()) > 0:
            for connection in self._turn(left_s):
                self._hang_up(connection)
                self._early.append(self._noted(connection.outcome()))
        self._left_s = time.monotonic()
        self.spare.sleep(until_s - self._left_s)

    def drop(self) -> None:
        """Give up what is left waiting, without results."""
        self._gates.retry()
        self._early.clear()
        for connection in self._running:
            self._drop(connection)
        self._running.clear()
        self._idle.clear()
        self._due.clear()

    def _run(self, waiting: InputQueue, carrying: bool) -> Iterator[InputResult]:
        self._down, self._stuck, self._beginning = False, 0, 0
        self._listen_again()
        early, self._early = self._early, []
        yield from early
        whole = False
        try:
            while not self._is_over(waiting, carrying):
                self._find_idle(carrying)
                for refused in self._fill(waiting):
                    yield self._noted(refused)
                for connection in self._turn(_GLANCE_S if carrying else 1.0):
                    yield from self._ended(connection, waiting)
            whole = True
        finally:
            if not whole:
                self.drop()
            self._left_s = time.monotonic()

    def _listen_again(self) -> None:
        """Continue with what was left waiting; the time in which no one listened is not the target's delay."""
        self._idle = set(self._running)
        self._due.clear()
        for connection in self._running:
            connection.conversation.postponed(time.monotonic() - self._left_s)
            self._remind(connection)

    def _is_over(self, waiting: InputQueue, carrying: bool) -> bool:
        """Whether all have ended, or the rest can be carried over."""
        if not (self._down or waiting.is_empty):
            return False
        if not self._running or not carrying or self._down or len(self._running) > self.most_carried:
            return not self._running
        self._counted_s = 0.0
        self._find_idle(carrying)
        return len(self._idle) == len(self._running)

    def _find_idle(self, carrying: bool) -> None:
        """Find the connections that only wait, at intervals: they leave room for others until something happens."""
        now_s = time.monotonic()
        if carrying and now_s - self._counted_s >= _GLANCE_S:
            self._counted_s = now_s
            for one in self._running - self._idle:
                if one.events == selectors.EVENT_READ and one.conversation.only_waits(now_s):
                    self._idle.add(one)

    def _fill(self, waiting: InputQueue) -> Iterator[InputResult]:
        """Start as many inputs as there is room for; yields the results of those that are refused at once."""
        while not self._down and self._has_room() and (item := waiting.take()) is not None:
            if not self._gates.admits(item.state):
                continue
            if (refused := self._begin(item)) is not None:
                yield refused

    def _ended(self, connection: Connection, waiting: InputQueue) -> Iterator[InputResult]:
        """Yield the result of a connection, which may be reused; what was lost on a reused connection is put back."""
        result = connection.outcome()
        lost = connection.conversation.is_reused and not result.reached
        if lost:
            waiting.put_back(result.item)
        if lost or not self._goes_on(connection, waiting):
            self._hang_up(connection)
        if not lost:
            yield self._noted(result)

    def _hang_up(self, connection: Connection) -> None:
        self._running.discard(connection)
        self._idle.discard(connection)
        self._drop(connection)

    def close(self) -> None:
        """Close all connections and the selector."""
        self.drop()
        self._selector.close()

    def _has_room(self) -> bool:
        busy = len(self._running) - min(len(self._idle), self.most_carried)
        return busy < self._room and self._beginning < BEGINNING

    def _noted(self, result: InputResult) -> InputResult:
        state = result.item.state
        if result.end is End.REFUSED:
            self._down = True
        elif result.reached:
            self._stuck = 0
            self._gates.reached(state)
            self._room = min(self.connections, self._room + 1)
        else:
            if self._gates.lost(state) and self.carrying:
                self._gates.shut(state)
            elif result.end in (End.FIN, End.RST):
                self._room = min(self.connections, max(_FEWEST, self._room // 2))
            if result.late:
                self._stuck += 1
                self._down = self._down or self._stuck >= MANY_STUCK
        return result

    def _converse(self, item: FuzzInput, now_s: float, on: ReusableConnection | None = None) -> Conversation:
        self._number += 1
        tempo = self.tempo.probing if self._gates.doubts(item.state) else self.tempo
        conversation = Conversation(
            item, self.filling(self._number), tempo, now_s, thorough=self.thorough, on=on
        )
        self.last = conversation
        if self.recording:
            conversation.spoken = []
        return conversation

    def _goes_on(self, connection: Connection, waiting: InputQueue) -> bool:
        """Send the next input on the same connection, if the target keeps it."""
        if not self.keeping or self._down or connection.inputs >= _MOST_ON_ONE:
            return False
        reusable = connection.conversation.reusable
        item = waiting.take_for(reusable) if reusable is not None else None
        if item is None:
            return False
        now_s = time.monotonic()
        connection.conversation = self._converse(item, now_s, reusable)
        connection.conversation.connected(now_s)
        connection.inputs += 1
        connection.begins = True
        self._beginning += 1
        connection.events = selectors.EVENT_READ | selectors.EVENT_WRITE
        self._selector.modify(connection.on, connection.events, connection)
        self._remind(connection)
        return True

    def _begin(self, item: FuzzInput) -> InputResult | None:
        """Start an input; returns its result if it is refused at once."""
        now_s = time.monotonic()
        conversation, pipe = self._converse(item, now_s), self.address.pipe()
        # Among the running ones at once: those are closed if the alarm of a budget interrupts what follows.
        connection = Connection(socket.socket(self._family, socket.SOCK_STREAM), conversation, pipe)
        self._running.add(connection)
        self._beginning += 1
        # On a loopback address the stream is mostly there already.
        if not (self._connects(connection) and self._greets(connection, now_s)):
            self._hang_up(connection)
            conversation.ended(End.REFUSED, now_s)
            return conversation.result
        connection.events = self._wanted(connection)
        self._selector.register(connection.on, connection.events, connection)
        self._remind(connection)
        return None

    def _connects(self, connection: Connection) -> bool:
        """Connect without waiting; returns False if no one listens."""
        on = connection.on
        on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        on.setblocking(False)
        code = on.connect_ex((self.address.host, self.address.port))
        connection.port = on.getsockname()[1]
        return code in (0, errno.EINPROGRESS)

    def _greets(self, connection: Connection, now_s: float) -> bool:
        """Send the first octets; returns False if no one listens."""
        if connection.begun:
            connection.conversation.connected(now_s)
        return self._put(connection, now_s)

    def _remind(self, connection: Connection) -> None:
        self._pushed += 1
        connection.due_s = connection.conversation.deadline_s
        heappush(self._due, (connection.due_s, self._pushed, connection))

    def _turn(self, longest_s: float) -> list[Connection]:
        """Wait for events, at most this long; returns the connections that are done."""
        until_s = self._due[0][0] if self._due else 0.0
        ready = self.spare.select(self._selector, min(until_s - time.monotonic(), longest_s))
        now_s = time.monotonic()
        done = []
        for key, events in ready:
            connection: Connection = key.data
            self._idle.discard(connection)
            if events & selectors.EVENT_READ:
                self._read(connection, now_s)
            if not connection.is_done() and (
                connection.conversation.out or connection.pipe or events & selectors.EVENT_WRITE
            ):
                self._write(connection, now_s)
            if connection.is_done():
                done.append(connection)
            elif connection.conversation.deadline_s < connection.due_s:
                self._remind(connection)
        return done + self._overdue(now_s)

    def _overdue(self, now_s: float) -> list[Connection]:
        """Connections whose wait is over; a reminder that came too early is set again."""
        done = []
        while self._due and self._due[0][0] <= now_s:
            at_s, _, connection = heappop(self._due)
            if connection.is_done() or at_s != connection.due_s:
                continue
            connection.conversation.tick(now_s)
            self._idle.discard(connection)
            if not connection.is_done() and connection.conversation.out:
                self._write(connection, now_s)
            if connection.is_done():
                done.append(connection)
            else:
                self._remind(connection)
        return done

    def _read(self, connection: Connection, now_s: float) -> None:
        try:
            octets = connection.on.recv(READ_OCTETS)
        except BlockingIOError:
            return
        except ConnectionRefusedError:
            connection.conversation.ended(End.REFUSED, now_s)
            return
        except OSError:
            connection.conversation.ended(End.RST, now_s)
            return
        over = not octets
        if connection.pipe is not None:
            octets, over = connection.pipe.arrived(octets)
        if octets:
            connection.conversation.heard(octets, now_s)
        if over and not connection.is_done():
            connection.conversation.ended(End.FIN, now_s)

    def _write(self, connection: Connection, now_s: float) -> None:
        if not self._put(connection, now_s):
            connection.conversation.ended(End.REFUSED, now_s)
            return
        wanted = self._wanted(connection)
        if wanted != connection.events:
            connection.events = wanted
            self._selector.modify(connection.on, wanted, connection)

    def _wanted(self, connection: Connection) -> int:
        out = connection.conversation.out if connection.pipe is None else connection.pipe.out
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if out else 0)

    def _put(self, connection: Connection, now_s: float) -> bool:
        """Send what can be sent; returns False if no one listens."""
        out = connection.conversation.out
        if connection.pipe is not None:
            connection.pipe.leave(out)
            if connection.pipe.agreed and not connection.begun:
                connection.begun = True
                connection.conversation.connected(now_s)
                connection.pipe.leave(out)
            out = connection.pipe.out
        if out:
            try:
                sent = connection.on.send(out if len(out) <= _AT_ONCE_OCTETS else out[:_AT_ONCE_OCTETS])
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
                connection.conversation.out.clear()
        if connection.begun and not out and not connection.conversation.out:
            connection.conversation.flushed(now_s)
        if connection.begins and connection.conversation.has_begun:
            connection.begins = False
            self._beginning -= 1
        return True

    def _drop(self, connection: Connection) -> None:
        if connection.begins:
            connection.begins = False
            self._beginning -= 1
        with suppress(KeyError, ValueError):
            self._selector.unregister(connection.on)
        connection.on.close()
