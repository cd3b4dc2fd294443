"""What comes in on one connection: the protocol header, then frames, sorted by phase, channel and method.

Knows: which frame may come when and where, and which rule is broken by one that may not.
Must not know: sockets, how a refusal is said, what a method does.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from harness.reference.amqp_0_9_1 import classes, wire  # noqa: F401  (classes registers the handlers)
from harness.reference.amqp_0_9_1.handlers import LINK_HANDLERS
from harness.reference.amqp_0_9_1.phases import BEFORE_OPEN, HANDSHAKE, Phase
from harness.reference.amqp_0_9_1.session import Session
from harness.spec.model import Method, Side
from harness.wire.errors import WireError
from harness.wire.methods import Call

if TYPE_CHECKING:
    from harness.reference.amqp_0_9_1.link import Link

_IDS = struct.Struct(">HH")
_CLOSES = ((10, 50), (10, 51))
_CHANNEL_CLOSES = ((20, 40), (20, 41))


class Inbox:
    """The way in of one connection."""

    def __init__(self, link: Link) -> None:
        self._link, self.faulty = link, link.faulty
        self._head = b""

    # --- the protocol header

    def on_header(self, data: bytes) -> bytes:
        """Octets of the protocol header have come; returns those beyond it."""
        self._head += data
        head, rest = self._head[:8], self._head[8:]
        if not any(known.startswith(head) for known in self._link.codec.dialect.accepted_headers):
            if self.faulty("unknown-header-not-answered"):
                self._link.end()
                return b""
            name_wrong = not b"AMQP\x00".startswith(head[:5])
            rule = "connection/start/protocol-name" if name_wrong else "connection/start/server-support"
            self._link.refuse(rule, f"protocol header {head.hex(' ')}")
        if len(head) < 8:
            return b""
        self._link.phase = Phase.START
        LINK_HANDLERS["connection.start"](
            self._link, Call(self._link.codec.dialect.methods["connection.start"], {})
        )
        return rest

    # --- frames in

    def on_frame(self, incoming: wire.Incoming) -> None:
        """A frame has come."""
        self._link.failing = (0, 0)
        if self._link.phase is Phase.CLOSING:
            self._on_frame_while_closing(incoming)
        elif incoming.type == wire.METHOD:
            self._on_method(incoming.channel, incoming.payload)
        elif incoming.type == wire.HEARTBEAT:
            if incoming.channel or incoming.payload or self._minds_heartbeats():
                self._link.refuse("amq_wlp_heartbeat_01", f"heartbeat on channel {incoming.channel}")
        elif incoming.type in (wire.HEADER, wire.BODY):
            self._on_content(incoming)

    def _minds_heartbeats(self) -> bool:
        return not self._link.heartbeats.agreed and self.faulty("unagreed-heartbeat-refused")

    def _on_frame_while_closing(self, incoming: wire.Incoming) -> None:
        if incoming.type != wire.METHOD or len(incoming.payload) < 4:
            return
        closes = incoming.channel == 0 and _IDS.unpack_from(incoming.payload) in _CLOSES
        if closes or self.faulty("connection-works-on-after-close"):
            self._on_method(incoming.channel, incoming.payload)

    def _on_content(self, incoming: wire.Incoming) -> None:
        if self._link.phase in BEFORE_OPEN:
            self._link.refuse("connection/grammar", "content before open")
            return
        if incoming.channel == 0:
            self._link.refuse("amq_wlp_content_03", "content on channel 0")
            return
        session = self._link.sessions.get(incoming.channel)
        if session is None:
            self._link.refuse("wire/frame/content-channel-open", f"content on channel {incoming.channel}")
        elif not session.closing or self.faulty("channel-works-on-after-close"):
            self._link.failing = session.content_ids
            session.on_content(incoming.type, incoming.payload)

    def _on_method(self, channel: int, payload: bytes) -> None:
        ids = _IDS.unpack_from(payload) if len(payload) >= 4 else (0, 0)
        self._link.failing = ids
        session = self._link.sessions.get(channel)
        if session is not None and session.closing and not self._heard_while_closing(ids):
            return
        method = self._link.codec.dialect.methods_by_id.get(ids)
        if method is None:
            self._refuse_unknown(ids, payload)
        elif self._may_come(method, channel) and (call := self._decode(method, payload)) is not None:
            self._handle(call, channel)

    def _heard_while_closing(self, ids: tuple[int, int]) -> bool:
        return ids in _CHANNEL_CLOSES or self.faulty("channel-works-on-after-close")

    def _refuse_unknown(self, ids: tuple[int, int], payload: bytes) -> None:
        if self._link.phase in BEFORE_OPEN:
            self._link.refuse("connection/grammar", f"class {ids[0]} method {ids[1]} before open")
        elif len(payload) < 4:
            self._link.refuse("constant/frame-error", f"method frame of {len(payload)} octets")
        elif ids[0] in self._link.codec.dialect.classes_by_id:
            self._link.refuse("wire/method/unknown-method", f"class {ids[0]} has no method {ids[1]}")
        else:
            self._link.refuse("wire/method/unknown-class", f"there is no class {ids[0]}")

    def _may_come(self, method: Method, channel: int) -> bool:
        if self._link.phase in BEFORE_OPEN and (method.name != self._link.phase.value or channel):
            self._link.refuse("connection/grammar", f"{method.name} where {self._link.phase.value} was due")
        if method.sent_by is Side.SERVER:
            self._link.refuse("wire/method/server-only", f"{method.name} comes from servers only")
            return False
        if channel and method.class_name == "connection":
            self._link.refuse("wire/frame/channel-zero-for-connection", f"{method.name} on channel {channel}")
        elif not channel and method.class_name != "connection":
            self._link.refuse("wire/frame/channel-class-on-zero", f"{method.name} on channel 0")
            return False
        return True

    def _decode(self, method: Method, payload: bytes) -> Call | None:
        try:
            call = self._link.codec.decode_method(payload)
        except WireError as error:
            self._link.refuse(wire.rule_broken_by(error, method), str(error))
            return None
        wire.check_values(call.args, self._link.refuse)
        if self.faulty("tables-with-arrays-not-read") and wire.any_field(
            call.args, lambda n, v: v.tag == "A"
        ):
            self._link.refuse("wire/table/malformed", "an array")
        if self.faulty("declare-flags-read-backwards") and method.name == "queue.declare":
            return wire.flags_reversed(call)
        return call

    def _handle(self, call: Call, channel: int) -> None:
        if call.method.class_name == "connection":
            if self._link.phase is Phase.OPEN and call.name in HANDSHAKE:
                self._link.refuse("constant/command-invalid", f"{call.name} on an open connection")
            else:
                LINK_HANDLERS[call.name](self._link, call)
            return
        session = self._link.sessions.get(channel)
        if session is None and call.name == "channel.open":
            session = Session(self._link, channel)
        if session is None:
            self._link.refuse("channel/grammar", f"{call.name} on channel {channel}, which is not open")
        else:
            session.on_method(call)
