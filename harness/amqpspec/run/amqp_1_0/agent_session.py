"""The reference agent of AMQP 1.0: a client that follows the specification, with mistakes on request.

Knows: what a client does about a server that breaks the specification. Must not know: who judges it.
Octets are read and books are kept by the harness's own peer; this module adds what a careful client does and a peer of
a case does not: it looks at every frame, and refuses the one that is not allowed there.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet
from amqpspec.run.amqp_1_0.agent_checks import (
    CHANNEL_MAX,
    MAX_FRAME_OCTETS,
    OWN_HANDLE_MAX,
    WINDOW_FRAMES,
    Violated,
    look,
    of_octets,
)
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Scope
from amqpspec.wire.transport import StreamEnd

DIALECT = "amqp-1-0"
_PATIENT_S, _LONG_S, _GOODBYE_S = 10.0, 14.0, 5.0
_TIMES_IDLE = 3
"""Half of the threshold is announced (§2.4.5); the rest is for a server on a machine that is busy."""


class Session(Peer):
    """One connection of a careful client."""

    def __init__(self, order: Order, tell: Tell) -> None:
        super().__init__(Context(DIALECT, (), order.dial, order.login))
        self.order, self.tell = order, tell
        self.of: Mapping[str, Any] = order.context
        self.container_id = "amqpspec-agent"
        self.headers = [HEADERS["amqp"]] if self.is_bare else [HEADERS["sasl"], HEADERS["amqp"]]
        """The server's headers that are still to come."""
        self.expects_refusal = self.is_leaving = self.is_logged_in = False
        self.done: set[int] = set()
        self.channel = 0
        self.idle_s = 0.0
        self._heard_s = float("inf")
        self.keeps_alive = not self.faulty("no-empty-frames")
        self.polite = not self.faulty("answers-no-end")

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
        """The next arrival, after its check; raises Violated for silence beyond what was announced, ScenarioError."""
        while True:
            pause_s = self.idle_s / 2 if self.idle_s else until_s
            listened_until_s = min(until_s, self.now() + pause_s)
            arrival = super().read(listened_until_s)
            if isinstance(arrival, Ended) and not self.is_leaving:
                self._ended(arrival.how)
            if not isinstance(arrival, Quiet):
                self._heard_s = self.now()
                return arrival
            self._mind_silence(listened_until_s)
            if self.now() >= until_s:
                return arrival

    def noted(self, arrival: Arrival) -> Arrival:
        """Check what has arrived before it is recorded; an end of the server's is answered, and is the end of the
        work.
        """
        if self.is_leaving:
            return super().noted(arrival)
        if isinstance(arrival, Garbled):
            if self.faulty("crashes-on-what-it-cannot-read"):
                os.kill(os.getpid(), signal.SIGKILL)
            raise of_octets(
                arrival.error, in_words=self.books.open_sent, framing_lost=self.listener.reader.is_broken
            )
        if isinstance(arrival, HeaderArrived):
            self._header(arrival.header.octets)
        elif isinstance(arrival, FrameArrived):
            if not self.faulty("ignores-every-violation"):
                look(self, arrival)
            self.is_logged_in = self.is_logged_in or arrival.name == "sasl-outcome"
            was_ours = self._asked_for(arrival)
            booked = super().noted(arrival)
            if arrival.name in ("close", "end", "detach") and not was_ours:
                self._over(arrival)
            return booked
        return arrival

    def _header(self, octets: bytes) -> None:
        expected = self.headers.pop(0) if self.headers else None
        if octets != expected and not self.faulty("any-header"):
            raise Violated(Scope.SOCKET, "", f"a protocol header: {octets!r}")

    def _asked_for(self, arrival: FrameArrived) -> bool:
        """Whether an end of the server's answers the agent's own, or has none to be answered."""
        session = self.books.by_remote_channel.get(arrival.wire_channel)
        if arrival.name == "close":
            return self.books.close_sent
        if session is None or arrival.name == "end":
            return session is None or session.end_sent
        link = session.by_remote_handle.get(arrival["handle"]) if arrival.name == "detach" else None
        return link is None or link.detach_sent

    def _over(self, arrival: FrameArrived) -> None:
        if arrival.name == "detach" and self.expects_refusal:
            return
        raise ScenarioError(f"the server ended it: {arrival.describe(self.dialect)}")

    def _ended(self, how: StreamEnd) -> None:
        if self.faulty("takes-the-end-for-success") or self.faulty("swallows-every-flood"):
            sys.exit(0)
        raise ScenarioError(f"the connection ended: {how}")

    def _mind_silence(self, until_s: float) -> None:
        # Not until now: a process that was suspended since then has not read what has arrived.
        silent_s = until_s - self._heard_s
        if self.idle_s and silent_s > _TIMES_IDLE * self.idle_s and not self.faulty("waits-through-silence"):
            raise Violated(Scope.CONNECTION, "amqp:resource-limit-exceeded", f"no frame for {silent_s:.1f} s")

    # --- refusing

    def refuse(self, violated: Violated) -> None:
        """Say no at the scope of the violation, then close; silently if nothing can be said."""
        self.is_leaving, self.polite = True, False
        if violated.scope is Scope.SOCKET or not self.books.open_sent:
            return
        error = {"condition": violated.condition, "description": str(violated)[:200]}
        with suppress(Unmet):
            if violated.scope is Scope.LINK:
                self.send("detach", violated.channel, handle=violated.handle, closed=True, error=error)
            elif violated.scope is Scope.SESSION:
                self.send("end", violated.channel, error=error)
            if violated.scope is Scope.CONNECTION:
                self.send("close", error=error)
            else:
                self.send("close")
            self._read_away()

    def _read_away(self) -> None:
        """Read on until the server closes, too: a socket that ends with octets unread resets, and its close is lost."""
        until_s = self.now() + _GOODBYE_S
        while not isinstance(arrival := self.read(until_s), Ended | Quiet):
            if self.now() > until_s or (isinstance(arrival, FrameArrived) and arrival.name == "close"):
                return

    # --- the connection

    def connect_to(self) -> None:
        """Headers, SASL and open, and a session."""
        self._begin_layers()
        self.idle_s = float(self.of["heartbeat_s"])
        self._heard_s = self.now()
        if self.faulty("empty-frame-before-open"):
            self.send_empty()
        if self.faulty("begin-before-open"):
            self.send_octets(self.exact("begin", next_outgoing_id=0, incoming_window=1, outgoing_window=1))
        channel = 1 if self.faulty("open-on-a-channel") else 0
        self.send("open", channel, **self._open())
        if self.faulty("opens-twice"):
            self.send("open", **self._open())
        self.expect("open")
        self.session_on()

    def _begin_layers(self) -> None:
        if self.faulty("frame-before-the-header"):
            self.send_empty()
        if self.faulty("header-of-another-version"):
            self.send_header(b"AMQP\x00\x01\x01\x00")
        self.send_header("sasl")
        self.expect_header("sasl") if not self.faulty("any-header") else self.expect_header()
        if self.faulty("any-mechanism"):
            self.mechanisms = ("PLAIN",)
        else:
            self.offered()
        try:
            self.log_in(None, None, **self._init())
        except Unmet:
            if not self.faulty("any-outcome"):
                raise
        if not self.faulty("no-header-behind-sasl"):
            self.send_header()
            self.expect_header("amqp") if not self.faulty("any-header") else self.expect_header()

    def _init(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"hostname": self.hostname or self.order.endpoint.host}
        if self.faulty("hostname-changed"):
            fields["hostname"] = "another.example"
        if self.faulty("sasl-frame-too-large"):
            fields["hostname"] = "x" * 600
        if self.faulty("sasl-frames-of-type-zero"):
            fields["frame_type"] = 0
        if self.faulty("mechanism-not-offered"):
            self.send("sasl-init", mechanism="AMQPSPEC", initial_response=b"")
        if self.faulty("init-twice"):
            self.send("sasl-init", mechanism="PLAIN", initial_response=b"\0guest\0guest")
        return {**fields, "channel": 1} if self.faulty("sasl-frames-on-a-channel") else fields

    def _open(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "hostname": self.hostname or self.order.endpoint.host,
            "max_frame_size": MAX_FRAME_OCTETS,
            "channel_max": CHANNEL_MAX,
            "idle_time_out": int(self.of["heartbeat_s"] * 1000),
        }
        if self.faulty("open-without-container"):
            fields["container_id"] = OMIT
        if self.faulty("open-too-large"):
            fields["properties"] = {"remark": "x" * 600}
        if self.faulty("max-frame-size-below-minimum"):
            fields["max_frame_size"] = 256
        return fields

    def session_on(self) -> None:
        """Begin a session, as the mistakes of the order want it."""
        channel = 7 if self.faulty("channels-from-seven") else 0
        channel = self.channel_max + 1 if self.faulty("channel-beyond-limit") else channel
        fields: dict[str, Any] = {"incoming_window": WINDOW_FRAMES, "handle_max": OWN_HANDLE_MAX}
        if self.faulty("remote-channel-of-its-own"):
            fields["remote_channel"] = 3
        if self.faulty("works-without-a-session"):
            self.send("flow", 9)
        if self.faulty("flow-before-the-answer"):
            flow = self.exact(
                "flow", next_incoming_id=0, incoming_window=9, next_outgoing_id=0, outgoing_window=9
            )
            self.send_octets(self.frame("begin", channel, **fields) + flow)
        else:
            self.send("begin", channel, **fields)
        self.expect("begin", channel=channel)
        if self.faulty("begins-twice"):
            self.send("begin", channel, **fields)
        self.channel = channel

    def leave_in_order(self) -> None:
        """End the session, close the connection, and wait for the answers."""
        if self.faulty("leaves-without-close"):
            return
        self.end(self.channel)
        if self.faulty("works-behind-end"):
            self.send("flow", self.channel)
        self.send("close", 1 if self.faulty("close-on-a-channel") else 0)
        if self.faulty("talks-behind-its-close"):
            self.send_empty()
        self.expect("close")

    # --- links

    def link(self, role: str, address: str, **fields: Any) -> Link:
        """Attach, as the mistakes of the order want it."""
        if self.faulty("handles-from-seven"):
            fields["handle"] = 7
        if self.faulty("handle-beyond-limit"):
            fields["handle"] = 300
            self.session(self.channel).remote_handle_max = 300  # else the peer attaches no such link
        if role == "sender" and self.faulty("no-initial-delivery-count"):
            fields["initial_delivery_count"] = OMIT
        return self.attach(role, address, self.channel, **fields)
