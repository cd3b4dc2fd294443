"""One client connection of the 1.0 broker: its socket, its phase, the way out, refusals at every scope, the end.

Knows: what may still be written in which phase, how a refusal is said at the scope where it belongs, how to end so
that the peer can read everything that was said.
Must not know: what any performative does; sessions and links do.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.announcing import open_fields
from amqpspec.reference.amqp_1_0.errors import error_of, fitting
from amqpspec.reference.amqp_1_0.idle import Idle
from amqpspec.reference.amqp_1_0.inbox import Inbox
from amqpspec.reference.amqp_1_0.nodes import Nodes, nodes_of
from amqpspec.reference.amqp_1_0.phases import DEAF, HEADERS, Phase
from amqpspec.reference.amqp_1_0.sasl import Login
from amqpspec.reference.core import Core
from amqpspec.reference.model import User, VirtualHost
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.amqp_1_0 import HEADERS as PROTOCOL_HEADERS
from amqpspec.spec.model import Scope

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.session import Session

HANDSHAKE_S, LINGER_S, CLOSE_S = 10.0, 2.0, 3.0
_WRITE_AT_OCTETS = 1 << 20
_LOG = logging.getLogger(__name__)


class Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, core: Core) -> None:
        self.core, self.on, self.faulty = core, core.on, core.faulty
        self.splitter = wire.Splitter(self.refuse, self.faulty)
        self.phase = Phase.HEADER
        self.sessions: dict[int, Session] = {}
        self.max_frame_octets, self.channel_max = wire.MIN_MAX_FRAME_OCTETS, 0xFFFF
        self.user: User | None = core.users["guest"]
        self.vhost: VirtualHost = core.vhosts["/"]
        self.container, self.last_id = "", 0
        self.congested = False
        self.opened = self.greeted = self.just_opened = False
        self.idle = Idle(self)
        self.transport: asyncio.Transport
        self.login: Login
        self._out: list[bytes] = []
        self._out_octets = 0
        self._inbox = Inbox(self)
        self._timer: asyncio.TimerHandle | None = None

    # --- the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = cast(asyncio.Transport, transport)
        self.login = Login(self.core.users, self.transport)
        self.core.links.add(self)
        self._after(HANDSHAKE_S, self.end)
        if self.faulty("own-header-first"):
            self.greet("amqp")
            self.core.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.phase = Phase.ENDED
        self._after(None)
        self.idle.stop()
        self._out.clear()
        self.core.with_output.discard(self)
        self.core.links.discard(self)
        self.release()
        self.core.flush()

    def eof_received(self) -> bool:
        """The client has ended its side: say so, and end as well."""
        if self.phase is Phase.OPEN and not self.faulty("half-close-ends-the-socket-bare"):
            self._send_close(
                error_of(self.faulty, "amqp:connection:forced", "end of stream without close", "close")
            )
            self.flush()
        return False

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self.congested = True

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.congested = False
        asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        for session in tuple(self.sessions.values()):
            session.pump()
        self.core.flush()

    def data_received(self, data: bytes) -> None:
        """Octets have come."""
        if self.phase in DEAF:
            return
        if self.phase is Phase.CLOSING and self.faulty("deaf-after-close"):
            return
        self.splitter.feed(data)
        self.just_opened = False
        try:
            while self.phase not in DEAF and self._next():
                pass
        finally:
            if self.phase is Phase.OPEN and self.faulty("split-frames-lost"):
                self.splitter.clear()
            self.core.flush()

    def _next(self) -> bool:
        """Handle a header or a frame; False where more octets are needed."""
        return self._guarded(self._inbox.on_header if self.phase in HEADERS else self._next_frame)

    def _next_frame(self) -> bool:
        incoming = self.splitter.next()
        if incoming is None:
            return False
        if self._is_life(incoming):
            self.idle.heard()
        self._inbox.on_frame(incoming)
        return True

    def _is_life(self, incoming: wire.Incoming) -> bool:
        """Whether a frame sets the idle timer back: every frame does."""
        if self.faulty("idle-timer-counts-from-open"):
            return False
        if incoming.body:
            return not self.faulty("only-empty-frames-are-life")
        return not self.faulty("empty-frames-are-no-life")

    def _guarded(self, step: Any) -> bool:
        self._inbox.nowhere()
        try:
            return bool(step())
        except RefusedError as refused:
            self.say(refused)
        except Exception:
            _LOG.exception("internal error of a reference broker")
            self.close("amqp:internal-error", "internal error")
        return True

    @property
    def nodes(self) -> Nodes:
        """The nodes and termini of the virtual host."""
        return nodes_of(self.vhost)

    # --- refusals out

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault lets it pass."""
        self.core.refuse(rule, text)

    def say(self, refused: RefusedError) -> None:
        """Tell the client what was refused, at the scope where it belongs or the next wider one that is there."""
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            if self.faulty("every-breach-closes-again"):
                self._write(wire.frame(wire.performative("close", {})))
            return
        if refusal is None:
            self.phase = Phase.MUTE
        elif refusal.scope is Scope.HEADER:
            self._refuse_header()
        elif refusal.scope is Scope.SOCKET:
            self.end()
        else:
            self._say_error(refusal.scope, fitting(refused), refused.text)

    def _say_error(self, scope: Scope, condition: str, text: str) -> None:
        session, link = self._inbox.session, self._inbox.link
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
        self._write(header)
        self.end()

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
        self._write(header)

    def send_sasl(self, name: str, /, **fields: Any) -> None:
        """One frame of the login."""
        self._write(wire.frame(wire.performative(name, fields), 0, wire.SASL))

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
        self._write(octets)
        return len(octets)

    def _write(self, octets: bytes) -> None:
        if self.phase in DEAF:
            return
        self._out.append(octets)
        self._out_octets += len(octets)
        self.core.with_output.add(self)
        if self._out_octets > _WRITE_AT_OCTETS:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        if self._out:
            if not self.transport.is_closing():
                if self.sessions and self.faulty("answers-in-reverse"):
                    self._out.reverse()
                self.transport.write(b"".join(self._out))
            self._out.clear()
            self._out_octets = 0
            self.idle.said()

    def sign_of_life(self) -> None:
        """Send an empty frame."""
        if self.phase is Phase.OPEN or (
            self.phase is Phase.CLOSING and self.faulty("empty-frames-after-close")
        ):
            if self.sessions and self.faulty("flows-for-life"):
                next(iter(self.sessions.values())).send_flow()
            else:
                channel = self._highest_channel() if self.faulty("empty-frames-on-any-channel") else 0
                self._write(wire.empty_frame(channel))
            self.core.flush()

    def _highest_channel(self) -> int:
        return max((session.outgoing for session in self.sessions.values()), default=0)

    # --- open

    def open(self) -> None:
        """Say who the broker is and what it takes; once."""
        if self.opened:
            return
        self.opened = True
        if self.faulty("empty-frame-before-open"):
            self._write(wire.EMPTY)
        if self.faulty("empty-frame-off-channel-zero-before-open"):
            self._write(wire.empty_frame(1))
        channel = 1 if self.faulty("open-on-channel-one") else 0
        if self.faulty("begin-before-open"):
            self.send(0, "begin", {"next_outgoing_id": 0, "incoming_window": 1, "outgoing_window": 1})
        self.send(channel, "open", open_fields(self.faulty))

    # --- the end

    def ready(self) -> None:
        """Both opens are out."""
        self._after(None)

    def close(self, condition: str, text: str) -> None:
        """Refuse at the scope of the connection: say why, then wait for the other close."""
        if self.phase in (Phase.CLOSING, *DEAF):
            return
        if self.phase in HEADERS or self.phase is Phase.SASL:
            self.end()
            return
        self.open()
        if not self.faulty("connection-works-on-after-close"):
            self.release()
        if not self.faulty("errors-end-the-socket-bare"):
            self._send_close(error_of(self.faulty, condition, text, "close"))
        self.phase = Phase.CLOSING
        if self.faulty("no-waiting-for-the-other-close"):
            self.core.flush()
            self.abort()
        elif self.faulty("errors-end-the-socket-bare"):
            self.end()
        elif not self.faulty("waits-for-close-for-ever"):
            self._after(CLOSE_S, self.end)

    def _send_close(self, error: dict[str, Any] | None) -> None:
        channel = self._highest_channel() + 1 if self.faulty("close-on-highest-channel") else 0
        self.send(channel, "close", {"error": error})
        if self.faulty("empty-frame-behind-close"):
            self._write(wire.EMPTY)

    def closed_by_peer(self) -> None:
        """The other close has come: answer it unless ours is out, and end."""
        if self.phase is Phase.OPEN:
            self.release()
            if not self.faulty("close-not-answered"):
                self._send_close(None)
            if self.faulty("frame-behind-close"):
                self.send(0, "end", {})
        elif self.faulty("close-sent-twice"):
            self._write(wire.frame(wire.performative("close", {})))
        if self.faulty("socket-kept-after-close"):
            self.flush()
            self.phase = Phase.MUTE
            self._after(30.0, self.end)
        else:
            self.end()

    def release(self) -> None:
        """Give back everything that this connection holds."""
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            session.release()
        if self.phase is not Phase.HEADER:
            self.nodes.connection_ended(self)

    def end(self) -> None:
        """End the socket: what was said can still be read, nothing more is said."""
        if self.phase is Phase.ENDED:
            return
        self.release()
        self.flush()
        self.phase = Phase.ENDED
        self.idle.stop()
        self.core.with_output.discard(self)
        if self.transport.can_write_eof():
            with suppress(OSError):
                self.transport.write_eof()
            self._after(LINGER_S, self.transport.abort)
        else:
            self.transport.close()

    def shut(self, text: str) -> None:
        """The broker goes down: say so, and end."""
        if self.phase is Phase.OPEN:
            self.close("amqp:connection:forced", text)
        self.end()

    def abort(self) -> None:
        """End the socket at once."""
        self.transport.abort()

    def missed(self) -> None:
        """Nothing has come for too long."""
        if self.phase is Phase.OPEN:
            self._inbox.nowhere()
            try:
                self.refuse("connections/idle-timeout/close", "no frame has come within the idle timeout")
            except RefusedError as refused:
                self.say(refused)
            self.core.flush()

    # --- what an operator can do: nothing of it exists here

    def ask_flow(self, active: bool) -> None:
        """Nobody is asked to pause."""

    def block(self, reason: str) -> None:
        """Nobody is told."""

    def unblock(self) -> None:
        """Nobody is told."""

    # --- time

    def _after(self, delay_s: float | None, action: Any = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if delay_s is not None:
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._run, action)

    def _run(self, action: Any) -> None:
        self._timer = None
        action()
        self.core.flush()
