"""The input of one connection: protocol headers, the login, then frames, dispatched by phase, channel and
performative.

Knows: what may arrive when and where, and which rule other input violates. Must not know: sockets, how a refusal is
sent, how a session or a link handles a frame.
"""

from __future__ import annotations

from amqpspec.reference.amqp_1_0 import limits, opening, securing, wire
from amqpspec.reference.amqp_1_0.beginning import answer_begin, free_channel
from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.amqp_1_0.dispatch import on_session_frame
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.amqp_1_0.phases import Phase
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.amqp_1_0.sound import check
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError

HEADER_OCTETS = 8
_VERSION = (1, 0, 0)
_SYMBOLS = (b"\xa3", b"\xb3")


class Inbox:
    """The input of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.faulty = connection, connection.faulty
        self.session: Session | None = None
        self.link: LinkEndpoint | None = None

    def forget_frame(self) -> None:
        """Forget which session and link the last frame was for."""
        self.session = self.link = None

    # --- protocol headers

    def on_header(self) -> bool:
        """Handle a protocol header; False if more octets are needed."""
        splitter, connection = self.connection.splitter, self.connection
        name = HEADERS["amqp"][:4]
        head = splitter.peek(HEADER_OCTETS)
        if not name.startswith(head[:4]):
            if connection.phase is Phase.SECOND_HEADER and self.faulty("no-header-after-the-outcome"):
                connection.phase = Phase.OPENING
                return True
            connection.refuse("version/unparseable", f"octets {head.hex(' ')} for a protocol header")
        if len(head) < HEADER_OCTETS:
            return False
        splitter.take(HEADER_OCTETS)
        self._check_version(tuple(head[5:]))
        if self.faulty("version-one-refused"):
            connection.refuse("version/highest-otherwise", "version 1.0.0")
        self._begin_layer(head[4])
        return True

    def _check_version(self, version: tuple[int, ...]) -> None:
        if version > _VERSION:
            self.connection.refuse("version/highest-not-above", f"version {version}")
        if version < _VERSION:
            self.connection.refuse("version/highest-otherwise", f"version {version}")

    def _begin_layer(self, protocol_id: int) -> None:
        connection = self.connection
        if protocol_id == HEADERS["sasl"][4] and connection.phase is Phase.HEADER:
            securing.greet(connection)
            return
        if protocol_id != HEADERS["amqp"][4]:
            connection.refuse("version/protocol-id/unacceptable", f"protocol id {protocol_id}")
        if connection.phase is Phase.SECOND_HEADER and self.faulty("single-layer-only"):
            return
        connection.greet("amqp")
        connection.phase = Phase.OPENING

    # --- frames

    def on_frame(self, incoming: wire.Incoming) -> None:
        """A frame has arrived."""
        connection = self.connection
        if connection.phase is Phase.SASL:
            securing.on_frame(connection, incoming)
        if connection.phase in (Phase.SASL, Phase.SECOND_HEADER, Phase.ENDED):
            return
        if incoming.type != wire.AMQP and self.faulty("unknown-frame-types-dropped"):
            return
        if incoming.type != wire.AMQP:
            connection.refuse("framing/type", f"a frame of type {incoming.type}")
        if not incoming.body:
            self._on_empty(incoming.channel)
            return
        read = self._read(incoming)
        if read is not None:
            self._on_performative(incoming.channel, *read)

    def _on_empty(self, channel: int) -> None:
        connection = self.connection
        if connection.phase is Phase.OPENING:
            connection.refuse("connections/empty-frame/after-open", "an empty frame before open")
        if channel and self.faulty("empty-frames-refused-off-channel-zero"):
            connection.close("amqp:not-allowed", "an empty frame on another channel than 0")
        session = connection.sessions.get(channel)
        if session is not None and self.faulty("empty-frames-count-as-transfers"):
            session.count_incoming()
        if session is not None and self.faulty("empty-frame-breaks-delivery"):
            session.forget_partial()

    def _read(self, incoming: wire.Incoming) -> tuple[Composed, bytes] | None:
        """The performative and the payload; None if it is unreadable and was tolerated, or is discarded."""
        connection = self.connection
        self.session = connection.sessions.get(incoming.channel)
        if self._discards(incoming):
            return None
        try:
            value, end = decode(incoming.body)
            if incoming.body[1:2] in _SYMBOLS and self.faulty("performatives-by-symbol-refused"):
                value = None
        except WireError as error:
            connection.refuse("definitions/condition/decode-error", str(error))
            return None
        if not (isinstance(value, Composed) and "frame" in value.row.provides):
            connection.refuse("framing/performative", f"a frame body that begins with {type(value).__name__}")
            return None
        return value, incoming.body[end:]

    def _discards(self, incoming: wire.Incoming) -> bool:
        """Whether a frame is discarded unread: after an error, all but the one that is waited for."""
        connection, session = self.connection, self.session
        if connection.phase is Phase.CLOSING and not self.faulty("connection-works-on-after-close"):
            return bool(_name(incoming.body) != "close")
        if session is None or not session.discarding or self.faulty("session-works-on-after-end"):
            return False
        return _name(incoming.body) not in ("end", "close")

    def _on_performative(self, channel: int, frame: Composed, payload: bytes) -> None:
        connection = self.connection
        if connection.phase is Phase.OPENING and frame.name != "open":
            connection.refuse("connections/opening/open-first", f"{frame.name} before open")
        if _is_bare(frame.get("error")) and self.faulty("bare-errors-refused"):
            connection.close("amqp:invalid-field", f"{frame.name} with an error without description")
        elif frame.name == "open":
            opening.on_open(connection, channel, frame)
        elif frame.name == "close" and self._close_lost(channel):
            return
        elif frame.name == "close":
            connection.closed_by_peer()
        elif channel > limits.CHANNEL_MAX - bool(self.faulty("channel-max-counted-from-one")):
            connection.refuse("performatives/open/channel-max/exceeded", f"channel {channel}")
        elif frame.name == "begin":
            self._on_begin(channel, frame)
        else:
            self._on_session_frame(channel, frame, payload)

    def _close_lost(self, channel: int) -> bool:
        if channel and self.faulty("close-off-channel-zero-ignored"):
            return True
        return self.connection.just_opened and self.faulty("pipelined-close-lost")

    def _on_begin(self, channel: int, frame: Composed) -> None:
        connection = self.connection
        check(frame, connection.refuse)
        if self.session is not None:
            connection.refuse("sessions/begin/unused-channel", f"channel {channel} has a session")
            return
        if frame.get("remote_channel") is not None:
            connection.refuse(
                "sessions/begin/remote-channel-empty", "remote-channel in a begin that answers none"
            )
        session = Session(connection, channel, free_channel(connection), frame)
        if session.outgoing < 0:
            connection.close("amqp:resource-limit-exceeded", "no channel is left for the answer")
            return
        failed = any(other.discarding for other in connection.sessions.values())
        if failed and self.faulty("begin-beside-failed-session-refused"):
            connection.close("amqp:illegal-state", "a begin while a session waits for its end")
            return
        if connection.sessions and self.faulty("first-session-only"):
            connection.close("amqp:not-allowed", "one session only")
            return
        connection.sessions[channel] = session
        if self.faulty("pipelined-session-frames-lost"):
            connection.splitter.clear()
        answer_begin(session)

    def _on_session_frame(self, channel: int, frame: Composed, payload: bytes) -> None:
        session = self.session = self._sorted(channel)
        if session is None:
            self._on_unmapped(channel, frame)
            return
        handle = frame.fields.get("handle")
        if isinstance(handle, int) and frame.name != "attach":
            self.link = session.endpoints.get(handle)
        on_session_frame(session, frame, payload)

    def _sorted(self, channel: int) -> Session | None:
        """The session of an incoming channel."""
        sessions = self.connection.sessions
        if self.faulty("frames-go-to-the-first-session"):
            return next(iter(sessions.values()), None)
        if self.faulty("incoming-channel-sought-by-outgoing"):
            return next((s for s in sessions.values() if s.outgoing == channel), None)
        return sessions.get(channel)

    def _on_unmapped(self, channel: int, frame: Composed) -> None:
        connection = self.connection
        connection.refuse(
            "sessions/states/unmapped", f"{frame.name} on channel {channel}, which has no session"
        )
        if frame.name != "end":
            self.session = Session(connection, channel, free_channel(connection), None)
            connection.sessions[channel] = self.session
            on_session_frame(self.session, frame, b"")


def _is_bare(error: object) -> bool:
    """Whether it is an error that has no description."""
    return isinstance(error, Composed) and error.get("description") is None


def _name(body: bytes) -> str:
    """The name of a frame's performative; empty if it cannot be read."""
    try:
        value = decode(body)[0]
    except WireError:
        return ""
    return value.name if isinstance(value, Composed) else ""


