"""One client connection: its phase, its channels, how a refusal is sent.

Knows: phases from the protocol header to the end of the socket, the meaning of scopes. Must not know: sockets
(``BrokerConnection`` does), the effects of controls and commands (the handlers do).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amqpspec.reference.amqp_0_10.assembling import Building
from amqpspec.reference.amqp_0_10.heartbeats import Heartbeats
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.wire import HEADER_OCTETS, MAX_FRAME_OCTETS, MIN_MAX_FRAME_OCTETS, Splitter
from amqpspec.reference.connection import BrokerConnection
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import User
from amqpspec.reference.phases import BEFORE_OPEN, Phase
from amqpspec.reference.refusing import RefusedError
from amqpspec.reference.sasl import Login
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_0_10.frames import encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL, HeaderEntry
from amqpspec.wire.values import Raw

CLOSE_OK_S = 5.0
CONNECTION_FORCED, FRAMING_ERROR = 320, 501
_DETACH_CODES = {c.name: int(c.value) for c in DIALECT.choices("session.detach-code")}


class Channel:
    """One channel number: the attached session, and incomplete assemblies by track."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.session: Session | None = None
        self.tracks: dict[int, Building] = {}
        self.name = b""
        """The session name of the current control, which a refusal repeats."""
        self.point: int | None = None
        """The offset of a command-point after which nothing has arrived yet."""

    def leave(self, *, keeping: bool = True) -> Session | None:
        """The session leaves, with its incomplete command; ``keeping`` is off if it has ended."""
        session, self.session, self.point = self.session, None, None
        under_way = self.tracks.pop(DIALECT.layout.tracks["command"], None)
        self.tracks.clear()
        if session is not None:
            session.detach(under_way if under_way is not None and under_way.begun and keeping else None)
        return session


