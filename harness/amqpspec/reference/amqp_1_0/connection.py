"""One client connection of the 1.0 broker: its phase, its sessions, refusals at every scope, how it closes.

Knows: what may be sent in which phase, how a refusal is sent at its scope. Must not know: sockets
(``BrokerConnection`` does), the effects of performatives (sessions and links do).
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import Any

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.announcing import open_fields
from amqpspec.reference.amqp_1_0.carrier import Carrier
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.amqp_1_0.errors import error_of, fitting
from amqpspec.reference.amqp_1_0.idle import Idle
from amqpspec.reference.amqp_1_0.logins import FaultyLogin
from amqpspec.reference.amqp_1_0.phases import DEAF, HEADERS, Phase
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.amqp_1_0.transactions import Transactions
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.amqp_1_0 import HEADERS as PROTOCOL_HEADERS
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_1_0.values import Symbol

CLOSE_S, KEPT_S = 3.0, 30.0


class Connection(Carrier):
    """One connection; ``inbox`` adds its input. ``session`` and ``link`` are those of the current frame."""

    OPEN, MUTE, ENDED = Phase.OPEN, Phase.MUTE, Phase.ENDED
    GOING_DOWN, INTERNAL_ERROR = "amqp:connection:forced", "amqp:internal-error"
    NO_ROOM = "amqp:resource-limit-exceeded"
    phase: Phase
    login: FaultyLogin

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.splitter = wire.Splitter(self.refuse, self.faulty)
        self.phase = Phase.HEADER
        self.sessions: dict[int, Session] = {}
        self.max_frame_octets, self.channel_max = wire.MIN_MAX_FRAME_OCTETS, 0xFFFF
        self.user = core.users["guest"]
        self.vhost = core.vhosts["/"]
        self.container, self.last_id = "", 0
        self.sole: int | None = None
        self.opened = self.greeted = self.just_opened = False
        self.transactions = Transactions(self.faulty)
        self.signs = self.idle = Idle(self)
        self.session: Session | None = None
        self.link: LinkEndpoint | None = None

    # --- input

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(transport)
        self.login = FaultyLogin(self.core.users, self.over_tls, self.certificate_name, faulty=self.faulty)
        if self.faulty("own-header-first"):
            self.greet("amqp")
            self.core.flush()

    def eof_received(self) -> bool:
        """The client has ended its side without a close: report this error (1.0 §2.4.3), and end as well."""
        if self.phase is Phase.OPEN and not self.faulty("half-close-ends-the-socket-bare"):
            self._send_close(
                error_of(self.faulty, "amqp:connection:forced", "end of stream without close", "close")
            )
            self.flush()
        return super().eof_received()

    def take(self, data: bytes) -> None:
        """Handle every header and frame that is whole."""
        if self.phase is Phase.CLOSING and self.faulty("deaf-after-close"):
            self.after(None)
            return
        self.splitter.feed(data)
        self.just_opened = False
        try:
            while not self.silent and self.guarded(self._next):
                pass
        finally:
            if self.phase is Phase.OPEN and self.faulty("split-frames-lost"):
                self.splitter.clear()

    @abstractmethod
    def on_header(self) -> bool:
        """Handle a protocol header; False if more octets are needed."""

    @abstractmethod
    def on_frame(self, incoming: wire.Incoming) -> None:
        """Handle a frame."""

    def forget_frame(self) -> None:
        """Forget session and link of the last frame."""
        self.session = self.link = None

    def _next(self) -> bool:
        """Handle a header or a frame; False if more octets are needed."""
        if self.phase in HEADERS:
            return self.on_header()
        incoming = self.splitter.next()
        if incoming is None:
            return False
        if self._is_life(incoming):
            self.idle.received()
        self.on_frame(incoming)
        return True

    def _is_life(self, incoming: wire.Incoming) -> bool:
        """Whether a frame sets the idle timer back: every frame does."""
        if self.faulty("idle-timer-counts-from-open"):
            return False
        if incoming.body:
            return not self.faulty("only-empty-frames-are-life")
        return not self.faulty("empty-frames-are-no-life")

    def pump(self) -> None:
        """Credit, windows or the socket have changed: let every session continue."""
        for session in tuple(self.sessions.values()):
            session.pump()

    def forget(self, channel: int) -> None:
        """A session has ended in both directions: its channel is free."""
        self.sessions.pop(channel, None)

    # --- outgoing refusals

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault tolerates it, and then no clock ends it either."""
        self.core.refuse(rule, text)
        if self.phase is not Phase.OPEN:
            self.after(None)

    def refuse_silence(self) -> None:
        """No frame has arrived within twice the idle timeout that was announced (1.0 §2.4.5)."""
        if self.phase is Phase.OPEN:
            self.refuse("connections/idle-timeout/close", "no frame has come within the idle timeout")

    def send_refusal(self, refused: RefusedError) -> None:
        """Tell the client what was refused, at the scope where it belongs or the next wider one that is there.

        After the broker's own close nothing may be sent, so a second breach there is not answered (1.0 §2.4.3).
        """
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            if self.faulty("every-breach-closes-again"):
                self.write(wire.frame(wire.performative("close", {})))
        elif refusal is None:
            self.after(None)
            self.phase = Phase.MUTE
        elif refusal.scope is Scope.HEADER:
            self._refuse_header()
        elif refusal.scope is Scope.SOCKET:
            self.end_socket()
        else:
            self._send_error(refusal.scope, fitting(refused), refused.text)

    def _send_error(self, scope: Scope, condition: str, text: str) -> None:
        session, link = self.session, self.link
        if scope is Scope.LINK and link is not None and link.attached:
            link.fail(condition, text)
        elif scope in (Scope.LINK, Scope.SESSION) and session is not None and not session.ended:
            session.fail(condition, text)
        else:
            self.close(condition, text)

    def _refuse_header(self) -> None:
        header = PROTOCOL_HEADERS["amqp"]
        if self.faulty("unspoken-header-answered"):
            header = b"AMQP\x00\x02\x00\x00"
        if self.faulty("refused-header-answered-by-tls"):
            header = PROTOCOL_HEADERS["tls"]
        self.write(header)
        self.end_socket()

    # --- output

    def greet(self, name: str) -> None:
        """Send a protocol header, once for each layer."""
        if name == "amqp":
            if self.greeted:
                return
            self.greeted = True
        header = PROTOCOL_HEADERS[name]
        if self.faulty("own-header-without-revision"):
            header = header[:7] + b"\x01"
        if self.faulty("open-before-own-header") and name == "amqp":
            self.open()
        self.write(header)

    def send(self, channel: int, name: str, fields: dict[str, Any], payload: bytes = b"") -> int:
        """One performative; returns how many octets its frame has."""
        return self.write_frame(channel, wire.performative(name, fields) + payload)

    def write_frame(self, channel: int, body: bytes) -> int:
        """One frame with a body."""
        kind = 2 if body[2:3] == b"\x11" and self.faulty("begin-in-a-frame-of-type-two") else wire.AMQP
        octets = wire.frame(body, channel, kind)
        if self.faulty("frame-size-without-its-header") and body[2:3] == b"\x11":
            octets = (len(octets) - 8).to_bytes(4, "big") + octets[4:]
        if self.phase is Phase.CLOSING and not self.faulty("connection-works-on-after-close"):
            return 0
        self.write(octets)
        return len(octets)

    def flush(self) -> None:
        """Write the collected octets."""
        if self.sessions and self.faulty("answers-in-reverse"):
            self._out.reverse()
        super().flush()

    def sign_of_life(self) -> None:
        """Send an empty frame."""
        if self.phase is Phase.OPEN or (
            self.phase is Phase.CLOSING and self.faulty("empty-frames-after-close")
        ):
            if self.sessions and self.faulty("flows-for-life"):
                next(iter(self.sessions.values())).send_flow()
            else:
                channel = self._highest_channel() if self.faulty("empty-frames-on-any-channel") else 0
                self.write(wire.frame(channel=channel))
            self.core.flush()

    def _highest_channel(self) -> int:
        return max((session.outgoing for session in self.sessions.values()), default=0)

    # --- open

    def open(self, **properties: Any) -> None:
        """Send open, once. ``properties`` are added to its properties."""
        if self.opened:
            return
        self.opened = True
        if self.faulty("empty-frame-before-open"):
            self.write(wire.frame())
        if self.faulty("empty-frame-off-channel-zero-before-open"):
            self.write(wire.frame(channel=1))
        channel = 1 if self.faulty("open-on-channel-one") else 0
        if self.faulty("begin-before-open"):
            self.send(0, "begin", {"next_outgoing_id": 0, "incoming_window": 1, "outgoing_window": 1})
        fields = open_fields(self.faulty)
        if properties:
            fields["properties"] = {
                **fields["properties"],
                **{Symbol(key): v for key, v in properties.items()},
            }
        self.send(channel, "open", fields)

    # --- the end

    def close(self, condition: str, text: str, info: Any = None) -> None:
        """Refuse at the scope of the connection: say why, then wait for the other close.

        An open goes first if none is out: there is no close of what was never opened. Before the headers are
        exchanged there are no frames to say it with, and the socket ends bare (1.0 §2.4.3, §2.2). The partner gets a
        limited time to answer, so that one that never does keeps no socket.
        """
        if self.phase in (Phase.CLOSING, *DEAF):
            return
        if self.phase in HEADERS or self.phase is Phase.SASL:
            self.end_socket()
            return
        self.open()
        if not self.faulty("connection-works-on-after-close"):
            self.release()
        if not self.faulty("errors-end-the-socket-bare"):
            self._send_close(error_of(self.faulty, condition, text, "close", info))
        self.phase = Phase.CLOSING
        if self.faulty("no-waiting-for-the-other-close"):
            self.core.flush()
            self.abort()
        elif self.faulty("errors-end-the-socket-bare"):
            self.end_socket()
        elif not self.faulty("waits-for-close-for-ever"):
            self.after(CLOSE_S, self.end_socket)

    def _send_close(self, error: dict[str, Any] | None) -> None:
        channel = self._highest_channel() + 1 if self.faulty("close-on-highest-channel") else 0
        self.send(channel, "close", {"error": error})
        if self.faulty("empty-frame-behind-close"):
            self.write(wire.frame())

    def closed_by_peer(self) -> None:
        """The other close has arrived: answer it unless ours is out, and end."""
        if self.phase is Phase.OPEN:
            self.release()
            if not self.faulty("close-not-answered"):
                self._send_close(None)
            if self.faulty("frame-behind-close"):
                self.send(0, "end", {})
        elif self.faulty("close-sent-twice"):
            self.write(wire.frame(wire.performative("close", {})))
        if self.faulty("socket-kept-after-close"):
            self.flush()
            self.phase = Phase.MUTE
            self.after(KEPT_S, self.end_socket)
        else:
            self.end_socket()

    def release(self) -> None:
        """Give back everything that this connection holds."""
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            session.release()
        if self.phase is not Phase.HEADER:
            self.nodes.connection_ended(self)


