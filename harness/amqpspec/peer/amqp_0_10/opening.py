"""Logging in and out, attaching and detaching: the steps before any command.

Knows: the order of the handshake, SASL, command-point. Must not know: entities, messages, verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.connection import Connection
from amqpspec.peer.context import CLIENT_PROPERTIES, Context, OutOfReach, Unmet
from amqpspec.peer.events import Arrival, HeaderArrived
from amqpspec.peer.line import Line
from amqpspec.peer.sasl import Conversation, conversation
from amqpspec.wire.amqp_0_10.instructions import ROWS
from amqpspec.wire.amqp_0_10.values import Map

_MAX_ROUNDS = 8


class Opening(Connection):
    """A connection with handshake and sessions."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.server_properties: dict[str, Any] = {}
        self.opened = False
        self._conversation: Conversation | None = None

    def another(self, role: str | None = None, vhost: str | None = None) -> Self:
        """A second connection, not yet opened, as the default or another principal, to a vhost by name."""
        return self.introduced(type(self)(self.context, self.lines), role, vhost)

    # --- waiting

    def expect(self, *names: str, channel: int | None = 0, within_s: float | None = None) -> AssemblyArrived:
        """The next of these on that channel (None: any); raises Unmet if the wait ends otherwise."""
        arrival = self.arrival(*names, channel=channel, within_s=within_s)
        if isinstance(arrival, AssemblyArrived) and arrival.name in names:
            return arrival
        raise Unmet(" or ".join(names), arrival.describe(self.dialect), arrival)

    def arrival(self, *names: str, channel: int | None = 0, within_s: float | None = None) -> Arrival:
        """Like ``expect``, but returns any end of the wait: a refusal there, the end, garbled octets, or Quiet."""
        return self.wait(
            lambda a: is_one(a, names, channel) or refuses(a, channel),
            self.patience_s if within_s is None else within_s,
        )

    # --- the connection

    def greet(self, header: bytes | None = None) -> AssemblyArrived:
        """Send the protocol header; receive the target's and connection.start."""
        self.send_header(header)
        arrival = self.wait(lambda a: False, self.patience_s)
        octets = arrival.header.octets if isinstance(arrival, HeaderArrived) else b""
        if octets != (self.dialect.protocol_header if header is None else header):
            raise Unmet("the same protocol header", arrival.describe(self.dialect), arrival)
        start = self.expect("connection.start")
        properties = start["server_properties"]
        self.server_properties = properties.plain() if isinstance(properties, Map) else {}
        return start

    def start_ok(
        self,
        *,
        mechanism: str | None = None,
        response: bytes | None = None,
        properties: Mapping[str, Any] | None = None,
        locale: str = "en_US",
    ) -> None:
        """Send connection.start-ok for the peer's login, or with other values."""
        mechanism = mechanism or self.login.mechanism
        self._conversation = conversation(mechanism, self.login)
        self.send(
            "connection.start-ok",
            client_properties=CLIENT_PROPERTIES if properties is None else properties,
            mechanism=mechanism,
            response=(self._conversation.first() or b"") if response is None else response,
            locale=locale,
        )

    def offered(self) -> AssemblyArrived:
        """Connection.tune, after the rounds of secure that the mechanism needs."""
        for _ in range(_MAX_ROUNDS):
            arrival = self.expect("connection.tune", "connection.secure")
            if arrival.name == "connection.tune":
                return arrival
            assert self._conversation is not None
            self.send("connection.secure-ok", response=self._conversation.answer(arrival["challenge"] or b""))
        raise Unmet("connection.tune", f"{_MAX_ROUNDS} rounds of connection.secure")

    def tune(
        self,
        *,
        channel_max: int | None = None,
        max_frame_size: int | None = None,
        heartbeat: int | None = None,
        proposed: AssemblyArrived | None = None,
    ) -> AssemblyArrived:
        """Receive connection.tune and answer with the proposed values, or with others.

        Raises OutOfReach for more channels than it proposed.
        """
        tune = proposed or self.offered()
        offer = tune["channel_max"]
        if offer is not None and offer < (channel_max or 0):
            raise OutOfReach(f"channel-max {offer} is offered, the case needs {channel_max}")
        self.channel_max = (65535 if offer is None else offer) if channel_max is None else channel_max
        frames = tune["max_frame_size"] if max_frame_size is None else max_frame_size
        self.max_frame_octets = frames or 65535
        self.send(
            "connection.tune-ok", channel_max=self.channel_max, max_frame_size=frames, heartbeat=heartbeat
        )
        return tune

    def handshake(self, **tuning: Any) -> AssemblyArrived:
        """Everything before connection.open; returns connection.start."""
        start = self.greet()
        self.start_ok(properties=tuning.pop("properties", None))
        self.tune(**tuning)
        return start

    def open_connection(self, **tuning: Any) -> Self:
        """The whole handshake; keyword arguments are passed to ``tune`` (and ``properties`` to start-ok)."""
        self.handshake(**tuning)
        self.call_control("connection.open", virtual_host=self.login.vhost)
        self.opened = True
        return self

    def call_control(self, name: str, /, channel: int = 0, **args: Any) -> AssemblyArrived:
        """Send a control and receive its response; raises Unmet."""
        self.send(name, channel, **args)
        return self.expect(*ROWS[name].responses, channel=channel)

    def close(self) -> Arrival:
        """Close the connection according to the specification; returns close-ok or another arrival."""
        self.send("connection.close", reply_code=200, reply_text="done")
        return self.wait(lambda a: is_one(a, ("connection.close-ok",), None), self.patience_s)

    def leave(self, within_s: float) -> None:
        """Detach all sessions, close, and wait a little for the answers; called after the verdict."""
        if not self.dialled or self.is_over() or not self.opened:
            return
        for channel, session in self.sessions.items():
            if session.attached:
                self.send("session.detach", channel, name=session.name)
        self.send("connection.close", reply_code=200, reply_text="case over")
        self.wait(lambda a: is_one(a, ("connection.close-ok",), None), within_s)

    # --- sessions

    def attach(self, channel: int = 0, name: bytes | None = None, *, force: bool = False) -> Session:
        """Attach a session, with a unique name if none is given; raises Unmet if it is refused."""
        if self.channel_max is not None and channel >= self.channel_max:
            raise OutOfReach(f"channel-max is {self.channel_max}, the case needs channel {channel}")
        session = Session(self.name("s").encode() if name is None else name, channel)
        self.sessions[channel] = session
        self.call_attach(session, force)
        return session

    def reattach(self, session: Session, channel: int = 0, *, force: bool = True) -> Session:
        """Attach a session that lost its channel, on this connection, with its state; raises Unmet if it is refused."""
        session.channel, session.attached = channel, True
        self.sessions[channel] = session
        self.call_attach(session, force)
        return session

    def call_attach(self, session: Session, force: bool = False) -> AssemblyArrived:
        """Send session.attach and receive session.attached."""
        self.send("session.attach", session.channel, name=session.name, force=force)
        return self.expect("session.attached", channel=session.channel)

    def open_session(
        self, channel: int = 0, name: bytes | None = None, *, point: int = 0, timeout_s: int | None = None
    ) -> Session:
        """Log in if necessary, attach a session, and send its command-point; with a timeout if one is given."""
        if not self.opened:
            self.open_connection()
        session = self.attach(channel, name)
        if timeout_s is not None:
            self.call_control("session.request-timeout", channel, timeout=timeout_s)
            session.lasting = timeout_s > 0
        self.point(channel, point)
        return session

    def point(self, channel: int = 0, command_id: int = 0, offset: int = 0) -> None:
        """Send session.command-point."""
        self.send("session.command-point", channel, command_id=command_id, command_offset=offset)

    def detach(self, channel: int = 0) -> AssemblyArrived:
        """Detach a session cleanly; raises Unmet."""
        session = self.sessions[channel]
        # No text says which timeout a session begins with: 0 closes it (3.6.4). One that an exception ended has none.
        if session.attached and not session.lasting:
            self.call_control("session.request-timeout", channel, timeout=0)
        detached = self.call_control("session.detach", channel, name=session.name)
        session.attached = False
        return detached


def is_one(arrival: Arrival, names: tuple[str, ...], channel: int | None) -> bool:
    """Whether it is one of these, on that channel (None: any)."""
    if not isinstance(arrival, AssemblyArrived) or arrival.name not in names:
        return False
    return channel is None or arrival.channel == channel


def refuses(arrival: Arrival, channel: int | None) -> bool:
    """Whether it ends the session on that channel, so that waiting there is useless."""
    return is_one(arrival, ("execution.exception", "session.detached", "session.detach"), channel)
