"""Walks of sessions: legal steps, how each is driven, and what a model of the session says of it.

Knows: the peer's verbs, the books of a session. Must not know: hypothesis, requirement rows.

What is proposed follows from what the case itself has done, never from the target's timing: the same choices make the
same steps against every target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Context, owed
from amqpspec.peer.line import Line
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._sessions import completed_now, elsewhere, lasting, state
from amqpspec.suites.histories import Driven, Mismatch
from amqpspec.wire.amqp_0_10.serial import MODULUS, SerialSet, add, latest

QUEUES = ("A", "B")
# Five before the end of 32 bits: ids wrap within a few steps (RFC 1982).
STARTS = (0, MODULUS - 5)
# Here and below the simplest first: hypothesis shrinks towards the first choice.
_COUNTS = (1, 2, 5)
_LOST = (0, 1, 3)
_AGAIN = ("the missing ones", "all that may be repeated")


@dataclass(frozen=True, slots=True)
class Step:
    """One legal step: what to do, with which values."""

    verb: str
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _WORDS[self.verb].format(*self.values)


_WORDS = {
    "send": "send {0} messages to queue {1}",
    "look": "compare what is expected, confirmed and completed",
    "know": "report the first {0} completed commands as known",
    "ask": "query {0} times how many messages queue {1} contains",
    "complete": "complete the received results",
    "drain": "take everything out of queue {0}",
    "lose": "lose the connection with {0} messages in flight to queue {1}, and send {2} again on another connection",
    "leave": "detach, and attach on channel {0}",
    "gap": "skip {0} commands",
}


@dataclass(eq=False, slots=True)
class Model:
    """What has to be true of one session.

    ``completed`` are commands that are done and not known to be; ``again`` those of them that can be sent again,
    queue and body by id; ``owned`` are the target's commands that were not completed: ids, and what they answer.
    """

    completed: SerialSet = field(default_factory=SerialSet)
    again: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    queues: dict[str, list[bytes]] = field(default_factory=lambda: {name: [] for name in QUEUES})
    owned: list[tuple[int | None, int]] = field(default_factory=list)
    sent: int = 0


class Walk(Driven):
    """One history: a session on one connection after the other."""

    peer: Peer

    def __init__(self, context: Context, lines: list[Line], start: int = 0) -> None:
        super().__init__()
        self.peer, self.start = Peer(context, lines), start
        self.model = Model()
        self.channel = 0
        self.names: dict[str, str] = {}
        self.menu = self
        self.counted = start

    @property
    def session(self) -> Session:
        """The books of the session."""
        return self.peer.sessions[self.channel]

    # --- what can come next

    def options(self, verb: str) -> list[Step]:
        """The legal steps of a verb, the simplest first."""
        return [Step(verb, values) for values in _OPTIONS[verb](self)]

    def fits(self, step: Step) -> bool:
        """Whether a step of another history is legal in this one."""
        return step in self.options(step.verb)

    # --- driving

    def open(self) -> None:
        """A session that outlives its connection, with two queues of its own."""
        self.peer.knows = False
        lasting(self.peer, point=self.start)
        self.names = {name: self.peer.queue() for name in QUEUES}

    def _do(self, step: Step) -> None:
        _DOES[step.verb](self, *step.values)

    def _finish(self) -> None:
        """A last look, and everything out of the queues."""
        self.look()
        for name in QUEUES:
            self.drain(name)
        self.peer.detach(self.channel)
        self.peer.close()

    # --- the books

    def _count(self) -> None:
        """All commands up to the next one are done: a barrier has reported so."""
        following = owed(self.session.next_id, "a session with a command-point")
        if following != self.counted:
            last = (following - 1) % MODULUS
            self.model.completed = latest(self.model.completed, ((self.counted, last),))
        self.counted = following

    def _settled(self) -> None:
        self.peer.barrier(self.channel)
        self._count()

    def _numbered(self, queue: str) -> bytes:
        """One more message as octets, with its id, addressed to a queue."""
        body = b"%d" % self.model.sent
        self.model.sent += 1
        number = owed(self.peer.number(self.channel), "a session with a command-point")
        self.model.again[number] = queue, body
        self.model.queues[queue].append(body)
        return self._octets(queue, body)

    def _octets(self, queue: str, body: bytes) -> bytes:
        return self.peer.transferring(self.names[queue], body, self.channel)

    # --- steps

    def send(self, count: int, queue: str) -> None:
        """Messages, all in one write."""
        self.peer.send_octets(b"".join(self._numbered(queue) for _ in range(count)))
        self._settled()

    def look(self) -> None:
        """The session state that the target reports must equal that of the model."""
        self._settled()
        told = state(self.peer, self.channel)
        following = self.session.next_id
        _same("expected", told.expected, ((following, following),))
        _same("completed", told.completed, self.model.completed.ranges)
        if (self.model.completed - SerialSet.of(told.confirmed)).ranges:
            raise Mismatch(f"{self.model.completed} confirmed", str(told.confirmed))

    def know(self, count: int) -> None:
        """The first of the completed commands need not be reported any more, and never return."""
        self._settled()
        first = list(self.model.completed)[:count]
        known = SerialSet.of((number, number) for number in first)
        self.model.completed = self.model.completed - known
        self.model.again = {number: sent for number, sent in self.model.again.items() if number not in known}
        self.peer.send("session.known-completed", self.channel, commands=known.ranges)
        _same("completed", completed_now(self.peer, self.channel), self.model.completed.ranges)

    def ask(self, times: int, queue: str) -> None:
        """Queries, each with a result that is the target's own command."""
        numbers = [self.peer.send("queue.query", self.channel, queue=self.names[queue]) for _ in range(times)]
        results = [self.peer.expect("execution.result", channel=self.channel) for _ in numbers]
        _same("the results of commands", {result["command_id"] for result in results}, set(numbers))
        for result in results:
            held = result["value"].fields.get("message_count")
            _same("messages", held, len(self.model.queues[queue]))
            self.model.owned.append((result.id, result["command_id"]))
        self._settled()

    def complete(self) -> None:
        """Tell the target that all of its commands are done, and see that it knows."""
        self.peer.complete([], self.channel, timely=True)
        self.peer.expect("session.known-completed", channel=self.channel)
        self.model.owned.clear()

    def drain(self, queue: str) -> None:
        """Everything in a queue, in the order in which it was sent."""
        _same(f"queue {queue}", bodies(self.peer, self.names[queue], self.channel), self.model.queues[queue])
        self.model.queues[queue] = []
        # Whatever came is reported as completed with the messages.
        self.model.owned.clear()
        self._settled()

    def lose(self, count: int, queue: str, again: str) -> None:
        """Lose the connection with commands in flight, and continue elsewhere: what is sent again counts once."""
        self._settled()
        known = set(self.model.again)
        for _ in range(count):
            self._numbered(queue)
        session, owned = self.session, self.model.owned
        # What was read and not completed is sent again: the flush of the target is answered by the books.
        session.finished = session.received - _ids(number for number, _ in owned)
        session.channel, self.channel = 0, 0
        self.peer = elsewhere(self.peer, session)
        self.peer.knows = False
        told = state(self.peer)
        _same("completed", told.completed, self.model.completed.ranges)
        for before in owned:
            result = self.peer.expect("execution.result")
            _same("a result again: id, command", (result.id, result["command_id"]), before)
        self._replay(known if again == _AGAIN[0] else set())
        self._settled()

    def _replay(self, without: set[int]) -> None:
        """Send commands again in runs of ids, each after its command-point, then continue after all of them."""
        wanted = [(number, sent) for number, sent in self.model.again.items() if number not in without]
        for _, run in groupby(enumerate(wanted), key=lambda at: (at[1][0] - at[0]) % MODULUS):
            entries = [entry for _, entry in run]
            self.peer.point(0, entries[0][0])
            self.peer.send_octets(b"".join(self._octets(*sent) for _, sent in entries))
        self._go_on()

    def _go_on(self) -> None:
        following = owed(self.counted_on(), "a session with a command-point")
        self.peer.point(self.channel, following)

    def counted_on(self) -> int | None:
        """The id of the next command, with those that were in flight."""
        waiting = [number for number in self.model.again if number not in self.model.completed]
        return add(waiting[-1], 1) if waiting else self.counted

    def leave(self, channel: int) -> None:
        """Detach cleanly, and attach the session on a channel of the same connection."""
        self._settled()
        session, owned = self.session, self.model.owned
        session.finished = session.received - _ids(number for number, _ in owned)
        following = owed(session.next_id, "a session with a command-point")
        self.peer.detach(self.channel)
        self.channel = channel
        self.peer.reattach(session, channel, force=False)
        for before in owned:
            result = self.peer.expect("execution.result", channel=channel)
            _same("a result again: id, command", (result.id, result["command_id"]), before)
        self.peer.point(channel, following)
        self.look()

    def gap(self, count: int) -> None:
        """Leave out commands: they count as completed."""
        self._settled()
        first = self.counted
        last = add(first, count - 1)
        self.peer.send("session.gap", self.channel, commands=((first, last),))
        self.model.completed = latest(self.model.completed, ((first, last),))
        self.counted = add(last, 1)
        self.peer.point(self.channel, self.counted)
        self.look()


def _ids(numbers: Iterator[int | None]) -> SerialSet:
    return SerialSet.of((number, number) for number in numbers if number is not None)


def _same(what: str, actual: Any, wanted: Any) -> None:
    if actual != wanted:
        raise Mismatch(f"{what} {wanted}", str(actual))


_OPTIONS: dict[str, Callable[[Walk], list[tuple[Any, ...]]]] = {
    "send": lambda walk: [(count, queue) for count in _COUNTS for queue in QUEUES],
    "look": lambda walk: [()],
    "know": lambda walk: [(count,) for count in _COUNTS],
    "ask": lambda walk: [(count, queue) for count in _COUNTS for queue in QUEUES],
    "complete": lambda walk: [()] if walk.model.owned else [],
    "drain": lambda walk: [(queue,) for queue in QUEUES],
    "lose": lambda walk: [(count, queue, again) for again in _AGAIN for count in _LOST for queue in QUEUES],
    "leave": lambda walk: [(channel,) for channel in (0, 1)],
    "gap": lambda walk: [(count,) for count in _COUNTS],
}
_DOES: dict[str, Callable[..., None]] = {verb: getattr(Walk, verb) for verb in _OPTIONS}