FAULTS = fault_table("""
own-header-first: the broker sends its header without waiting for the client's [version/server-may-wait]
unspoken-header-answered: a header that is refused is answered by a version that is not spoken
    [version/highest-not-above version/highest-otherwise version/unparseable version/unsupported version/example-minor
    version/example-http version/protocol-id-is-no-version]
refused-header-answered-by-tls: a header that is refused is answered by the one of TLS
    [version/protocol-id/choice version/protocol-id/unacceptable version/example-minor]
own-header-without-revision: the broker's own header names another revision
    [version/supported version/header-layout sasl/header]
open-before-own-header: the broker sends open before its header [version/header-first]
frame-size-without-its-header: the size of begin frames does not count the frame header [framing/size]
begin-in-a-frame-of-type-two: the broker's begin is in a frame of another type [framing/type]
empty-frames-are-no-life: empty frames do not stop the idle timer
    [framing/empty-frame connections/idle-timeout/measure connections/idle-timeout/empty-frame]
begin-before-open: the broker sends a begin before its open
    [connections/opening/open-first performatives/open/first-frame connections/states/legal-frames]
open-on-channel-one: the broker sends open on channel 1
    [connections/opening/channel-zero connections/opening/limits-before]
answers-in-reverse: what gathers for the socket is written last frame first [model/channels-order]
split-frames-lost: a frame that arrives in parts is discarded [connections/pipelined/same-treatment]
close-not-answered: a close is answered only by closing the stream
    [performatives/close/written connections/closing/close-frame connections/closing/any-channel]
close-on-highest-channel: the broker sends close on an unused channel
    [connections/closing/channel-zero connections/closing/pipelined-with-open]
close-sent-twice: a close that crosses the broker's is answered by another one
    [connections/simultaneous-close connections/states/end connections/closing/last-thing]
errors-end-the-socket-bare: where a connection is in error, the stream ends without close
    [connections/closing/close-frame]
half-close-ends-the-socket-bare: where the partner ends its stream, the broker does so without close
    [connections/closing/close-frame]
connection-works-on-after-close: after its close for an error, the broker continues to work
    [connections/states/discarding connections/states/close-sent connections/closing/last-thing
    connections/simultaneous-close connections/closing/read-on]
frame-behind-close: the broker sends an end after its close [connections/closing/last-thing connections/states/end
    connections/states/close-sent performatives/close/nothing-after]
empty-frame-behind-close: an empty frame follows the broker's close
    [performatives/close/nothing-after connections/closing/last-thing connections/states/end
    connections/empty-frame/not-after-close connections/states/close-sent]
empty-frames-after-close: the broker sends empty frames while it waits for the other close
    [connections/empty-frame/not-after-close connections/states/close-sent connections/states/discarding]
every-breach-closes-again: a violation after the broker's close is answered with another close
    [connections/states/discarding]
deaf-after-close: after its close for an error, the broker does not look for the other one
    [connections/closing/read-on connections/simultaneous-close connections/states/discarding]
no-waiting-for-the-other-close: after its close for an error, the broker resets the connection
    [connections/closing/read-on connections/states/discarding]
waits-for-close-for-ever: a connection whose client does not answer the broker's close is never closed
    [connections/closing/timeout connections/idle-timeout/unresponsive]
socket-kept-after-close: after both closes, the stream does not end
    [connections/states/end performatives/close/written connections/simultaneous-close]
idle-timer-counts-from-open: the idle timer is never set back
    [connections/idle-timeout/measure connections/idle-timeout/flow framing/empty-frame]
only-empty-frames-are-life: flows do not stop the idle timer
    [connections/idle-timeout/flow connections/idle-timeout/measure]
flows-for-life: where a session is up, the broker sends flows in place of empty frames
    [connections/idle-timeout/flow connections/idle-timeout/empty-frame framing/empty-frame]
empty-frames-on-any-channel: empty frames go out on the highest channel in use
    [connections/empty-frame/channel-zero connections/empty-frame/before-open-received]
empty-frame-before-open: the broker sends an empty frame before its open
    [connections/empty-frame/after-open connections/empty-frame/before-open-received connections/opening/open-first
    performatives/open/first-frame connections/states/legal-frames]
empty-frame-off-channel-zero-before-open: the broker sends an empty frame on channel 1 before its open
    [connections/empty-frame/before-open-received]
""")