class Connection(BrokerConnection):
    """One connection; ``inbox`` adds its input."""

    OPEN, MUTE, ENDED = Phase.OPEN, Phase.MUTE, Phase.ENDED
    GOING_DOWN, INTERNAL_ERROR, NO_ROOM = CONNECTION_FORCED, CONNECTION_FORCED, CONNECTION_FORCED
    phase: Phase
    login: Login

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.phase = Phase.HEADER
        self.splitter = Splitter(self.refuse, self.faulty)
        self.channels: dict[int, Channel] = {}
        self.channel_max: int | None = None
        self.max_frame_octets = MIN_MAX_FRAME_OCTETS
        self.current: Channel | None = None
        """The channel of the current frame."""
        self.proven: User | None = None
        """The user who has proven the password, until the client has checked the server's proof."""
        self.signs = self.heartbeats = Heartbeats(self)
        self.head = b""

    def forget_frame(self) -> None:
        """Forget the channel of the last frame."""
        self.current = None

    # --- outgoing refusals

    def send_refusal(self, refused: RefusedError) -> None:
        """Report a refusal to the client, at its scope."""
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            self.end_socket()
        elif refusal is None:
            self.after(None)
            self.phase = Phase.MUTE
        elif refusal.scope is Scope.HEADER:
            unspoken = self.faulty("unspoken-header-answered")
            self.write(DIALECT.protocol_header[:-1] + (b"\x63" if unspoken else DIALECT.protocol_header[-1:]))
            self.end_socket()
        elif refusal.scope is Scope.SOCKET:
            self.end_socket()
        elif refusal.scope is Scope.CONNECTION:
            self.close(refusal.code if isinstance(refusal.code, int) else FRAMING_ERROR, refused.text)
        elif self.current is None or self.phase in BEFORE_OPEN:
            self.close(FRAMING_ERROR, refused.text)
        elif isinstance(refusal.code, int) and self.current.session is None:
            # An exception is due, and there is no session to end with it.
            self.close(FRAMING_ERROR, refused.text)
        else:
            self._refuse_on(self.current, refusal.code, refused.text)

    def _refuse_on(self, channel: Channel, code: int | str | None, text: str) -> None:
        """End a session with an exception, or with detached if the code belongs to it."""
        session = channel.session
        if isinstance(code, str):
            name = channel.name or (session.name if session else b"")
            self.send(channel.number, "session.detached", name=name, code=_DETACH_CODES[code])
            if code == "unknown-ids" and session is not None:
                session.end()
                channel.session = None
        elif session is not None:
            session.fail(code or 541, text)
            if session.carrier is None:
                channel.session = None
        channel.tracks.clear()

    def refuse_session(self, session: Session, rule: str, text: str) -> None:
        """End a session for a reason that none of its commands caused."""

        def step() -> bool:
            self.current = self.channels[session.channel]
            session.order = None
            session.refuse(rule, text)
            return True

        self.guarded(step)

    def close(self, code: int, text: str) -> None:
        """Refuse at the scope of the connection: send close, then wait for close-ok."""
        self.release()
        reason = None if self.faulty("reasons-left-out") else text[:80]
        channel = 1 if self.faulty("closes-on-channel-one") else 0
        self.send(channel, "connection.close", reply_code=code, reply_text=reason)
        self.phase = Phase.CLOSING
        self.after(CLOSE_OK_S, self.end_socket)

    # --- output

    def send(
        self,
        channel: int,
        name: str,
        /,
        *,
        sync: bool = False,
        header: Iterable[HeaderEntry | Raw] | None = None,
        body: bytes | None = None,
        **args: Any,
    ) -> None:
        """One control or command with its segments, in frames of the agreed size."""
        limit = self.max_frame_octets
        if self.faulty("frames-larger-than-agreed"):
            limit = MAX_FRAME_OCTETS
        if name == "session.detached" and self.faulty("detached-without-a-name"):
            args["name"] = b""
        octets = encode_assembly(
            name, channel, sync=sync, header=header, body=body, max_frame_octets=limit, **args
        )
        if name == "session.detached" and self.faulty("octets-behind-controls"):
            octets = encode_frame(octets[HEADER_OCTETS:] + b"\0", type=CONTROL, channel=channel)
        self.write(octets)

    def sign_of_life(self) -> None:
        """A heartbeat."""
        self.send(0, "connection.heartbeat")
        self.flush()

    def pump(self) -> None:
        """Let every session that has something to send check again."""
        for channel in tuple(self.channels.values()):
            if channel.session is not None:
                for queue in {id(q): q for q in channel.session.queues()}.values():
                    queue.dispatch()

    def caught_up(self) -> None:
        """The client reads again: sessions continue."""
        if self.faulty("backlog-ends-deliveries"):
            self.congested = True
        self.pump()

    # --- the end

    def release(self) -> None:
        """Every session loses its channel; those without a timeout end."""
        channels, self.channels = self.channels, {}
        for session in [channel.leave() for channel in channels.values()]:
            if session is not None:
                session.linger()

    def shut_down(self, text: str) -> None:
        """The broker goes down, and no session outlives it."""
        for channel in self.channels.values():
            if channel.session is not None:
                channel.session.timeout_s = 0
        super().shut_down(text)


FAULTS = fault_table("""
frames-larger-than-agreed: the broker sends frames larger than agreed
    [connection/tune-ok/max-frame-size/max-frame-size/sent min-max-frame-size/agreed min-max-frame-size/value]
detached-without-a-name: detached does not name its session [session/detach/confirmed]
closes-on-channel-one: close is sent on channel 1, however few channels there are
    [connection/tune-ok/channel-max/available-channels]
reasons-left-out: close has no text [connection/close/reason]
octets-behind-controls: a control has an octet after its arguments
    [encoding/control/layout encoding/command/layout]
backlog-ends-deliveries: after a large backlog nothing is delivered without a flush [message/flow/infinite]
unspoken-header-answered: an unknown protocol header is answered with another unsupported one
    [transport/negotiation/discovery]
""")
