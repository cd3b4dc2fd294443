"""The reference agent of AMQP/Fast: a client that follows the specification, with mistakes on request.

Knows: how a connection is opened and left, what a careful client looks at. Must not know: scenarios, who judges it.
Commands are sent and waited for by the harness's own peer; this module adds what a careful client does and a peer of a
case does not: every command is checked as it arrives (``agent_checks``), and a violation ends the connection.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.listening import Listener
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.run.amqp_fast_0_8.agent_checks import (
    FRAME_ERROR,
    INVALID_CONTENT,
    check,
    first_of,
    of_octets,
)
from amqpspec.run.amqp_fast_0_8.agent_slips import SLIPS
from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, Violated
from amqpspec.spec.amqp_fast_0_8 import DIALECT as TABLES
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.errors import WireError

DIALECT = "amqp-fast-0-8"
_PATIENT_S, _LONG_S = 5.0, 60.0
_LOOK_S = 0.2
_TIMES_HEARTBEAT = 3
"""After this many intervals without a command the agent pings a silent server, and then disconnects."""


class Session(Peer):
    """One connection of a careful client."""

    def __init__(self, order: Order, tell: Tell) -> None:
        self.order, self.tell, self.faulty = order, tell, order.faulty
        super().__init__(Context(DIALECT, (), order.dial, order.login))
        self.of: Mapping[str, Any] = order.context
        self.books = Books()
        self.client_name = ""
        self._reader = CommandReader(greets=True)
        self._heard_s = self._pinged_s = 0.0
        self._is_asked = self._is_leaving = False
        self.polite = not self.faulty("answers-no-close")

    @property
    def patience_s(self) -> float:
        """How long an expected answer may take; a client that minds no silence waits for longer than it is watched."""
        return _LONG_S if self.faulty("waits-through-silence") else _PATIENT_S

    # --- listening

    def make_listener(self) -> Listener:
        """Every fragment arrives by itself, and then the message."""
        listener = _Fragmentwise()
        if self.order.faulty("escape-not-known"):
            listener.reader.layout = replace(TABLES.layout, long_size_octets=0)
        return listener

    def read(self, until_s: float) -> Arrival:
        """See ``Line``; an end does not concern the client where a mistake takes it for the end of the work."""
        arrival = super().read(until_s)
        if isinstance(arrival, Ended):
            self._take_for_success()
        return arrival

    def _take_for_success(self) -> None:
        """What one mistake does at an end that the client did not ask for."""
        if self.faulty("takes-the-end-for-success") and not self.books.sent(Side.CLIENT, "connection.close"):
            sys.exit(0)

    def noted(self, arrival: Arrival) -> Arrival:
        """Check a command before a wait returns it; raises Violated."""
        if self._is_leaving:
            return arrival
        if isinstance(arrival, Garbled):
            if self.faulty("crashes-on-what-it-cannot-read"):
                os.kill(os.getpid(), signal.SIGKILL)
            if not self.faulty("ignores-every-violation"):
                raise of_octets(arrival.error)
        if not isinstance(arrival, CommandArrived):
            return super().noted(arrival)
        if not self.faulty("ignores-every-violation"):
            self._check(arrival.frame)
        self.books.follow(Side.SERVER, arrival.frame)
        # The peer answers closes; the agent answers PINGs, as its mistakes want it.
        noted = arrival if arrival.name == "connection.ping" else super().noted(arrival)
        self._answer_to(arrival)
        if arrival.name == "channel.close" and self.faulty("works-on-behind-a-close"):
            self.send("handle.flow")
        return noted

    def _check(self, frame: CommandFrame) -> None:
        try:
            check(self.books, frame)
        except Violated as violated:
            if violated.code == INVALID_CONTENT and self.faulty("crashes-on-what-it-cannot-read"):
                os.kill(os.getpid(), signal.SIGKILL)
            raise
        most = self.books.chosen.get("FRAME_MAX", self.limit("FRAME_MAX"))
        size = len(frame.fields) + self.dialect.layout.overhead_octets
        if most and max(size, len(frame.fragment)) > most:
            raise Violated(FRAME_ERROR, f"{frame.name} of {size} and {len(frame.fragment)} octets")

    def _answer_to(self, arrival: CommandArrived) -> None:
        """What is answered in any case, except for a CLOSE."""
        if arrival.name == "connection.ping" and self.faulty("refuses-pings"):
            raise Violated(540, "a PING")
        if arrival.name == "connection.ping" and arrival["respond"]:
            if not self.faulty("pings-unanswered"):
                self.send("connection.ping", respond=self.faulty("answers-ping-with-a-question"))
        elif arrival.name == "handle.prepare" and not self.faulty("prepare-unanswered"):
            self.send("handle.ready", handle_id=arrival["handle_id"], message_size=0)

    # --- speaking

    def send_octets(self, octets: bytes) -> bool:
        """Send octets, and enter them in the books as a reader on the other side would."""
        sent = super().send_octets(octets)
        if not self._reader.is_broken:
            self._reader.feed(octets)
            self._enter()
        return sent

    def _enter(self) -> None:
        try:
            while (item := self._reader.next()) is not None:
                if isinstance(item, CommandFrame) and item.error is None:
                    self.books.follow(Side.CLIENT, item)
        except WireError:
            return  # a mistake was made on purpose; the server ends the connection or channel

    def refuse(self, violated: Violated) -> None:
        """End the connection with the code."""
        if self.ended is not None or self.closed_by is not None:
            return
        self.send("connection.close", reply_code=violated.code, reply_text=str(violated)[:200])
        self.linger(1.0)

    def linger(self, for_s: float) -> None:
        """Read to the end: a socket that ends with octets unread resets, and takes with it what was sent last."""
        self._is_leaving = True
        until_s = self.now() + for_s
        while self.now() < until_s and not isinstance(Peer.read(self, until_s), Ended | Quiet):
            pass

    # --- the connection

    def open_up(self, **channel: Any) -> None:
        """Everything up to an open channel 1."""
        self.send_header(b"\x81\x01" if self.faulty("greets-by-another-protocol") else None)
        challenge = self.expect("connection.challenge")
        self._check_challenge(challenge)
        self._respond()
        while (tune := self.expect("connection.tune", "connection.challenge")).name != "connection.tune":
            if not self.faulty("challenge-answered-once"):
                self._respond()
        names = [name for name, _ in tune["options"]]
        if self.faulty("refuses-duplicates") and len(set(names)) < len(names):
            raise Violated(502, "an option twice")
        self.proposed = first_of(tune["options"])
        self._tune()
        self._open()
        self.slips("open")
        self.call("channel.open", **channel)
        self.slips("channel")

    def _check_challenge(self, challenge: CommandArrived) -> None:
        if challenge["version"] != 1 and not self.faulty("any-version"):
            raise Violated(540, f"version {challenge['version']}")
        if "PLAIN" not in challenge["mechanisms"].split() and not self.faulty("any-mechanism"):
            raise Violated(540, f"no mechanism in common: {challenge['mechanisms']!r}")

    def _respond(self) -> None:
        responses: Any = self.credentials()
        if self.faulty("response-without-login"):
            responses = {"USER": self.login.user, "PASSWORD": self.login.password}
        if self.faulty("response-of-many-octets"):
            responses |= {f"FIELD{n}": "x" * 100 for n in range(50)}
        if self.faulty("field-named-badly"):
            responses |= {"1ST": "a name that begins with a digit"}
        mechanism = "AMQPSPEC" if self.faulty("mechanism-not-offered") else "PLAIN"
        self.respond("P\0" if self.faulty("zero-octet-in-a-short-string") else mechanism, responses)
        if self.faulty("responds-twice"):
            self.respond(mechanism, responses)

    def _tune(self) -> None:
        offered = self.limit("FRAME_MAX")
        options = {"FRAME_MAX": offered, "HEARTBEAT": int(self.of["heartbeat_s"])}
        if self.faulty("frame-max-beyond-offer"):
            options["FRAME_MAX"] = 2 * offered
        if self.faulty("frame-max-below-minimum"):
            options["FRAME_MAX"] = 512
        if self.faulty("tune-option-of-servers"):
            options["CHANNEL_MAX"] = 1
        dictionary = {f"N{n}": "x" * 100 for n in range(50)} if self.faulty("tune-of-many-octets") else None
        self.tune(dictionary, **options)
        self.listener.reader.max_size = options["FRAME_MAX"]
        self.slips("tuned")

    def _open(self) -> None:
        self.call("connection.open", virtual_path=self.login.vhost, client_name=self.client_name)
        self.is_open = True

    def close_up(self) -> None:
        """Close the handles, the channels and the connection, and wait for the answers."""
        self.slips("closing")
        for channel in sorted(id for id in self.books.channels if self.books.has_channel(id, Side.CLIENT)):
            self.close_channel(channel)
            self.slips("channel-closed")
        self.send("connection.close", reply_code=7 if self.faulty("close-code-of-one-digit") else 200)
        self.slips("closed")
        self.expect("connection.close")
        self.expect_end(1.0)

    def idle(self, for_s: float) -> None:
        """Do nothing for a while: PING where the server asked for it, and leave a server that is silent."""
        minds = not self.faulty("waits-through-silence")
        until_s, self._heard_s = self.now() + (for_s if minds else _LONG_S), self.now()
        while self.now() < until_s or self._is_asked:
            self._ping()
            arrival = self.read(self.now() + _LOOK_S)
            if isinstance(arrival, Ended):
                raise ScenarioError(f"the connection ended: {arrival.how}")
            if not isinstance(arrival, Quiet):
                self._heard_s, self._is_asked = self.now(), False
            elif minds:
                self._mind_silence()

    def _ping(self) -> None:
        """A PING where the server's interval is over."""
        every_s = self.limit("HEARTBEAT")
        is_once = self._pinged_s > 0 and self.faulty("pings-once")
        if every_s and self.now() - self._pinged_s >= every_s and not is_once:
            self.send("connection.ping")
            self._pinged_s = self.now()

    def _mind_silence(self) -> None:
        """Ask a server that has been silent for some intervals, and leave it when it stays so."""
        interval_s = int(self.of["heartbeat_s"])
        if self.now() - self._heard_s <= _TIMES_HEARTBEAT * (1 + self._is_asked) * interval_s:
            return
        if self._is_asked:
            raise ScenarioError("the server has been silent for too long")
        self.send("connection.ping", respond=True)
        self._is_asked = True

    def slips(self, where: str) -> None:
        """What mistakes send at a point of the conversation."""
        for name, point, command, fields in SLIPS:
            if point == where and self.faulty(name):
                self.send(command, **fields)


class _Fragmentwise(Listener):
    def _frame(self, frame: CommandFrame) -> None:
        if frame.error is None and frame.name == "handle.notify":
            self._ready.append(CommandArrived(frame))
        super()._frame(frame)
