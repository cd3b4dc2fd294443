"""What comes in on one connection: the protocol header, then frames, sorted by phase, channel and method.

Knows: which frame may come when and where, and which rule is broken by one that may not.
Must not know: sockets, how a refusal is said, what a method does.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from amqpspec.reference.methods import classes, wire  # noqa: F401  (classes registers the handlers)
from amqpspec.reference.methods.handlers import LINK_HANDLERS, SESSION_HANDLERS
from amqpspec.reference.methods.phases import BEFORE_OPEN, HANDSHAKE, Phase
from amqpspec.reference.methods.session import Session
from amqpspec.spec.methods import Method
from amqpspec.spec.model import Side
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.link import Link

_IDS = struct.Struct(">HH")
_WIDE = ("short", "long", "longlong", "longstr", "table")


class Inbox:
    """The way in of one connection."""

    def __init__(self, link: Link) -> None:
        self._link, self.faulty = link, link.faulty
        self._head = b""
        methods = link.codec.dialect.methods
        self._closes = _ids(methods["connection.close"], methods["connection.close-ok"])
        self._channel_closes = _ids(methods["channel.close"], methods["channel.close-ok"])
        self._start = Call(methods["connection.start"], {})

    # --- the protocol header

    def on_header(self, data: bytes) -> bytes:
        """Octets of the protocol header have come; returns those beyond it."""
        self._head += data
        head, rest = self._head[:8], self._head[8:]
        if not any(known.startswith(head) for known in self._link.codec.dialect.accepted_headers):
            if self.faulty("unknown-header-not-answered"):
                self._link.end()
                return b""
            name_wrong = not self._link.codec.dialect.protocol_header[:5].startswith(head[:5])
            rule = "connection/start/protocol-name" if name_wrong else "connection/start/server-support"
            self._link.refuse(rule, f"protocol header {head.hex(' ')}")
        if len(head) < 8 - self.faulty("header-taken-after-seven-octets"):
            return b""
        if self.faulty("own-header-refused"):
            self._link.refuse("connection/start/server-support", "no version is good enough")
        self._link.phase = Phase.START
        if not self.faulty("start-not-sent"):
            LINK_HANDLERS["connection.start"](self._link, self._start)
        return rest

    # --- frames in

    def on_frame(self, incoming: wire.Incoming) -> None:
        """A frame has come."""
        self._link.failing = (0, 0)
        if self.faulty("busy-channel-starves-others") and self._link.is_busy_beside(incoming.channel):
            self._link.postponed.append(incoming)
            return
        if self._link.phase is Phase.CLOSING:
            self._on_frame_while_closing(incoming)
        elif incoming.kind == "method":
            self._on_method(incoming.channel, incoming.payload)
        elif incoming.kind in ("header", "body"):
            self._on_content(incoming)
        elif incoming.kind == "heartbeat":
            self._on_heartbeat(incoming)
        elif incoming.kind == "trace":
            self._on_trace(incoming)
        elif incoming.kind.startswith("oob-"):
            self._link.refuse("constant/not-implemented", "there is no out-of-band transport")

    def _on_heartbeat(self, incoming: wire.Incoming) -> None:
        unagreed = not self._link.heartbeats.agreed
        minds = unagreed and self.faulty("unagreed-heartbeat-refused")
        if incoming.channel or incoming.payload or minds:
            self._link.refuse("amq_wlp_heartbeat_01", f"heartbeat on channel {incoming.channel}")
        elif unagreed and self.faulty("unagreed-heartbeat-ends-socket"):
            self._link.end()

    def _on_trace(self, incoming: wire.Incoming) -> None:
        """There is nobody here to look at a trace."""
        if incoming.channel or self.faulty("every-trace-refused"):
            self._link.refuse("amq_wlp_trace_01", f"trace frame on channel {incoming.channel}")
        elif incoming.payload and self.faulty("trace-with-payload-ends-socket"):
            self._link.end()

    def _on_frame_while_closing(self, incoming: wire.Incoming) -> None:
        if incoming.kind != "method" or len(incoming.payload) < 4:
            return
        closes = incoming.channel == 0 and _IDS.unpack_from(incoming.payload) in self._closes
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
            session.on_content(incoming.kind, incoming.payload)

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
        return ids in self._channel_closes or self.faulty("channel-works-on-after-close")

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
        wire.check_values(call.args, self._link.refuse, self._link.ways.signs_in_names)
        self._overlook(method, payload)
        if self.faulty("tables-with-arrays-not-read") and wire.any_field(
            call.args, lambda n, v: v.tag == "A"
        ):
            self._link.refuse("wire/table/malformed", "an array")
        if self.faulty("declare-flags-read-backwards") and method.name == "queue.declare":
            return wire.flags_reversed(call)
        return call

    def _overlook(self, method: Method, payload: bytes) -> None:
        """Refuse, if a fault will have it, wide fields that begin at an odd place."""
        if method.class_name not in ("queue", "test") or not self.faulty("odd-places-not-read"):
            return
        wide = (f.name for f in method.fields if f.type in _WIDE)
        if any(self._link.codec.offset_of(payload, name) % 2 for name in wide):
            self._link.refuse("constant/frame-error", f"{method.name} has a field at an odd place")

    def _handle(self, call: Call, channel: int) -> None:
        if call.method.class_name == "connection":
            if self._link.phase is Phase.OPEN and call.name in HANDSHAKE:
                self._link.refuse("constant/command-invalid", f"{call.name} on an open connection")
            else:
                LINK_HANDLERS[call.name](self._link, call)
            return
        if call.name not in SESSION_HANDLERS:
            self._link.refuse("constant/not-implemented", f"{call.name} is not served here")
            return
        session = self._link.sessions.get(channel)
        if session is None and call.name == "channel.open":
            session = Session(self._link, channel)
        if session is None:
            self._link.refuse("channel/grammar", f"{call.name} on channel {channel}, which is not open")
        else:
            session.on_method(call)


def _ids(*methods: Method) -> frozenset[tuple[int, int]]:
    return frozenset((method.class_id, method.method_id) for method in methods)
