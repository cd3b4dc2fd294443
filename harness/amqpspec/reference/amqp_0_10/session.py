"""The broker's end of one session: its name, its attachment, ids in both directions, its messages.

Knows: numbering, completion, the end of a session. Must not know: frames, the effects of commands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10 import outgoing
from amqpspec.reference.amqp_0_10.assembling import Building
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.outgoing import Outgoing
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Queue, User, VirtualHost
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command
from amqpspec.wire.amqp_0_10.instructions import HeaderEntry
from amqpspec.wire.amqp_0_10.serial import SerialSet, add, latest
from amqpspec.wire.values import Raw

MAX_TIMEOUT_S = 600
_TELL_AFTER = 64
"""The number of completions that are reported without a request."""
_DETACH_CODES = {c.name: int(c.value) for c in DIALECT.choices("session.detach-code")}
NORMAL = _DETACH_CODES["normal"]


class Carrier(outgoing.Carrier, Protocol):
    """The connection to which a session is attached."""

    def refuse_session(self, session: Session, rule: str, text: str) -> None:
        """End a session for a reason that none of its commands caused."""


class Taker(Protocol):
    """The state of a class of contents for a session."""

    def queues(self) -> list[Queue]:
        """The queues of its subscriptions."""


class Session:
    """One session, attached to a channel or waiting to be attached again."""

    def __init__(self, core: Core, user: User, vhost: VirtualHost, name: bytes) -> None:
        self.core, self.faulty = core, core.faulty
        self.user, self.vhost, self.name = user, vhost, name
        self.key = next(core.numbers)
        self.owner: object = self
        self.carrier: Carrier | None = None
        self.channel = 0
        self.timeout_s = 0
        self.released = False
        self.next_in: int | None = None
        """The id of the next received command; None before command-point."""
        self.pointed = False
        """Whether a command-point has arrived on this channel."""
        self.has_state = False
        """Whether any command, or a gap, has ever arrived."""
        self.partial: Building | None = None
        """The results of commands before the channel was lost."""
        self.completed, self.reported = SerialSet(), SerialSet()
        """Received commands that are completed and not yet known to be, and those already reported."""
        self.stalled = False
        """Whether a fault keeps it from carrying out further commands."""
        self.outgoing = Outgoing(core.faulty, self.control)
        self.deferred: dict[int, Order] = {}
        """Handled commands that are not complete yet."""
        self.order: Order | None = None
        """The current command, which an exception names as its cause."""
        self.blamed = ""
        self.at_end: list[Callable[[], object]] = []
        """The clean-up of each class when the session ends."""
        self.on_completed: list[Callable[[SerialSet], object]] = []
        """Callbacks for the completion of the broker's commands."""
        self.taker: Taker | None = None
        """The state of messages, once there is one."""
        self.feeds: list[Taker] = []
        """The consumers of the other classes."""
        self._timer: asyncio.TimerHandle | None = None

    def queues(self) -> list[Queue]:
        """The queues that it may be sent messages from."""
        takers = self.feeds if self.taker is None else [self.taker, *self.feeds]
        return [queue for taker in takers for queue in taker.queues()]

    # --- refusing

    def refuse(self, rule: str, text: str, field: str = "") -> None:
        """Raise for a violated rule; return if a fault tolerates it. ``field`` is the wrong argument."""
        self.blamed = field
        self.core.refuse(rule, text)

    # --- sending

    def control(self, name: str, /, **args: Any) -> None:
        """Send a control."""
        if self.carrier is not None:
            self.carrier.send(self.channel, name, **args)

    def command(
        self,
        name: str,
        /,
        *,
        sync: bool = False,
        header: Iterable[HeaderEntry | Raw] | None = None,
        body: bytes | None = None,
        **args: Any,
    ) -> int:
        """Send a command, after a command-point if this channel has had none; returns its id."""
        args |= {"sync": sync, "header": None if header is None else tuple(header), "body": body}
        return self.outgoing.send(self.carrier, self.channel, name, bool(self.timeout_s), args)

    # --- received commands

    def number(self) -> int:
        """The id of the next received command; counts it."""
        assert self.next_in is not None
        number = self.next_in
        self.next_in = number if self.faulty("commands-not-counted") else add(number, 1)
        self.has_state = True
        return number

    def knows(self, number: int) -> bool:
        """Whether a command was received before: it is not carried out again (3.5.2)."""
        known = number in self.completed or number in self.deferred
        return self.stalled or (known and not self.faulty("replays-executed"))

    def complete(self, order: Order) -> None:
        """A command is complete: record it, and report it if requested."""
        self.deferred.pop(order.id, None)
        self.note(SerialSet.single(order.id))
        if self.faulty("expected-unasked"):
            self.control("session.expected", commands=((self.next_in, self.next_in),))
        if self.faulty("confirms-what-never-came"):
            self.control("session.confirmed", commands=((add(order.id, 1 << 16),) * 2,))
        unreported = len(self.completed) - len(self.reported)
        if order.sync and order.name == "execution.sync" and self.faulty("sync-completes-alone"):
            self.control("session.completed", commands=((order.id, order.id),))
        elif (order.sync and not self.faulty("sync-flag-ignored")) or unreported >= _TELL_AFTER:
            self.tell_completed()

    def note(self, ids: SerialSet) -> None:
        """Record completed commands; those half of all numbers away have long been known."""
        self.completed = latest(self.completed, ids.ranges)

    def tell_completed(self) -> None:
        """Report completed commands, except those that are known to be."""
        self.reported = self.completed
        ranges = self.completed.ranges
        if self.faulty("ranges-that-touch"):
            ranges = tuple((number, number) for number in self.completed)
        self.control("session.completed", commands=ranges)

    # --- the end

    def fail(self, code: int, text: str) -> None:
        """Report an exception with its cause, then detach; the session has no state any more."""
        if self.faulty("exceptions-on-channel-zero"):
            self.channel = 0
        self.command("execution.exception", **self._exception(code, text))
        if not self.faulty("exception-without-detaching"):
            self.end(NORMAL)

    def _exception(self, code: int, text: str) -> dict[str, Any]:
        order = self.order
        described = text + "\udcff" if self.faulty("exceptions-in-no-encoding") else text
        args: dict[str, Any] = {"error_code": code, "description": described}
        if order is None or not isinstance(order.row, Command):
            return args
        args |= {"class_code": order.row.class_code, "command_code": order.row.code}
        if not self.faulty("exception-without-its-command"):
            args["command_id"] = order.id
        place = order.place(self.blamed) if self.blamed else None
        if place is not None:
            args["field_index"] = place + self.faulty("fields-counted-from-one")
        return args

    def end(self, code: int | None = None) -> None:
        """The session ends; with a code, detached is sent."""
        if code is not None:
            self.control("session.detached", name=self.name, code=code)
        self.detach()
        self.release()

    def detach(self, partial: Building | None = None) -> None:
        """Leave the channel, with an incomplete command."""
        self.carrier, self.pointed = None, False
        self.partial = partial

    def linger(self) -> None:
        """Keep the state without a channel for the timeout; without a timeout, end."""
        keeps = self.timeout_s or self.faulty("sessions-outlive-timeout-zero")
        if keeps and not self.faulty("state-lost-on-detaching"):
            self.wait(keeps)
        else:
            self.release()

    def attach(self, carrier: Carrier, channel: int) -> None:
        """Attach to a channel."""
        self.wait(None)
        self.carrier, self.channel, self.pointed = carrier, channel, False

    def resume(self) -> None:
        """Continue after attached: send commands that the client lacks, then waiting ones."""
        self.outgoing.attached()
        for queue in self.queues():
            queue.dispatch()

    def wait(self, delay_s: float | None) -> None:
        """Keep the state without a channel for this time; None: no longer."""
        if self._timer is not None and not self.faulty("timeouts-run-on"):
            self._timer.cancel()
        self._timer = None
        if delay_s is not None:
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._expire)

    def _expire(self) -> None:
        self.release()
        self.core.flush()

    def release(self) -> None:
        """Release everything that the session holds."""
        if self.released:
            return
        self.released = True
        self.wait(None)
        sessions_of(self.core).forget(self)
        for give_back in self.at_end:
            give_back()


