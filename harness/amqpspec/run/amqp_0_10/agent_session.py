"""The reference agent of AMQP 0-10: a client that follows the specification, with mistakes on request.

Knows: what a client does about a server that breaks the specification. Must not know: who judges it.
Octets are read and books are kept by the harness's own peer; this module adds what a careful client does and a peer of
a case does not: it looks at every frame and at what it completes, and refuses what is not allowed there.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session as Book
from amqpspec.peer.amqp_0_10.peer import MESSAGES, Peer
from amqpspec.peer.context import CLIENT_PROPERTIES, Context, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet
from amqpspec.run.amqp_0_10.agent_checks import (
    FRAMING_ERROR,
    Violated,
    look,
    tuning,
    unusual,
    vast,
)
from amqpspec.run.amqp_0_10.agent_listening import FrameWatcher, Wrong
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import ROWS, encode_instruction
from amqpspec.wire.amqp_0_10.serial import latest
from amqpspec.wire.transport import StreamEnd

MAX_FRAME_OCTETS, CHANNEL_MAX = 16_384, 16
"""What the agent settles for."""
_SMALL_OCTETS, _MANY_FLUSHES = 4000, 500
_PATIENT_S, _LONG_S, _GOODBYE_S = 10.0, 14.0, 5.0
_TIMES_SILENT = 3
"""More than twice the delay is too long (connection.heartbeat); the rest is for a server on a machine that is busy."""
_ENDS = ("session.detach", "session.detached", "connection.redirect")
_LEADS_TO: Mapping[str, set[str]] = {
    "session.request-timeout": {"session.timeout"},
    "session.detach": {"session.detached"},
    "session.flush": {"session.expected"},
}
_DETACH_CODES = {c.name: int(c.value) for c in DIALECT.choices("session.detach-code")}


class SessionLost(ScenarioError):
    """The server ended the session; the connection continues."""


class Session(Peer):
    """One connection of a careful client."""

    def __init__(self, order: Order, tell: Tell) -> None:
        super().__init__(Context(DIALECT.id, (), order.dial, order.login))
        self._heeding = FrameWatcher()
        if order.faulty("refuses-large-frames"):
            self._heeding.reader.max_size = _SMALL_OCTETS
        self.listener = self._listener = self._heeding
        self.order, self.tell = order, tell
        self.of: Mapping[str, Any] = order.context
        self.due: tuple[str, ...] = ()
        self.attaching: dict[int, bytes] = {}
        self.credit: dict[str, int] = {}
        self.requested: set[str] = set()
        self.results: set[int] = set()
        self.offsets: set[int] = set()
        self._flushes = 0
        self.is_leaving = self.expects_exception = False
        self.polite = not self.faulty("answers-no-control")
        self.heartbeat_s = 0
        self._said_s = self._heard_s = 0.0

    @property
    def patience_s(self) -> float:
        """How long an expected answer may take; a client that minds no silence waits for longer."""
        return _LONG_S if self.faulty("waits-through-silence") else _PATIENT_S

    @property
    def faulty(self) -> Callable[[str], bool]:
        """Whether a mistake is to be made."""
        return self.order.faulty

    # --- listening

    def read(self, until_s: float) -> Arrival:
        """The next arrival, after its check; raises Violated for silence beyond what was agreed, ScenarioError."""
        while True:
            pause_s = self.heartbeat_s / 2 if self.heartbeat_s else until_s
            arrival = super().read(min(until_s, self.now() + pause_s))
            if isinstance(arrival, Ended) and not self.is_leaving:
                self._ended(arrival.how)
            if not isinstance(arrival, Quiet):
                self._heard_s = self.now()
            self._keep_alive()
            if not isinstance(arrival, Quiet) or self.now() >= until_s:
                return arrival

    def send(self, name: str, /, channel: int = 0, **args: Any) -> int | None:
        """Send a control or a command; what it allows the server to send is noted."""
        number = super().send(name, channel, **args)
        row = ROWS[name]
        if isinstance(row, Command) and row.result and number is not None:
            self.results.add(number)
        self.requested |= _LEADS_TO.get(name, set())
        if name == "message.flow" and args["unit"] == MESSAGES:
            self.credit[args["destination"]] = self.credit.get(args["destination"], 0) + args["value"]
        return number

    def send_octets(self, octets: bytes) -> bool:
        """Send octets; they are a sign of life."""
        self._said_s = self.now()
        return super().send_octets(octets)

    def _keep_alive(self) -> None:
        """Send a heartbeat if one is due, and leave a server that has been silent for too long."""
        if not self.heartbeat_s or self.is_leaving:
            return
        if self.now() - self._said_s >= self.heartbeat_s / 2 and not self.faulty("no-heartbeats"):
            self.send("connection.heartbeat")
        silent_s = self.now() - self._heard_s
        if silent_s > _TIMES_SILENT * self.heartbeat_s and not self.faulty("waits-through-silence"):
            raise Violated(Scope.SOCKET, 0, f"no octet for {silent_s:.1f} s")

    def noted(self, arrival: Arrival) -> Arrival:
        """Check what has arrived before it is recorded; an end of the server's is answered, and is the end of the
        work.
        """
        if self.is_leaving:
            return super().noted(arrival)
        if isinstance(arrival, Garbled | Wrong):
            raise self._unreadable(arrival)
        if isinstance(arrival, HeaderArrived):
            if arrival.header.octets != DIALECT.protocol_header and not self.faulty("any-header"):
                raise Violated(Scope.SOCKET, 0, str(arrival.header))
        elif isinstance(arrival, AssemblyArrived):
            return self._assembly(arrival)
        return arrival

    def _unreadable(self, arrival: Garbled | Wrong) -> Violated:
        if self.faulty("crashes-on-what-it-cannot-read"):
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(arrival, Garbled):
            return Violated(Scope.CONNECTION, FRAMING_ERROR, str(arrival.error))
        return arrival.violated

    def _assembly(self, arrival: AssemblyArrived) -> Arrival:
        frames = self._heeding.counts.pop(0)
        if not self._overlooks(arrival):
            look(self, arrival)
        if self.faulty("refuses-what-is-unusual") and (why := unusual(arrival, frames)):
            raise Violated(Scope.CONNECTION, FRAMING_ERROR, why)
        if self.faulty("drowns-in-numbers"):
            self._drown(arrival, frames)
        if arrival.name == "session.attached":
            self.attaching.pop(arrival.channel, None)
        book = self.sessions.get(arrival.channel)
        if arrival.name == "session.gap" and book is not None:
            book.finished = latest(book.finished, arrival["commands"] or ())
        booked = super().noted(arrival)
        instruction = arrival.assembly.instruction
        if book is not None and instruction is not None and instruction.sync and self.polite:
            self.send("session.completed", arrival.channel, commands=book.reported)
        ours = arrival.name == "session.detached" and "session.detached" in self.requested
        if arrival.refusal is not None or arrival.name in _ENDS:
            self._over(arrival, ours)
        return booked

    def _overlooks(self, arrival: AssemblyArrived) -> bool:
        """Whether a mistake prevents the check of an arrival."""
        ends = arrival.name in _ENDS or arrival.refusal is not None
        return (
            self.faulty("ignores-every-violation")
            or (arrival.name == "connection.start" and self.faulty("any-mechanism"))
            or (ends and self.faulty("tells-nothing-of-refusals"))
        )

    def _drown(self, arrival: AssemblyArrived, frames: int) -> None:
        """Die of what is too much, as the mistake wants it."""
        self._flushes += arrival.name == "session.flush"
        if vast(arrival, frames) or self._flushes > _MANY_FLUSHES:
            os.kill(os.getpid(), signal.SIGKILL)

    def _over(self, arrival: AssemblyArrived, is_ours: bool) -> None:
        """The server has ended or refused something, unless the agent asked for that."""
        if is_ours or self.expects_exception or arrival.name == "message.reject":
            return
        if self.faulty("tells-nothing-of-refusals"):
            sys.exit(0)
        why = f"the server ended it: {arrival.describe(self.dialect)}"
        raise SessionLost(why) if self.opened and arrival.name != "connection.close" else ScenarioError(why)

    def _ended(self, how: StreamEnd) -> None:
        if self.faulty("takes-the-end-for-success"):
            sys.exit(0)
        raise ScenarioError(f"the connection ended: {how}")

    # --- refusing

    def say_goodbye(self) -> None:
        """Close a connection whose session the server has ended."""
        self.is_leaving = True
        with suppress(Unmet):
            self._close(200, "the session is lost")

    def refuse(self, violated: Violated) -> None:
        """Say no at the scope of the violation, then close; silently if nothing can be said."""
        self.is_leaving = True
        if violated.scope is Scope.SOCKET or self.is_over():
            return
        with suppress(Unmet):
            if violated.scope is Scope.CONNECTION:
                self._close(int(violated.code), str(violated))
                return
            if isinstance(violated.code, str):
                self._detached(violated.channel, violated.code)
            else:
                self._except(violated)
            self._close(200, "done")

    def _detached(self, channel: int, code: str) -> None:
        book = self.sessions.get(channel)
        name = book.name if book is not None else b""
        self.send("session.detached", channel, name=name, code=_DETACH_CODES[code])

    def _except(self, violated: Violated) -> None:
        """An exception, then no state and no channel any more (3.4.1.3)."""
        channel = violated.channel
        book = self.sessions[channel]
        self.send(
            "execution.exception",
            channel,
            error_code=violated.code,
            description=str(violated)[:200],
        )
        self.send("session.request-timeout", channel, timeout=0)
        self.send("session.detach", channel, name=book.name)

    def _close(self, code: int, text: str) -> None:
        self.send("connection.close", reply_code=code, reply_text=text[:80])
        # What cannot be read is read away: a socket that ends with octets unread resets, and its close is lost.
        until_s = self.now() + _GOODBYE_S
        while not isinstance(arrival := self.read(until_s), Ended | Quiet):
            if self.now() > until_s or _is(arrival, "connection.close-ok"):
                return

    # --- the connection

    def connect_to(self) -> None:
        """The handshake and a session."""
        if self.faulty("frame-before-the-header"):
            self.send("connection.heartbeat")
        self.due = ("connection.start",)
        self.greet(b"AMQP\x01\x01\x00\x09" if self.faulty("header-of-another-version") else None)
        self.due = ("connection.tune", "connection.secure")
        self._start_ok(self._start)
        self._tune(self.offered())
        self.due = ("connection.open-ok", "connection.redirect")
        self.call_control("connection.open", virtual_host=self.login.vhost)
        self.opened = True
        self.attach_to(CHANNEL_MAX if self.faulty("channel-beyond-limit") else 0)

    def greet(self, header: bytes | None = None) -> AssemblyArrived:
        """See ``Opening.greet``; start is kept, for what it offers."""
        if self.faulty("any-header"):
            self.send_header(header)
            self.wait(lambda arrival: isinstance(arrival, HeaderArrived), self.patience_s)
            self._start = self.expect("connection.start")
        else:
            self._start = super().greet(header)
        return self._start

    def _start_ok(self, start: AssemblyArrived) -> None:
        mechanisms = [] if start["mechanisms"] is None else [str(m) for m in start["mechanisms"].items]
        if "PLAIN" not in mechanisms and not self.faulty("any-mechanism"):
            raise Violated(Scope.SOCKET, 0, f"no mechanism in common: {mechanisms}")
        properties = {"product": "amqpspec"} if self.faulty("properties-missing") else CLIENT_PROPERTIES
        if self.faulty("mechanism-not-offered"):
            args: Mapping[str, Any] = {"mechanism": "AMQPSPEC", "response": b"", "locale": "en_US"}
            self.send("connection.start-ok", client_properties=properties, **args)
        if self.faulty("locale-missing"):
            response = b"\0guest\0guest"
            self.send(
                "connection.start-ok", client_properties=properties, mechanism="PLAIN", response=response
            )
            return
        locale = "xx_XX" if self.faulty("locale-not-offered") else "en_US"
        self.start_ok(properties=properties, locale=locale)

    def _tune(self, tune: AssemblyArrived) -> None:
        if self.faulty("needs-limits") and None in (tune["channel_max"], tune["max_frame_size"]):
            raise Violated(Scope.CONNECTION, FRAMING_ERROR, "a tune without limits")
        if not self.faulty("ignores-every-violation"):
            tuning(tune)
        offered = 0xFFFF if tune["max_frame_size"] is None else tune["max_frame_size"]
        frames, channels = min(MAX_FRAME_OCTETS, offered), min(CHANNEL_MAX, tune["channel_max"] or 0xFFFF)
        heartbeat = (
            None if tune["heartbeat_min"] is None else max(int(self.of["heartbeat_s"]), tune["heartbeat_min"])
        )
        if self.faulty("heartbeat-unsupported"):
            heartbeat = int(self.of["heartbeat_s"])
        odd: Mapping[str, dict[str, Any]] = {
            "channel-max-beyond-offer": {"channel_max": 0xFFFF},
            "frame-size-beyond-offer": {"max_frame_size": 0xFFFF},
            "frame-size-below-minimum": {"max_frame_size": 1024},
            "heartbeat-beyond-offer": {"heartbeat": (tune["heartbeat_max"] or 0) + 1},
        }
        args: dict[str, Any] = {"channel_max": channels, "max_frame_size": frames, "heartbeat": heartbeat}
        for fault, changed in odd.items():
            args |= changed if self.faulty(fault) else {}
        for _ in range(2 if self.faulty("tune-ok-twice") else 1):
            self.send("connection.tune-ok", **args)
        self.channel_max, self.max_frame_octets = channels, frames
        self.listener.reader.max_size = frames
        self.heartbeat_s = heartbeat or 0
        self._heard_s = self.now()

    def attach_to(self, channel: int) -> None:
        """A session, and where its commands begin."""
        self.channel = channel
        self._before_attaching(channel)
        session = Book(self.name("agent").encode(), channel)
        self.sessions[channel], self.attaching[channel] = session, session.name
        self.send("session.attach", channel, name=session.name)
        self.expect("session.attached", channel=channel)
        self._odd_attachments(session)
        if self.faulty("no-command-point"):
            session.next_id = 0
        else:
            self.point(channel)
        if self.faulty("command-point-without-a-command"):
            rest = encode_instruction("execution.sync", {})
            self.send_octets(encode_frame(rest, type=1, flags=0x05, channel=channel))

    def _before_attaching(self, channel: int) -> None:
        if self.faulty("controls-before-attach"):
            self.send("session.flush", channel, completed=True)
        if self.faulty("commands-before-attach"):
            self.send("execution.sync", channel)

    def _odd_attachments(self, session: Book) -> None:
        if self.faulty("attaches-two-sessions"):
            self.send("session.attach", session.channel, name=b"another")
        if self.faulty("attaches-to-two-channels"):
            self.send("session.attach", session.channel + 1, name=session.name)
        if self.faulty("expected-unasked"):
            self.send("session.expected", session.channel, commands=())

    def leave_in_order(self) -> None:
        """Detach, close, and wait for the answers."""
        if self.faulty("leaves-without-close"):
            return
        self.detach(self.channel)
        args: dict[str, Any] = {"reply_code": 7 if self.faulty("close-code-unknown") else 200}
        self.send("connection.close", reply_text="done", **args)
        if self.faulty("talks-behind-its-close"):
            self.send("connection.heartbeat")
        self.is_leaving = True
        self.expect("connection.close-ok", channel=None)


def _is(arrival: Arrival, name: str) -> bool:
    return isinstance(arrival, AssemblyArrived) and arrival.name == name
