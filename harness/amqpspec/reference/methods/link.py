"""One client connection of a broker of the 0-9 family: its socket, its phase, the way in and the way out.

Knows: phases from the protocol header to the end of the socket, channel numbers, how a refusal is said, heartbeats,
how to end so that the peer can read everything that was said.
Must not know: what any method does; the handlers do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from amqpspec.reference.core import Core
from amqpspec.reference.methods import frames_out, wire
from amqpspec.reference.methods.heartbeats import Heartbeats
from amqpspec.reference.methods.inbox import Inbox
from amqpspec.reference.methods.phases import BEFORE_OPEN, Phase
from amqpspec.reference.methods.session import Session
from amqpspec.reference.methods.ways import ways_of
from amqpspec.reference.model import User, VirtualHost, Window
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Refusal, Scope

if TYPE_CHECKING:
    from amqpspec.reference.methods.contents import Children

HANDSHAKE_S, LINGER_S, CLOSE_OK_S, CLOSE_OK_INSIDE_FRAME_S = 10.0, 2.0, 5.0, 0.5
_WRITE_AT_OCTETS = 1 << 20
_RULED_IN_HANDSHAKES = ("connection/open", "constant/invalid-path", "amq_wlp_frame_01", "amq_wlp_frame_02")
"""Rules that hold before open, too; there a dialect that pauses has one rule for all others."""

_LOG = logging.getLogger(__name__)


class Link(asyncio.Protocol):
    """One connection."""

    def __init__(self, core: Core) -> None:
        self.core, self.on, self.faulty = core, core.on, core.faulty
        self.codec = wire.served_codec(core.dialect_id)
        self.ways, self.framing = ways_of(core.dialect_id), wire.framing_of(core.dialect_id)
        first_limit = 1024 if self.faulty("first-frames-must-be-small") else self.framing.min_octets
        self.splitter = wire.Splitter(self.refuse, self.framing, first_limit, self.faulty)
        self.phase = Phase.HEADER
        self.failing = (0, 0)
        self.sessions: dict[int, Session] = {}
        self.channel_max, self.frame_max_octets = 0, self.framing.min_octets
        self.window = Window(core.on)
        self.capabilities: Mapping[str, Any] = {}
        self.user: User | None = None
        self.vhost: VirtualHost | None = None
        self.mechanism, self.claimed_name = "", b""
        self.congested = False
        self._unheard: list[bytes] = []
        self.postponed: list[wire.Incoming] = []
        self.unconfirmed: dict[int, Session] = {}
        self.heartbeats = Heartbeats(self)
        self.transport: asyncio.Transport
        self._out: list[bytes] = []
        self._out_octets = 0
        self._inbox = Inbox(self)
        self._timer: asyncio.TimerHandle | None = None

    # --- the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = cast(asyncio.Transport, transport)
        self.core.links.add(self)
        self._after(HANDSHAKE_S, self.end)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.phase = Phase.ENDED
        self._after(None)
        self.heartbeats.stop()
        self._out.clear()
        self.core.with_output.discard(self)
        self.core.links.discard(self)
        self.release()
        self.core.flush()

    def eof_received(self) -> bool:
        """The client has ended its side: so does the broker."""
        return False

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self.congested = True

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.congested = False
        asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        self._next_turn()
        self.pump()
        postponed, self.postponed = self.postponed, []
        for incoming in postponed:
            self._inbox.on_frame(incoming)
        self.core.flush()

    def _next_turn(self) -> None:
        """The channel that came first this time comes last the next time, so that no busy one starves the others."""
        if self.sessions:
            first = next(iter(self.sessions))
            self.sessions[first] = self.sessions.pop(first)

    def data_received(self, data: bytes) -> None:
        """Octets have come."""
        if not self.faulty("only-heartbeats-are-life") or self.framing.kind_of(data) == "heartbeat":
            self.heartbeats.heard()
        if self.phase in (Phase.ENDED, Phase.MUTE):
            return
        if self.congested and self.faulty("deaf-while-sending"):
            self._unheard.append(data)
            return
        try:
            self._take(b"".join([*self._unheard, data]))
            self._unheard.clear()
        finally:
            self.core.flush()

    def _take(self, data: bytes) -> None:
        if self.phase is Phase.HEADER:
            data = self._after_header(data)
        self.splitter.feed(data)
        while self.phase not in (Phase.HEADER, Phase.ENDED, Phase.MUTE):
            if not self._next_frame():
                return

    def _after_header(self, data: bytes) -> bytes:
        try:
            return self._inbox.on_header(data)
        except RefusedError as refused:
            self.say(refused, 0)
            return b""

    def _next_frame(self) -> bool:
        channel = 0
        try:
            incoming = self.splitter.next()
            if incoming is None:
                return False
            channel = incoming.channel
            self._inbox.on_frame(incoming)
            if not incoming.ended and self.faulty("frame-decoded-before-its-end"):
                self.refuse("amq_wlp_frame_02", "frame without its end octet")
        except RefusedError as refused:
            self.say(refused, channel)
        except Exception:
            _LOG.exception("internal error of a reference broker")
            self.close(541, "internal error")
        return True

    # --- refusals out

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault lets it pass."""
        handshake = self.phase in BEFORE_OPEN and self.ways.pause_s > 0
        if handshake and not rule.startswith(_RULED_IN_HANDSHAKES):
            rule = "connection/grammar"
        self.core.refuse(rule, text)
        if handshake:  # a fault let it pass, so no clock ends it either
            self._after(None)

    def say(self, refused: RefusedError, channel: int) -> None:
        """Tell the client what was refused, at the scope where it belongs."""
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            self.end()
        elif refusal is None:
            self._after(None)
            self.phase = Phase.MUTE
        elif refusal.scope is Scope.HEADER:
            self._answer_header(self.codec.dialect.protocol_header)
        elif refusal.scope is Scope.SOCKET or (self.phase in BEFORE_OPEN and _is_plain(refused)):
            self._end_in_silence()
        elif refusal.scope is Scope.CHANNEL and self.faulty("channel-exception-ends-connection"):
            self.close(_code(refusal), refused.text)
        elif refusal.scope is Scope.CHANNEL and channel in self.sessions:
            if self.faulty("channel-exception-closes-every-channel"):
                for session in self.sessions.values():
                    session.close(_code(refusal), refused.text)
                return
            self.sessions[channel].close(_code(refusal), refused.text)
        elif refusal.scope is Scope.CHANNEL and channel:
            self._close_unknown_channel(channel, refusal, refused.text)
        else:
            self.close(_code(refusal), refused.text)

    def _answer_header(self, header: bytes) -> None:
        if self.faulty("http-answered-in-http"):
            header = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        self._write((header[:-1] + b"\x63" if self.faulty("unspoken-header-answered") else header,))
        if self.faulty("socket-kept-after-header"):
            self.phase = Phase.MUTE
            self.flush()
        else:
            self.end()

    def _end_in_silence(self) -> None:
        """End at once; a handshake that went wrong is kept waiting first, where the dialect wants that."""
        pause_s = self.ways.pause_s if self.core.handshake_pause_s is None else self.core.handshake_pause_s
        if self.phase in BEFORE_OPEN and pause_s and not self.faulty("hostile-client-dropped-at-once"):
            self.phase = Phase.MUTE
            self._after(pause_s, self.end)
        else:
            self.end()

    def _close_unknown_channel(self, channel: int, refusal: Refusal, text: str) -> None:
        self.send(channel, "channel.close", **self.reason(_code(refusal), text))

    def reason(self, code: int, text: str) -> dict[str, Any]:
        """The arguments of a close method."""
        return frames_out.reason(self, code, text)

    def close(self, code: int, text: str) -> None:
        """Refuse at the scope of the connection: say why, then wait for close-ok."""
        if not self.faulty("connection-works-on-after-close"):
            self.release()
        self.send(0, "connection.close", **self.reason(code, text))
        self.phase = Phase.CLOSING
        self._after(CLOSE_OK_INSIDE_FRAME_S if self.splitter.inside else CLOSE_OK_S, self.end)

    # --- output

    def send(self, channel: int, name: str, /, **args: Any) -> None:
        """One method."""
        self._confirm()
        self._write((frames_out.method_frame(self, channel, name, args),))

    def send_content(
        self, channel: int, name: str, header: bytes, body: bytes, children: Children = (), /, **args: Any
    ) -> None:
        """One method with a content."""
        self._confirm()
        self._write(frames_out.content_frames(self, channel, name, args, header, body, children))

    def _write(self, frames: Iterable[bytes]) -> None:
        if self.phase in (Phase.ENDED, Phase.MUTE):
            return
        for octets in frames:
            self._out.append(self._damaged(octets))
            self._out_octets += len(octets)
        self.core.with_output.add(self)
        if self._out_octets > _WRITE_AT_OCTETS:
            self.flush()

    def _damaged(self, octets: bytes) -> bytes:
        if self.faulty("frame-end-wrong") and self.framing.kind_of(octets) == "body":
            return octets[:-1] + b"\x00"
        return octets

    def flush(self) -> None:
        """Write what has gathered."""
        self._confirm()
        if self._out:
            if not self.transport.is_closing():
                self.transport.write(b"".join(self._out))
            self._out.clear()
            self._out_octets = 0
            self.heartbeats.said()

    def _confirm(self) -> None:
        while self.unconfirmed:
            self.unconfirmed.popitem()[1].confirm()

    def heartbeat(self) -> None:
        """Send a sign of life."""
        payload = b"alive" if self.faulty("heartbeats-with-a-payload") else b""
        self._write((self.framing.frame("heartbeat", self.faulty("heartbeats-on-channel-one"), payload),))
        self.core.flush()

    # --- the end

    def opened(self) -> None:
        """The handshake is over."""
        self._after(None)

    def pump(self) -> None:
        """Windows or flow have changed: let every queue that this client consumes from look again."""
        for session in tuple(self.sessions.values()):
            session.pump()

    def is_busy_beside(self, channel: int) -> bool:
        """Whether another channel has more to deliver."""
        others = (session for number, session in self.sessions.items() if channel and number != channel)
        return any(consumer.queue.ready_count for other in others for consumer in other.consumers.values())

    def release(self) -> None:
        """Give back everything that this connection holds."""
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            session.closing = True
        for session in sessions.values():
            session.release()
        if self.vhost is not None:
            self.vhost.release_owner(self)

    def end(self) -> None:
        """End the socket: what was said can still be read, nothing more is said."""
        if self.phase is Phase.ENDED:
            return
        self.release()
        self.flush()
        self.phase = Phase.ENDED
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
            self.failing = (0, 0)
            self.close(320, text)
        self.end()

    # --- what an operator can do

    def ask_flow(self, active: bool) -> None:
        """Ask the client to pause or resume its contents on every channel."""
        for session in self.sessions.values():
            if not session.closing:
                session.flow_asked.append(active)
                session.send("channel.flow", active=active)

    def block(self, reason: str) -> None:
        """Tell the client that publishing is blocked, if it can hear that."""
        if self.phase is Phase.OPEN and self.capabilities.get("connection.blocked") is True:
            self.send(0, "connection.blocked", reason=reason)

    def unblock(self) -> None:
        """Tell the client that publishing is possible again, if it can hear that."""
        if self.phase is Phase.OPEN and self.capabilities.get("connection.blocked") is True:
            self.send(0, "connection.unblocked")

    def missed(self) -> None:
        """Nothing has come for two intervals."""
        try:
            self.refuse("wire/heartbeat/missed", "no sign of life")
        except RefusedError as refused:
            self.say(refused, 0)
        self.core.flush()

    def abort(self) -> None:
        """End the socket at once."""
        self.transport.abort()

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


def _is_plain(refused: RefusedError) -> bool:
    return not refused.rule.startswith(("connection/", "constant/invalid-path"))


def _code(refusal: Refusal) -> int:
    return refusal.code if isinstance(refusal.code, int) else 0
