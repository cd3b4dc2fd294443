"""One client connection of a broker of the 0-9 family: its phase, its channels, how a refusal is sent.

Knows: phases from the protocol header to the end of the socket, channel numbers, which close belongs to which scope.
Must not know: sockets (``BrokerConnection`` does), what any method does (the handlers do).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from amqpspec.reference import leniency
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.reference.methods.channel import Carrier, Channel
from amqpspec.reference.methods.contents import Children
from amqpspec.reference.methods.frames_out import FramesOut
from amqpspec.reference.methods.heartbeats import Heartbeats
from amqpspec.reference.model import Window
from amqpspec.reference.phases import BEFORE_OPEN, Phase
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Refusal, Scope

CLOSE_OK_S, CLOSE_OK_INSIDE_FRAME_S = 5.0, 0.5
_RULED_IN_HANDSHAKES = ("connection/open", "constant/invalid-path", "amq_wlp_frame_01", "amq_wlp_frame_02")
"""Rules that hold before open, too; there a dialect that pauses has one rule for all others."""


class Connection(Carrier):
    """One connection; ``inbox`` adds its input."""

    OPEN, MUTE, ENDED = Phase.OPEN, Phase.MUTE, Phase.ENDED
    GOING_DOWN, INTERNAL_ERROR, NO_ROOM = 320, 541, 506
    phase: Phase

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.codec = wire.served_codec(core.dialect_id)
        self.framing = wire.framing_of(core.dialect_id)
        self._frames = FramesOut(self.codec, self.framing, core.on)
        self.pause_s = self.codec.dialect.handshake_pause_s
        first_limit = 1024 if self.faulty("first-frames-must-be-small") else self.framing.min_octets
        self.splitter = wire.Splitter(self.refuse, self.framing, first_limit, self.faulty)
        self.splitter.forgives = self._forgives_octets
        self.phase = Phase.HEADER
        self.failing_method = (0, 0)
        """Class and method of the current frame, which a close names as the cause; zeros if none caused it."""
        self._number = 0
        """The channel of the current frame."""
        self.channels: dict[int, Channel] = {}
        self.channel_max, self.frame_max_octets = 0, self.framing.min_octets
        self.window = Window(core.on)
        self.capabilities: Mapping[str, Any] = {}
        self.mechanism, self.claimed_name = "", b""
        self._unread: list[bytes] = []
        self.postponed: list[wire.Incoming] = []
        self.unconfirmed: dict[int, Channel] = {}
        self.signs = self.heartbeats = Heartbeats(self)

    # --- input

    @abstractmethod
    def on_header(self, data: bytes) -> bool:
        """Handle octets of the protocol header and what follows; whether it is whole."""

    @abstractmethod
    def on_frame(self, incoming: wire.Incoming) -> None:
        """Handle a frame."""

    def caught_up(self) -> None:
        """The client has caught up: continue, and with the channel first that came last before."""
        if self.faulty("nothing-more-after-a-full-socket"):
            return
        self._next_turn()
        super().caught_up()
        postponed, self.postponed = self.postponed, []
        for incoming in postponed:
            self.on_frame(incoming)

    def _next_turn(self) -> None:
        """Who came first this time comes last the next time, so that no busy channel starves the others (§4.3)."""
        if self.channels:
            first = next(iter(self.channels))
            self.channels[first] = self.channels.pop(first)

    def data_received(self, data: bytes) -> None:
        """Octets have arrived; any of them are a sign of life (0-9-1 §4.2.7), whatever happens to them."""
        if not self.faulty("only-heartbeats-are-life") or self.framing.kind_of(data) == "heartbeat":
            self.heartbeats.received()
        super().data_received(data)

    def take(self, data: bytes) -> None:
        """Handle the protocol header, then every frame that is whole."""
        if self.congested and self.faulty("deaf-while-sending"):
            self._unread.append(data)
            return
        data = b"".join([*self._unread, data])
        self._unread.clear()
        if self.phase is Phase.HEADER:
            self.guarded(lambda: self.on_header(data))
        else:
            self.splitter.feed(data)
        while not (self.silent or self.phase is Phase.HEADER) and self.guarded(self._next_frame):
            pass

    def forget_frame(self) -> None:
        """Forget channel and method of the last frame."""
        self._number, self.failing_method = 0, (0, 0)

    def _next_frame(self) -> bool:
        incoming = self.splitter.next()
        if incoming is None:
            return False
        self._number = incoming.channel
        self.on_frame(incoming)
        if not incoming.ended and self.faulty("frame-decoded-before-its-end"):
            self.refuse("amq_wlp_frame_02", "frame without its end octet")
        return True

    def _forgives_octets(self, beyond: int) -> bool:
        """Many clients treat frame-max as the size of a payload; before tune there was no limit to misunderstand."""
        return (
            self.phase is Phase.OPEN
            and beyond <= self.framing.overhead_octets
            and self.forgives(leniency.FRAME_BEYOND_LIMIT)
        )

    # --- refusals out

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault tolerates it."""
        if rule == "amq_wlp_frame_03" and self.faulty("dies-of-oversized-frames"):
            self.core.crash_soon()
        if rule == "connection/tune/channel-max" and self.faulty("dies-of-channels-above-the-limit"):
            self.core.crash_soon()
        handshake = self.phase in BEFORE_OPEN and self.pause_s > 0
        if handshake and not rule.startswith(_RULED_IN_HANDSHAKES):
            rule = "connection/grammar"
        self.core.refuse(rule, text)
        if handshake:  # a fault tolerated it, so no clock ends it either
            self.after(None)

    def refuse_silence(self) -> None:
        """Nothing has arrived for two intervals: the peer ends the connection (0-9-1 §4.2.7)."""
        self.refuse("wire/heartbeat/missed", "no sign of life")

    def send_refusal(self, refused: RefusedError) -> None:
        """Tell the client what was refused, at the scope where it belongs.

        While the broker waits for close-ok, a second refusal has no close left to say it with. Before open-ok, an error
        ends the socket without another octet (0-9-1 §2.2.4): no handshake of close is agreed on yet.
        """
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            self.end_socket()
        elif refusal is None:
            self.after(None)
            self.phase = Phase.MUTE
        elif refusal.scope is Scope.HEADER:
            self._answer_header(self.codec.dialect.protocol_header)
        elif refusal.scope is Scope.SOCKET or (self.phase in BEFORE_OPEN and _is_plain(refused)):
            self._end_in_silence()
        elif refusal.scope is Scope.CHANNEL and self._number:
            self._close_channel(_code(refusal), refused.text)
        else:
            self.close(_code(refusal), refused.text)

    def _close_channel(self, code: int, text: str) -> None:
        """Refuse at the scope of the channel, which may be one that is not open."""
        if self.faulty("channel-exception-ends-connection"):
            self.close(code, text)
        elif self._number not in self.channels:
            self.send(self._number, "channel.close", **self.reason(code, text))
        elif self.faulty("channel-exception-closes-every-channel"):
            for channel in self.channels.values():
                channel.close(code, text)
        else:
            self.channels[self._number].close(code, text)

    def _answer_header(self, header: bytes) -> None:
        """A header of an unsupported version is answered with a supported one, and the socket ends (0-9-1 §4.2.2)."""
        if self.faulty("http-answered-in-http"):
            header = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        self.write(header[:-1] + b"\x63" if self.faulty("unspoken-header-answered") else header)
        if self.faulty("socket-kept-after-header"):
            self.phase = Phase.MUTE
            self.after(None)
            self.flush()
        else:
            self.end_socket()

    def _end_in_silence(self) -> None:
        """End at once; a handshake that went wrong is kept waiting first, where the dialect wants that."""
        pause_s = self.pause_s if self.core.handshake_pause_s is None else self.core.handshake_pause_s
        if self.phase in BEFORE_OPEN and pause_s and not self.faulty("hostile-client-dropped-at-once"):
            self.phase = Phase.MUTE
            self.after(pause_s, self.end_socket)
        else:
            self.end_socket()

    def reason(self, code: int, text: str) -> dict[str, Any]:
        """The arguments of a close method."""
        return self._frames.reason(self.failing_method, code, text)

    def close(self, code: int, text: str) -> None:
        """Refuse at the scope of the connection: say why, then wait for close-ok.

        A client in the middle of a frame cannot send close-ok before the rest of it, so it gets less time.
        """
        if not self.faulty("connection-works-on-after-close"):
            self.release()
        self.send(0, "connection.close", **self.reason(code, text))
        self.phase = Phase.CLOSING
        self.after(CLOSE_OK_INSIDE_FRAME_S if self.splitter.inside else CLOSE_OK_S, self.end_socket)

    # --- output

    def send(self, number: int, name: str, /, **args: Any) -> None:
        """One method."""
        self._confirm()
        self.write(self._damaged(self._frames.method(number, name, args)))

    def send_content(
        self, number: int, name: str, header: bytes, body: bytes, children: Children = (), /, **args: Any
    ) -> None:
        """One method with a content."""
        self._confirm()
        limit = self.frame_max_octets
        frames = self._frames.content(number, name, args, header, body, children, limit)
        self.write(*map(self._damaged, frames))

    def _damaged(self, octets: bytes) -> bytes:
        if self.faulty("frame-end-wrong") and self.framing.kind_of(octets) == "body":
            return octets[:-1] + b"\x00"
        return octets

    def flush(self) -> None:
        """Write what has gathered, confirms of what was published among it."""
        self._confirm()
        super().flush()

    def _confirm(self) -> None:
        """Confirms are collected until the next output to the client, so that one acknowledges many; they precede
        that output.
        """
        while self.unconfirmed:
            self.unconfirmed.popitem()[1].confirm()

    def sign_of_life(self) -> None:
        """Send a sign of life."""
        payload = b"alive" if self.faulty("heartbeats-with-a-payload") else b""
        self.write(self.framing.frame("heartbeat", self.faulty("heartbeats-on-channel-one"), payload))
        self.core.flush()

    # --- channels

    def pump(self) -> None:
        """Windows or flow have changed: let every queue that this client consumes from look again."""
        for channel in tuple(self.channels.values()):
            channel.pump()

    def is_busy_beside(self, number: int) -> bool:
        """Whether another channel has more to deliver."""
        others = (channel for other, channel in self.channels.items() if number and other != number)
        return any(consumer.queue.ready_count for other in others for consumer in other.consumers.values())

    def release(self) -> None:
        """Give back everything that this connection holds.

        Every channel stops taking messages before the first one gives its own back: else they would go to the next.
        """
        channels, self.channels = self.channels, {}
        for channel in channels.values():
            channel.closing = True
        if self.faulty("unacked-given-back-by-one-channel"):
            channels = dict(list(channels.items())[:1])
        for channel in channels.values():
            channel.release()
        if self.vhost is not None:
            self.vhost.release_owner(self)

    # --- what an operator can do

    def ask_flow(self, active: bool) -> None:
        """Ask the client to pause or resume its contents on every channel."""
        for channel in self.channels.values():
            if not channel.closing:
                channel.flow_asked.append(active)
                channel.send("channel.flow", active=active)

    def block(self, reason: str) -> None:
        """Tell the client that publishing is blocked, if it can hear that."""
        if self._hears_of_blocking:
            self.send(0, "connection.blocked", reason=reason)

    def unblock(self) -> None:
        """Tell the client that publishing is possible again, if it can hear that."""
        if self._hears_of_blocking:
            self.send(0, "connection.unblocked")

    @property
    def _hears_of_blocking(self) -> bool:
        return self.phase is Phase.OPEN and self.capabilities.get("connection.blocked") is True