def connect(core: Core) -> Connection:
    """The broker's end of a new connection."""
    return Connection(core, Inbox)


FAULTS = fault_table("""
version-one-refused: the broker refuses the version that it speaks [version/supported]
single-layer-only: after the login, the second header is not answered [version/supported sasl/outcome/then-headers]
no-header-after-the-outcome: frames directly after the outcome are accepted [sasl/outcome/then-headers]
unknown-frame-types-dropped: a frame of an unknown type is passed over [framing/type]
performatives-by-symbol-refused: a performative whose descriptor is a symbol is none
    [model/nine-frame-bodies framing/performative]
channel-max-counted-from-one: the highest channel is refused
    [performatives/open/channel-max/sessions connections/opening/limits-after]
first-session-only: a second session on a connection is refused
    [model/many-sessions performatives/open/channel-max/sessions connections/channels/by-direction]
incoming-channel-sought-by-outgoing: frames are sorted by the broker's own channel numbers
    [connections/channels/by-direction connections/channels/mapping]
frames-go-to-the-first-session: every frame goes to the first session [connections/channels/mapping]
close-off-channel-zero-ignored: a close on another channel than 0 is ignored [connections/closing/any-channel]
pipelined-close-lost: a close that arrives in one read with open is ignored [connections/closing/pipelined-with-open]
bare-errors-refused: an error of the partner without description closes the connection [definitions/error/condition]
empty-frames-refused-off-channel-zero: empty frames on other channels than 0 are refused
    [connections/empty-frame/any-channel]
empty-frames-count-as-transfers: an empty frame counts as a transfer [connections/empty-frame/no-meaning]
empty-frame-breaks-delivery: an empty frame ends the delivery that is on its way [connections/empty-frame/no-meaning]
pipelined-session-frames-lost: frames that arrive in one read with their begin are discarded
    [sessions/states/begin-sent connections/pipelined/frames-before-answer performatives/flow/next-incoming-id/unset]
begin-beside-failed-session-refused: while a session that failed waits for its end, none can be begun
    [sessions/begin/answer]
""")
