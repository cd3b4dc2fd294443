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
from amqpspec.reference.amqp_1_0.phases import Phase
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.amqp_1_0.sound import check
from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError

HEADER_OCTETS = 8
_VERSION = (1, 0, 0)
_SYMBOLS = (b"\xa3", b"\xb3")


class Inbox(Connection):
    """A connection with its input."""

    # --- protocol headers

    def on_header(self) -> bool:
        """Handle a protocol header; False if more octets are needed."""
        splitter = self.splitter
        name = HEADERS["amqp"][:4]
        head = splitter.peek(HEADER_OCTETS)
        if not name.startswith(head[:4]):
            if self.phase is Phase.SECOND_HEADER and self.faulty("no-header-after-the-outcome"):
                self.phase = Phase.OPENING
                return True
            self.refuse("version/unparseable", f"octets {head.hex(' ')} for a protocol header")
        if len(head) < HEADER_OCTETS:
            return False
        splitter.take(HEADER_OCTETS)
        self._check_version(tuple(head[5:]))
        if self.faulty("version-one-refused"):
            self.refuse("version/highest-otherwise", "version 1.0.0")
        self._begin_layer(head[4])
        return True

    def _check_version(self, version: tuple[int, ...]) -> None:
        if version > _VERSION:
            self.refuse("version/highest-not-above", f"version {version}")
        if version < _VERSION:
            self.refuse("version/highest-otherwise", f"version {version}")

    def _begin_layer(self, protocol_id: int) -> None:
        if protocol_id == HEADERS["sasl"][4] and self.phase is Phase.HEADER:
            securing.greet(self)
            return
        if protocol_id != HEADERS["amqp"][4]:
            self.refuse("version/protocol-id/unacceptable", f"protocol id {protocol_id}")
        if self.phase is Phase.SECOND_HEADER and self.faulty("single-layer-only"):
            return
        self.greet("amqp")
        self.phase = Phase.OPENING

    # --- frames

    def on_frame(self, incoming: wire.Incoming) -> None:
        """A frame has arrived."""
        if self.phase is Phase.SASL:
            securing.on_frame(self, incoming)
        if self.phase in (Phase.SASL, Phase.SECOND_HEADER, Phase.ENDED):
            return
        if incoming.type != wire.AMQP and self.faulty("unknown-frame-types-dropped"):
            return
        if incoming.type != wire.AMQP:
            self.refuse("framing/type", f"a frame of type {incoming.type}")
        if not incoming.body:
            self._on_empty(incoming.channel)
            return
        read = self._read(incoming)
        if read is not None:
            self._on_performative(incoming.channel, *read)

    def _on_empty(self, channel: int) -> None:
        if self.phase is Phase.OPENING:
            self.refuse("connections/empty-frame/after-open", "an empty frame before open")
        if channel and self.faulty("empty-frames-refused-off-channel-zero"):
            self.close("amqp:not-allowed", "an empty frame on another channel than 0")
        session = self.sessions.get(channel)
        if session is not None and self.faulty("empty-frames-count-as-transfers"):
            session.count_incoming()
        if session is not None and self.faulty("empty-frame-breaks-delivery"):
            session.forget_partial()

    def _read(self, incoming: wire.Incoming) -> tuple[Composed, bytes] | None:
        """The performative and the payload; None if it is unreadable and was tolerated, or is discarded."""
        self.session = self.sessions.get(incoming.channel)
        if self._discards(incoming):
            return None
        try:
            value, end = decode(incoming.body)
            if incoming.body[1:2] in _SYMBOLS and self.faulty("performatives-by-symbol-refused"):
                value = None
        except WireError as error:
            self.refuse("definitions/condition/decode-error", str(error))
            return None
        if not (isinstance(value, Composed) and "frame" in value.row.provides):
            self.refuse("framing/performative", f"a frame body that begins with {type(value).__name__}")
            return None
        return value, incoming.body[end:]

    def _discards(self, incoming: wire.Incoming) -> bool:
        """Whether a frame is discarded unread: after an error, all but the one that is waited for."""
        session = self.session
        if self.phase is Phase.CLOSING and not self.faulty("connection-works-on-after-close"):
            return bool(_name(incoming.body) != "close")
        if session is None or not session.discarding or self.faulty("session-works-on-after-end"):
            return False
        return _name(incoming.body) not in ("end", "close")

    def _on_performative(self, channel: int, frame: Composed, payload: bytes) -> None:
        if self.phase is Phase.OPENING and frame.name != "open":
            self.refuse("connections/opening/open-first", f"{frame.name} before open")
        if _is_bare(frame.get("error")) and self.faulty("bare-errors-refused"):
            self.close("amqp:invalid-field", f"{frame.name} with an error without description")
        elif frame.name == "open":
            opening.on_open(self, channel, frame)
        elif frame.name == "close" and self._close_lost(channel):
            return
        elif frame.name == "close":
            self.closed_by_peer()
        elif channel > limits.CHANNEL_MAX - bool(self.faulty("channel-max-counted-from-one")):
            self.refuse("performatives/open/channel-max/exceeded", f"channel {channel}")
        elif frame.name == "begin":
            self._on_begin(channel, frame)
        else:
            self._on_session_frame(channel, frame, payload)

    def _close_lost(self, channel: int) -> bool:
        if channel and self.faulty("close-off-channel-zero-ignored"):
            return True
        return self.just_opened and self.faulty("pipelined-close-lost")

    def _on_begin(self, channel: int, frame: Composed) -> None:
        check(frame, self.refuse)
        if self.session is not None:
            self.refuse("sessions/begin/unused-channel", f"channel {channel} has a session")
            return
        if frame.get("remote_channel") is not None:
            self.refuse("sessions/begin/remote-channel-empty", "remote-channel in a begin that answers none")
        session = Session(self, channel, free_channel(self), frame)
        if session.outgoing < 0:
            self.close("amqp:resource-limit-exceeded", "no channel is left for the answer")
            return
        failed = any(other.discarding for other in self.sessions.values())
        if failed and self.faulty("begin-beside-failed-session-refused"):
            self.close("amqp:illegal-state", "a begin while a session waits for its end")
            return
        if self.sessions and self.faulty("first-session-only"):
            self.close("amqp:not-allowed", "one session only")
            return
        self.sessions[channel] = session
        if self.faulty("pipelined-session-frames-lost"):
            self.splitter.clear()
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
        sessions = self.sessions
        if self.faulty("frames-go-to-the-first-session"):
            return next(iter(sessions.values()), None)
        if self.faulty("incoming-channel-sought-by-outgoing"):
            return next((s for s in sessions.values() if s.outgoing == channel), None)
        return sessions.get(channel)

    def _on_unmapped(self, channel: int, frame: Composed) -> None:
        self.refuse("sessions/states/unmapped", f"{frame.name} on channel {channel}, which has no session")
        if frame.name != "end":
            self.session = Session(self, channel, free_channel(self), None)
            self.sessions[channel] = self.session
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