class Sessions:
    """The sessions of one broker, by user and name."""

    def __init__(self, faulty: Callable[[str], bool]) -> None:
        self._known: dict[tuple[str, bytes], Session] = {}
        self._shared = faulty("session-names-of-all-users")

    def _key(self, user: User, name: bytes) -> tuple[str, bytes]:
        return "" if self._shared else user.name, name

    def find(self, user: User, name: bytes) -> Session | None:
        """The session with that name; each user has separate names."""
        return self._known.get(self._key(user, name))

    def add(self, session: Session) -> None:
        """A session begins."""
        self._known[self._key(session.user, session.name)] = session

    def forget(self, session: Session) -> None:
        """A session has ended."""
        key = self._key(session.user, session.name)
        if self._known.get(key) is session:
            del self._known[key]


_OF_CORES: WeakKeyDictionary[Core, Sessions] = WeakKeyDictionary()


def sessions_of(core: Core) -> Sessions:
    """The sessions of one broker."""
    return _OF_CORES.setdefault(core, Sessions(core.faulty))


FAULTS = fault_table("""
commands-not-counted: every command gets the id of the last command-point [session/command-point/numbering]
replays-executed: a replayed command is executed again [session-layer/replay/known-commands]
state-lost-on-detaching: a session ends with its channel, whatever timeout was granted
    [session/request-timeout/preserved]
sessions-outlive-timeout-zero: a session without a timeout survives the end of its channel [session-layer/timeout/zero]
timeouts-run-on: a session attached again within its timeout still expires
    [session/request-timeout/preserved]
session-names-of-all-users: all users share one set of session names [session/name session/attach/scoping]
ranges-that-touch: completed lists each id as a separate range
    [type/sequence-set/layout]
expected-unasked: expected is sent with every completion [session/expected/never-spontaneous]
confirms-what-never-came: confirmed names commands that were never sent
    [session/confirmed/spontaneous]
sync-flag-ignored: the sync flag of a command changes nothing [session/header/sync execution/sync]
sync-completes-alone: only sync itself is reported as completed [execution/sync]
exceptions-on-channel-zero: exceptions are sent on channel 0 [encoding/exception/channel]
exception-without-detaching: a session stays attached after an exception [encoding/exception/channel]
exception-without-its-command: an exception does not name its command
    [execution/exception/command-id]
fields-counted-from-one: the field index of an exception counts from one [execution/exception/field-index]
exceptions-in-no-encoding: the description of an exception is not UTF-8 [execution/exception/description]
""")