def _is_plain(refused: RefusedError) -> bool:
    return not refused.rule.startswith(("connection/", "constant/invalid-path"))


def _code(refusal: Refusal) -> int:
    return refusal.code if isinstance(refusal.code, int) else 0


FAULTS = fault_table("""
dies-of-channels-above-the-limit: after the refusal of a channel above the limit, the broker is gone for every client
    [connection/tune/channel-max]
dies-of-oversized-frames: after the refusal of a frame that is too large, the broker is gone for every client
    [amq_wlp_frame_03 connection/tune-ok/frame-max/all-frames]
frame-end-wrong: body frames end in another octet [wire/frame/end-octet-sent]
only-heartbeats-are-life: a client that sends other octets than heartbeats is disconnected as silent
    [wire/heartbeat/any-octet]
channel-exception-ends-connection: what should close a channel closes the connection [wire/errors/channel-scope]
first-frames-must-be-small: before tune, frames of more than 1,024 octets are refused
    [connection/tune/frame-max/minimum connection/tune-ok/frame-max/minimum]
unspoken-header-answered: an unknown header is answered by one that the server does not speak either
    [amq_wlp_header_04 connection/start/protocol-name]
connection-works-on-after-close: methods are executed after connection.close was sent
    [connection/close/stability-discard]
unacked-given-back-by-one-channel: when a connection ends, only one channel returns its unacknowledged messages
    [basic/explicit-ack]
nothing-more-after-a-full-socket: deliveries stop permanently after a socket was full [basic/consume]
deaf-while-sending: nothing is read while what is sent is stuck [basic/reject/while-sending basic/nack/while-sending]
socket-kept-after-header: the socket stays open after a header was rejected
http-answered-in-http: whatever is not understood gets an answer of HTTP
heartbeats-with-a-payload: heartbeats have something in them [wire/heartbeat/form]
heartbeats-on-channel-one: heartbeats are sent on channel 1 [wire/heartbeat/form]
channel-exception-closes-every-channel: what should close a channel closes all of them
hostile-client-dropped-at-once: a handshake that went wrong ends without a pause
""")
