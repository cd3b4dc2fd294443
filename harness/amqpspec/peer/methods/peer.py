"""The peer that a case uses: prerequisites, claims, messages, barriers, reactions.

Knows: the conversation of the 0-9 family from the client's side. Must not know: sockets, files, how verdicts are
reported.

``call`` sends a method and receives its reply. A missing answer raises ``Unmet``: before ``claim`` it blocks the
case, after ``claim`` it is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from amqpspec.peer.context import CLIENT_PROPERTIES, Context, Login, OutOfReach, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet, Reaction
from amqpspec.peer.line import Line
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived
from amqpspec.peer.methods.holding import BLOCKED, Holding
from amqpspec.wire.methods.codec import Call, Codec
from amqpspec.wire.values import Table

ASYNCHRONOUS = frozenset(
    {"basic.deliver", "basic.return", "basic.ack", "basic.nack", "basic.cancel", "channel.flow"}
    | {"connection.blocked", "connection.unblocked"}
)
_HIGHEST_FRAME_MAX_TRIED = 1 << 20


class Peer(Holding):
    """One client connection with the methods for cases. ``another`` returns an additional, independent one."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.server_properties: dict[str, Any] = {}
        self.mechanisms: tuple[str, ...] = ()

    def another(self, role: str | None = None, vhost: str | None = None) -> Self:
        """A second connection, not yet opened, as the default or another principal, to a vhost by name."""
        return self.introduced(type(self)(self.context, self.lines), role, vhost)

    # --- opening and closing

    def greet(self, header: bytes | None = None) -> Call:
        """Send the protocol header and receive connection.start; if nothing arrives at all, try again."""
        self.send_header(header)
        arrival = self.arrival("connection.start", channel=0)
        if isinstance(arrival, Quiet) and header is None and self.redial():
            self.send_header()
            arrival = self.arrival("connection.start", channel=0)
        start = self.expected(arrival, "connection.start").call
        self.server_properties = start["server_properties"].plain()
        self.mechanisms = tuple(start["mechanisms"].decode("ascii", "replace").split())
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
        self.send(
            "connection.start-ok",
            channel=0,
            client_properties=self.usual_properties if properties is None else properties,
            mechanism=mechanism,
            response=self.credentials(mechanism) if response is None else response,
            locale=locale,
        )

    @property
    def usual_properties(self) -> Mapping[str, Any]:
        """The client's properties; a target that knows the extension is asked to report that it blocks publishers."""
        wish = {"capabilities": {BLOCKED: True}} if self.can_be_blocked else {}
        return {**CLIENT_PROPERTIES, **wish}

    def credentials(self, mechanism: str) -> bytes:
        """The initial SASL response of the login for a mechanism."""
        return sasl_response(mechanism, self.login, self.codec)

    def tune(
        self,
        *,
        channel_max: int | None = None,
        frame_max: int | None = None,
        heartbeat: int = 0,
        proposed: Call | None = None,
    ) -> Call:
        """Receive connection.tune and answer with the proposed values, or with others.

        Raises OutOfReach for more channels than it proposed.
        """
        tune = proposed or self.expect("connection.tune", channel=0).call
        if 0 < tune["channel_max"] < (channel_max or 0):
            raise OutOfReach(f"channel-max {tune['channel_max']} is offered, the case needs {channel_max}")
        self.agree(
            tune["channel_max"] if channel_max is None else channel_max,
            tune["frame_max"] if frame_max is None else frame_max,
        )
        self.send(
            "connection.tune-ok",
            channel=0,
            channel_max=self.channel_max,
            frame_max=self.frame_max_octets,
            heartbeat=heartbeat,
        )
        return tune

    def agree(self, channel_max: int, frame_max_octets: int) -> None:
        """Apply the negotiated limits."""
        self.channel_max, self.frame_max_octets = channel_max, frame_max_octets
        self.assembler.agree(frame_max_octets)

    def handshake(self, **tuning: Any) -> Call:
        """Everything before connection.open; returns connection.start."""
        start = self.greet()
        self.start_ok(properties=tuning.pop("properties", None))
        self.tune(**tuning)
        return start

    def open_connection(self, **tuning: Any) -> Self:
        """The whole handshake; keyword arguments are passed to ``tune`` (and ``properties`` to start-ok)."""
        self.handshake(**tuning)
        self.call("connection.open", channel=0, virtual_host=self.login.vhost)
        return self

    def open_small(self) -> Self:
        """Channel 1 on a connection with the smallest frame-max that the target accepts: this connection or another
        one.

        4096 octets are legal (0-9-1 connection/tune-ok/frame-max/minimum); a target that refuses them deviates in the
        case about that, and the next powers of two are tried for the others. Raises Unmet.
        """
        frame_max, peer = self.dialect.layout.min_size_octets, self
        while True:
            peer.greet()
            peer.start_ok()
            offered = peer.tune(frame_max=frame_max)["frame_max"] or _HIGHEST_FRAME_MAX_TRIED
            try:
                peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
                return peer.open_channel()
            except Unmet:
                frame_max *= 2
                if not peer.is_over() or frame_max > offered:
                    raise
                peer = peer.another()

    def open_channel(self, channel: int = 1, **tuning: Any) -> Self:
        """The handshake, if necessary, and one open channel."""
        if not self.assembler.frames:
            self.open_connection(**tuning)
        self.call("channel.open", channel=channel)
        return self

    def close(self) -> Arrival:
        """Close the connection according to the specification, including the socket; returns close-ok or another
        arrival.
        """
        self.send("connection.close", channel=0, reply_code=200, reply_text="done")
        answer = self.wait(lambda a: _is(a, ("connection.close-ok",), 0), self.patience_s)
        # The side that sent close ends the socket after close-ok (0-9-1 §2.2.4). A server may wait for this before it
        # releases the connection's resources.
        self.hang_up()
        return answer

    def leave(self, within_s: float) -> None:
        """Close what is still open, channels first, and wait a little for the answers; called after the verdict."""
        if not self.dialled or self.is_over() or not self.open_channels:
            return
        until_s = self.now() + within_s
        for channel in sorted(self.open_channels):
            self.send("channel.close", channel=channel, reply_code=200, reply_text="case over")
        while self.open_channels and self.now() < until_s:
            if isinstance(self.read(until_s), Ended | Garbled | Quiet):
                break
        if self.is_over():
            return
        self.send("connection.close", channel=0, reply_code=200, reply_text="case over")
        self.wait(lambda a: _is(a, ("connection.close-ok",), 0), within_s)

    # --- requests

    def call(self, name: str, channel: int = 1, **args: Any) -> MethodArrived:
        """Send a method and receive its reply; raises Unmet for any other arrival, or none.

        Raises OutOfReach for a channel above the agreed maximum, because a target may offer very few.
        """
        if name == "channel.open" and 0 < self.channel_max < channel:
            raise OutOfReach(f"channel-max is {self.channel_max}, the case needs channel {channel}")
        replies = self.dialect.methods[name].replies
        self.send(name, channel=channel, **args)
        return self.expect(*replies, channel=channel)

    def expect(self, *names: str, channel: int | None = 1, within_s: float | None = None) -> MethodArrived:
        """The next of these methods on that channel (None: any); raises Unmet if the wait ends otherwise."""
        return self.expected(self.arrival(*names, channel=channel, within_s=within_s), *names)

    def expected(self, arrival: Arrival, *names: str) -> MethodArrived:
        """An arrival that is one of these methods; raises Unmet for any other arrival."""
        if isinstance(arrival, MethodArrived) and arrival.name in names:
            return arrival
        raise Unmet(" or ".join(names), arrival.describe(self.dialect), arrival)

    def arrival(self, *names: str, channel: int | None = 1, within_s: float | None = None) -> Arrival:
        """Like ``expect``, but returns any other end of the wait: a close, the end, garbled octets, or Quiet."""
        wanted = (*names, "channel.close")
        return self.wait(lambda a: _is(a, wanted, channel), self.patience_s if within_s is None else within_s)

    def heartbeat(self, within_s: float) -> HeartbeatArrived | None:
        """A heartbeat frame of the target, or None if none arrives in time."""
        arrival = self.wait(lambda a: isinstance(a, HeartbeatArrived), within_s)
        return arrival if isinstance(arrival, HeartbeatArrived) else None

    # --- proof of silence

    def barrier(self, channel: int = 1, queue: str = "") -> None:
        """Prove that the target has processed everything sent so far on the channel, with round trips that it must
        answer.

        With ``queue``, two messages pass through that queue, so that its earlier deliveries arrive first. Afterwards,
        ``pending`` returns the arrivals. Raises Unmet.
        """
        # Servers may deliver from another thread than the one that answers: data in flight at the first answer
        # arrives before the second one.
        for _ in range(2):
            if queue:
                self.call("queue.declare", channel=channel, queue=queue, passive=True)
            else:
                self.call(
                    "exchange.declare", channel=channel, exchange="amq.direct", type="direct", passive=True
                )

    def pending(self, *names: str, channel: int | None = 1) -> list[MethodArrived]:
        """Arrivals of these methods on the channel that no wait has returned yet."""
        found = self.stashed(lambda a: _is(a, names, channel))
        return [a for a in found if isinstance(a, MethodArrived)]

    # --- reactions

    def reaction(self, channel: int = 1, *, barrier: bool = True, within_s: float | None = None) -> Reaction:
        """Watch the target's reaction to the last octets until it refuses, answers, or accepts them.

        It accepted them if it answers a later barrier on the same channel; without ``barrier`` (if the channel cannot
        carry one), if nothing arrived within the patience for endings.
        """
        patience = self.context.patience
        if barrier:
            # Most refusals arrive immediately. They are awaited without the barrier, which would be another violation
            # on a channel that the target is about to close.
            seen = self._watch(channel, patience.quiet_s)
            if not isinstance(seen[-1], Quiet):
                return self.reacted(seen)
            self.send("exchange.declare", channel=channel, exchange="amq.direct", type="direct", passive=True)
        seen = self._watch(channel, within_s or (patience.reply_s if barrier else patience.ending_s))
        self.sure(seen[-1])
        return self.reacted(seen)

    def _watch(self, channel: int, within_s: float) -> list[Arrival]:
        until_s = self.now() + within_s
        seen: list[Arrival] = []
        while True:
            arrival = self.read(until_s)
            # A heartbeat is not an answer (0-9-1 §4.2.7).
            if isinstance(arrival, HeartbeatArrived):
                continue
            seen.append(Quiet(within_s) if isinstance(arrival, Quiet) else arrival)
            if not isinstance(arrival, MethodArrived):
                if isinstance(arrival, Ended | Garbled | Quiet):
                    return seen
                continue
            if arrival.name == "connection.close":
                return seen
            if arrival.channel == channel and arrival.name not in ASYNCHRONOUS:
                return seen
            # Data that a server sends by itself, or on another channel, is not the reaction; a later wait may need
            # it.
            if arrival.channel != channel or arrival.name in ASYNCHRONOUS:
                self.keep(seen.pop())
            if self.now() >= until_s:
                seen.append(Quiet(within_s))
                return seen

    # --- entities and messages

    def queue(self, channel: int = 1, **args: Any) -> str:
        """Declare a queue for the case (exclusive by default); returns its name."""
        name = args.pop("queue", None) or self.name("q")
        args.setdefault("exclusive", not args.get("durable", False))
        self.will_clean("queue", name)
        self.call("queue.declare", channel=channel, queue=name, **args)
        return name

    def exchange(self, type: str = "direct", channel: int = 1, **args: Any) -> str:
        """Declare an exchange for the case; returns its name."""
        name = args.pop("exchange", None) or self.name("x")
        self.will_clean("exchange", name)
        self.call("exchange.declare", channel=channel, exchange=name, type=type, **args)
        return name

    def publish(
        self,
        routing_key: str = "",
        body: bytes = b"",
        *,
        exchange: str = "",
        channel: int = 1,
        properties: dict[str, Any] | None = None,
        chunk: int | None = None,
        **args: Any,
    ) -> None:
        """Publish one message, through the default exchange if only a queue's name is given.

        Waits while the target has turned contents off, or blocks publishers; raises Withheld.
        """
        self.await_flow(channel)
        method = self.method_frame(
            "basic.publish", channel, exchange=exchange, routing_key=routing_key, **args
        )
        self.send_octets(method + self.content_frames(body, channel, properties=properties, chunk=chunk))

    def get(self, queue: str, channel: int = 1, no_ack: bool = True) -> MethodArrived | None:
        """basic.get: the message, or None if the queue is empty."""
        got = self.call("basic.get", channel=channel, queue=queue, no_ack=no_ack)
        return got if got.name == "basic.get-ok" else None

    def drain(self, queue: str, channel: int = 1, at_most: int = 1000) -> list[MethodArrived]:
        """Everything in a queue by basic.get without acknowledgement."""
        got: list[MethodArrived] = []
        while len(got) < at_most and (message := self.get(queue, channel)) is not None:
            got.append(message)
        return got

    def consume(self, queue: str, channel: int = 1, **args: Any) -> str:
        """Start a consumer; returns its tag."""
        return str(self.call("basic.consume", channel=channel, queue=queue, **args)["consumer_tag"])

    def delivery(self, channel: int | None = 1, within_s: float | None = None) -> MethodArrived:
        """The next delivery; raises Unmet if none arrives."""
        return self.expect("basic.deliver", channel=channel, within_s=within_s)

    def deliveries(self, count: int, channel: int | None = 1) -> list[MethodArrived]:
        """The next deliveries, this many; raises Unmet if fewer arrive."""
        return [self.delivery(channel) for _ in range(count)]

    def capabilities(self) -> dict[str, Any]:
        """The ``capabilities`` in the target's properties; none if they are not a table."""
        value = self.server_properties.get("capabilities")
        if isinstance(value, Table):
            return value.plain()
        return dict(value) if isinstance(value, Mapping) else {}


def sasl_response(mechanism: str, login: Login, codec: Codec) -> bytes:
    """The initial SASL response of a login for a mechanism."""
    if mechanism == "PLAIN":
        return f"\0{login.user}\0{login.password}".encode()
    if mechanism == "AMQPLAIN":
        return codec.tables.encode({"LOGIN": login.user, "PASSWORD": login.password})[4:]
    return login.user.encode() if mechanism == "ANONYMOUS" else b""


def _is(arrival: Arrival, names: tuple[str, ...], channel: int | None) -> bool:
    if not isinstance(arrival, MethodArrived) or arrival.name not in names:
        return False
    return channel is None or arrival.channel == channel
