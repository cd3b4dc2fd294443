"""The reference agent of the 0-9 family: a client that follows the specification, with mistakes on request.

Knows: scenarios, what a client does about a server that breaks the specification. Must not know: who judges it.
Octets are read by the harness's own peer; this module adds what a careful client does and a peer of a case does not:
it checks every method, and ends the connection at one that is not allowed there.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.peer.context import CLIENT_PROPERTIES, Context
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, Violated
from amqpspec.wire.errors import Kind, WireError

_REPLY_S, _LONG_S = 5.0, 12.0
_HEADER_0_9_1 = b"AMQP\x00\x00\x09\x01"
_HANDSHAKE = ("connection.start", "connection.secure", "connection.tune", "connection.open-ok")
_FRAME_ERROR, _SYNTAX_ERROR, _COMMAND_INVALID, _CHANNEL_ERROR = 501, 502, 503, 504


class Session:
    """One connection of a careful client."""

    def __init__(self, order: Order, tell: Tell, dialect_id: str) -> None:
        self.order, self.tell, self.faulty = order, tell, order.faulty
        self.context: Mapping[str, Any] = order.context
        self.peer = Peer(Context(dialect_id, (), order.dial, order.login))
        self.heartbeat_s = 0
        self.consumers: set[tuple[int, str]] = set()
        self.published: dict[int, int] = {}
        self.unacked: dict[int, set[int]] = {}
        self.delivered: list[MethodArrived] = []
        self.is_open = False
        self._heard_s = self._said_s = 0.0

    # --- listening

    def next(self, *asked: str, within_s: float = _REPLY_S) -> MethodArrived | None:
        """The next method of the server, after the checks; None when time is up.

        It is one that was asked for, or one that may come unasked; any other raises Violated. Raises ScenarioError.
        """
        until_s = self.peer.now() + (_LONG_S if self.faulty("waits-through-silence") else within_s)
        while True:
            pause_s = self.heartbeat_s / 2 if self.heartbeat_s else within_s
            arrival = self.peer.read(min(until_s, self.peer.now() + pause_s))
            if not isinstance(arrival, Quiet):
                self._heard_s = self.peer.now()
            elif self.peer.now() >= until_s:
                return None
            self.keep_alive()
            self._look_at_frames()
            if isinstance(arrival, MethodArrived):
                self._look(arrival, asked)
                return arrival
            self._other(arrival)

    def keep_alive(self) -> None:
        """Send a heartbeat if one is due, and leave a server that has been silent for two intervals."""
        if not self.heartbeat_s:
            return
        now_s = self.peer.now()
        if not self.faulty("no-heartbeats") and now_s - self._said_s >= self.heartbeat_s / 2:
            self.peer.send_frame("heartbeat", b"", channel=1 if self.faulty("heartbeat-on-a-channel") else 0)
            self._said_s = now_s
        if now_s - self._heard_s > 2 * self.heartbeat_s and not self.faulty("waits-through-silence"):
            raise Violated(0, f"no octet for two intervals of {self.heartbeat_s} s")

    def _look_at_frames(self) -> None:
        """What only a mistake takes notice of: traces are discarded (9.1 draft, trace frames)."""
        types = self.peer.dialect.layout.types
        if self.faulty("refuses-traces") and any(
            f.type == types["trace"] for f in self.peer.assembler.frames
        ):
            raise Violated(_COMMAND_INVALID, "a trace")

    def _other(self, arrival: Arrival) -> None:
        if isinstance(arrival, Ended):
            if self.faulty("takes-the-end-for-success"):
                sys.exit(0)
            raise ScenarioError(f"the connection ended: {arrival.how}")
        if isinstance(arrival, HeaderArrived):
            if not self.faulty("any-version"):
                raise Violated(0, f"a protocol header: {arrival.header}")
            self._start_ok()
        if isinstance(arrival, Garbled):
            if self.faulty("crashes-on-what-it-cannot-read"):
                os.kill(os.getpid(), signal.SIGKILL)
            raise _of_octets(arrival.error)
        if isinstance(arrival, HeartbeatArrived):
            self._look_at_heartbeat(arrival)

    def _look_at_heartbeat(self, arrival: HeartbeatArrived) -> None:
        if (arrival.frame.channel or arrival.frame.payload) and not self.faulty("ignores-every-violation"):
            raise Violated(_FRAME_ERROR, "a heartbeat on a channel, or with a payload")
        if self.faulty("refuses-heartbeats"):
            raise Violated(_COMMAND_INVALID, "a heartbeat")

    def _look(self, arrival: MethodArrived, asked: tuple[str, ...]) -> None:
        """Check that a method is allowed at this point; answer it if it requires an answer."""
        name, channel = arrival.name, arrival.channel
        if name == "connection.close":
            if self.faulty("takes-the-end-for-success"):
                sys.exit(0)
            raise ScenarioError(f"the server closed the connection: {arrival['reply_code']}")
        if self.faulty("ignores-every-violation"):
            self.delivered += [arrival] if name == "basic.deliver" else []
            return
        if (channel == 0) is not (arrival.call.method.class_name == "connection"):
            raise Violated(_COMMAND_INVALID, f"{name} on channel {channel}")
        if channel and channel not in self.peer.open_channels and not name.startswith("channel."):
            raise Violated(_CHANNEL_ERROR, f"{name} on channel {channel}, which is not open")
        if any("\0" in value for value in arrival.call.args.values() if isinstance(value, str)):
            raise Violated(_SYNTAX_ERROR, f"a short string of {name} with a zero octet")
        if name not in asked and name not in _UNASKED:
            raise Violated(_COMMAND_INVALID, f"{name}, which was not requested")
        if name in _CHECKS:
            _CHECKS[name](self, arrival)

    # --- speaking

    def say(self, name: str, channel: int = 1, **args: Any) -> None:
        """Send a method."""
        self.peer.send(name, channel=channel, **args)
        self._said_s = self.peer.now()

    def call(self, name: str, channel: int = 1, **args: Any) -> MethodArrived:
        """Send a method and take its reply; what else arrives is checked."""
        self.say(name, channel, **args)
        return self.reply(name, *self.peer.dialect.methods[name].replies, channel=channel)

    def reply(self, asked: str, *names: str, channel: int) -> MethodArrived:
        """The reply to a method; another reply is a violation, none at all an error."""
        while (arrival := self.next(*names)) is not None:
            if arrival.name in names and arrival.channel == channel:
                return arrival
            if arrival.name == "channel.close" and arrival.channel == channel:
                raise ScenarioError(f"the server closed the channel: {arrival['reply_code']}")
        raise ScenarioError(f"expected an answer to {asked} within {_REPLY_S:.0f} s, actual: none")

    def refuse(self, violated: Violated) -> None:
        """End the connection: by a close with the code if one fits, else without another octet."""
        if not violated.code or not self.is_open or self.peer.is_over():
            return
        self.say("connection.close", 0, reply_code=violated.code, reply_text=str(violated)[:200])
        until_s = self.peer.now() + 1.0
        # What cannot be read is read away: a socket that ends with octets unread resets, and takes the close with it.
        while not isinstance(arrival := self.peer.read(until_s), Ended | Quiet):
            if isinstance(arrival, MethodArrived) and arrival.name == "connection.close-ok":
                return

    # --- the connection

    def open(self, channel: int = 1) -> None:
        """The handshake and a channel."""
        if self.faulty("frames-before-the-header"):
            self.peer.send_frame("heartbeat", b"", channel=0)
        self.peer.send_header(_HEADER_0_9_1 if self.faulty("header-of-0-9-1") else None)
        start = self.reply("the protocol header", "connection.start", channel=0)
        self._check_start(start)
        self._start_ok()
        tune = self.reply("start-ok", "connection.tune", channel=0)
        self._tune_ok(tune)
        self.call("connection.open", 0, virtual_host=self.order.login.vhost)
        self.is_open = True
        if channel:
            self.open_channel(self.peer.channel_max + 1 if self.faulty("channel-beyond-limit") else channel)

    def _check_start(self, start: MethodArrived) -> None:
        version = (start["version_major"], start["version_minor"])
        if version != self.peer.dialect.version and not self.faulty("any-version"):
            raise Violated(0, f"version {version[0]}-{version[1]}")
        names = [name for name, _ in start["server_properties"]]
        if self.faulty("refuses-duplicates") and len(set(names)) < len(names):
            raise Violated(0, "a property of the server twice")
        if b"PLAIN" not in start["mechanisms"].split() and not self.faulty("any-mechanism"):
            raise Violated(0, f"no mechanism in common: {start['mechanisms']!r}")

    def _start_ok(self) -> None:
        locales = {"locale-not-offered": "xx_XX", "locale-empty": "", "locale-list": "en_US en_GB"}
        locale = next((named for fault, named in locales.items() if self.faulty(fault)), "en_US")
        mechanism = "AMQPSPEC" if self.faulty("mechanism-not-offered") else "PLAIN"
        properties = {"product": "amqpspec agent"} if self.faulty("properties-missing") else None
        if self.faulty("property-named-badly"):
            properties = {**CLIENT_PROPERTIES, "1st": "a name that begins with a digit"}
        response = self.peer.credentials("PLAIN")
        self.peer.start_ok(mechanism=mechanism, locale=locale, properties=properties, response=response)

    def _tune_ok(self, tune: MethodArrived) -> None:
        frame_max = tune["frame_max"] * 2 if self.faulty("frame-max-beyond-offer") else tune["frame_max"]
        frame_max = 1024 if self.faulty("frame-max-below-minimum") else frame_max
        channel_max = 65_535 if self.faulty("channel-max-beyond-offer") else tune["channel_max"]
        self.heartbeat_s = int(self.context["heartbeat_s"])
        self.peer.agree(channel_max, frame_max)
        self._said_s = self._heard_s = self.peer.now()
        self.say(
            "connection.tune-ok", 0, channel_max=channel_max, frame_max=frame_max, heartbeat=self.heartbeat_s
        )
        if self.faulty("frames-beyond-the-limit"):
            self.peer.frame_max_octets = 2 * frame_max
        if self.faulty("frame-max-counts-payload"):
            self.peer.frame_max_octets = frame_max + self.peer.dialect.layout.overhead_octets
        if self.faulty("tune-ok-twice"):
            self.say("connection.tune-ok", 0, channel_max=channel_max, frame_max=frame_max, heartbeat=1)

    def open_channel(self, channel: int) -> None:
        """Open a channel."""
        self.call("channel.open", channel)
        self.unacked[channel] = set()
        if self.faulty("channel-opened-twice"):
            self.say("channel.open", channel)

    def close(self) -> None:
        """Close the channels and the connection, and wait for the answers."""
        if self.faulty("leaves-without-close"):
            return
        for channel in sorted(self.peer.open_channels):
            self.call("channel.close", channel, reply_code=200, reply_text="done")
            if self.faulty("works-on-a-closed-channel"):
                self.say("queue.declare", channel, queue="")
        channel = 1 if self.faulty("close-on-a-channel") else 0
        code = 7 if self.faulty("close-code-unknown") else 200
        self.say("connection.close", channel, reply_code=code, reply_text="done")
        if self.faulty("talks-behind-its-close"):
            self.say("channel.open", 9)
        self.reply("connection.close", "connection.close-ok", channel=0)

    # --- messages

    def publish(self, body: bytes, channel: int = 1, queue: str = "") -> None:
        """Publish a message to a queue, as the mistakes of the order want it."""
        size = len(body) - 1 if self.faulty("body-longer-than-announced") else None
        class_name = "tx" if self.faulty("content-of-another-class") else "basic"
        where = 0 if self.faulty("content-on-channel-zero") else channel
        octets = self.peer.method_frame(
            "basic.publish", channel, routing_key=queue or self.context["queue"]
        ) + self.peer.content_frames(
            body, where, class_name=class_name, body_size=size, weight=int(self.faulty("content-with-weight"))
        )
        self.peer.send_octets(octets)
        self._said_s = self.peer.now()

    def take(self, count: int) -> list[MethodArrived]:
        """This many deliveries."""
        while len(self.delivered) < count:
            if self.next() is None:
                raise ScenarioError(f"expected {count} deliveries, actual: {len(self.delivered)}")
        return self.delivered


def _of_octets(error: WireError) -> Violated:
    """What octets that cannot be read are refused with: a broken frame silently (0-9-1 §2.3.5)."""
    codes = {Kind.FRAMING: 0, Kind.UNKNOWN: _COMMAND_INVALID, Kind.CHANNEL: _CHANNEL_ERROR}
    return Violated(codes.get(error.kind, _FRAME_ERROR), str(error))


# --- what may come unasked, and whether it may come now


def _on_deliver(session: Session, arrival: MethodArrived) -> None:
    if arrival.children and session.faulty("leaves-at-structured-contents"):
        raise Violated(0, "a content within a content")
    if (arrival.channel, arrival["consumer_tag"]) not in session.consumers:
        raise Violated(_COMMAND_INVALID, f"a delivery to {arrival['consumer_tag']!r}, which is no consumer")
    tags = session.unacked[arrival.channel]
    if arrival["delivery_tag"] in tags or not arrival["delivery_tag"]:
        raise Violated(_COMMAND_INVALID, f"delivery tag {arrival['delivery_tag']} twice")
    tags.add(arrival["delivery_tag"])
    session.delivered.append(arrival)


def _on_confirm(session: Session, arrival: MethodArrived) -> None:
    tag, highest = arrival["delivery_tag"], session.published.get(arrival.channel, 0)
    if not 0 < tag <= highest:
        raise Violated(_COMMAND_INVALID, f"{arrival.name} of {tag}, published were {highest}")


def _on_flow(session: Session, arrival: MethodArrived) -> None:
    session.say("channel.flow-ok", arrival.channel, active=arrival["active"])


def _on_handshake(session: Session, arrival: MethodArrived) -> None:
    if session.is_open:
        raise Violated(_COMMAND_INVALID, f"{arrival.name} on an open connection")


_CHECKS: Mapping[str, Callable[[Session, MethodArrived], None]] = {
    "basic.deliver": _on_deliver,
    "basic.ack": _on_confirm,
    "basic.nack": _on_confirm,
    "channel.flow": _on_flow,
    **dict.fromkeys(_HANDSHAKE, _on_handshake),
}
_UNASKED = frozenset(
    {
        "basic.deliver",
        "basic.return",
        "basic.ack",
        "basic.nack",
        "basic.cancel",
        "channel.alert",
        "channel.flow",
        "channel.close",
    }
    | {"connection.blocked", "connection.unblocked"}
)
