"""The input of one connection: the protocol header, then frames, dispatched by phase, channel and method.

Knows: which frame may arrive when and where, and which rule other frames violate. Must not know: sockets, how a
refusal is sent, the effects of methods.
"""

from __future__ import annotations

import struct

from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import classes, wire  # noqa: F401  (classes registers the handlers)
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.dispatch import on_content, on_method
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS, CONNECTION_HANDLERS
from amqpspec.reference.phases import BEFORE_OPEN, HANDSHAKE, Phase
from amqpspec.spec.methods import Method
from amqpspec.spec.model import Side
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Call

_IDS = struct.Struct(">HH")
HEADER_OCTETS = 8
_WIDE = ("short", "long", "longlong", "longstr", "table")


class Inbox(Connection):
    """A connection with its input."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._head = b""
        methods = self.codec.dialect.methods
        self._closes = _ids(methods["connection.close"], methods["connection.close-ok"])
        self._channel_closes = _ids(methods["channel.close"], methods["channel.close-ok"])
        self._start = Call(methods["connection.start"], {})

    # --- the protocol header

    def on_header(self, data: bytes) -> bool:
        """Octets of the protocol header have arrived, and perhaps of what follows; whether it is whole."""
        dialect = self.codec.dialect
        self._head += data
        head, rest = self._head[:HEADER_OCTETS], self._head[HEADER_OCTETS:]
        if not any(known.startswith(head) for known in dialect.accepted_headers):
            if self.faulty("unknown-header-not-answered"):
                self.end_socket()
                return False
            name_wrong = not dialect.protocol_header[:5].startswith(head[:5])
            rule = "connection/start/protocol-name" if name_wrong else "connection/start/server-support"
            self.refuse(rule, f"protocol header {head.hex(' ')}")
        if len(head) < HEADER_OCTETS - self.faulty("header-taken-after-seven-octets"):
            return False
        if self.faulty("own-header-refused"):
            self.refuse("connection/start/server-support", "no version is good enough")
        self.splitter.feed(rest)
        self.phase = Phase.START
        if not self.faulty("start-not-sent"):
            CONNECTION_HANDLERS["connection.start"](self, self._start)
        return True

    # --- frames in

    def on_frame(self, incoming: wire.Incoming) -> None:
        """A frame has arrived."""
        self.failing_method = (0, 0)
        if self.faulty("busy-channel-starves-others") and self.is_busy_beside(incoming.channel):
            self.postponed.append(incoming)
            return
        if self.phase is Phase.CLOSING:
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
            self.refuse("constant/not-implemented", "there is no out-of-band transport")

    def _on_heartbeat(self, incoming: wire.Incoming) -> None:
        unagreed = not self.heartbeats.agreed
        minds = unagreed and self.faulty("unagreed-heartbeat-refused")
        if incoming.channel or incoming.payload or minds:
            self.refuse("amq_wlp_heartbeat_01", f"heartbeat on channel {incoming.channel}")
        elif unagreed and self.faulty("unagreed-heartbeat-ends-socket"):
            self.end_socket()

    def _on_trace(self, incoming: wire.Incoming) -> None:
        """Traces have no reader here."""
        if incoming.channel or self.faulty("every-trace-refused"):
            self.refuse("amq_wlp_trace_01", f"trace frame on channel {incoming.channel}")
        elif incoming.payload and self.faulty("trace-with-payload-ends-socket"):
            self.end_socket()

    def _on_frame_while_closing(self, incoming: wire.Incoming) -> None:
        """Discard all but close and close-ok: what crossed the broker's close must not be carried out (§2.3.7)."""
        if incoming.kind != "method" or len(incoming.payload) < 4:
            return
        closes = incoming.channel == 0 and _IDS.unpack_from(incoming.payload) in self._closes
        if closes or self.faulty("connection-works-on-after-close"):
            self._on_method(incoming.channel, incoming.payload)

    def _on_content(self, incoming: wire.Incoming) -> None:
        if self.phase in BEFORE_OPEN:
            self.refuse("connection/grammar", "content before open")
            return
        if incoming.channel == 0:
            self.refuse("amq_wlp_content_03", "content on channel 0")
            return
        channel = self.channels.get(incoming.channel)
        if channel is None:
            self.refuse("wire/frame/content-channel-open", f"content on channel {incoming.channel}")
        elif not channel.closing or self.faulty("channel-works-on-after-close"):
            self.failing_method = channel.content_ids
            on_content(channel, incoming.kind, incoming.payload)

    def _on_method(self, number: int, payload: bytes) -> None:
        ids = _IDS.unpack_from(payload) if len(payload) >= 4 else (0, 0)
        self.failing_method = ids
        channel = self.channels.get(number)
        heard = ids in self._channel_closes or self.faulty("channel-works-on-after-close")
        if channel is not None and channel.closing and not heard:
            return
        method = self.codec.dialect.methods_by_id.get(ids)
        if method is None:
            self._refuse_unknown(ids, payload)
        elif self._may_come(method, number) and (call := self._decode(method, payload)) is not None:
            self._handle(call, number)

    def _refuse_unknown(self, ids: tuple[int, int], payload: bytes) -> None:
        if self.phase in BEFORE_OPEN:
            self.refuse("connection/grammar", f"class {ids[0]} method {ids[1]} before open")
        elif len(payload) < 4:
            self.refuse("constant/frame-error", f"method frame of {len(payload)} octets")
        elif ids[0] in self.codec.dialect.classes_by_id:
            self.refuse("wire/method/unknown-method", f"class {ids[0]} has no method {ids[1]}")
        else:
            self.refuse("wire/method/unknown-class", f"there is no class {ids[0]}")

    def _may_come(self, method: Method, number: int) -> bool:
        if self.phase in BEFORE_OPEN and (method.name != self.phase.value or number):
            self.refuse("connection/grammar", f"{method.name} where {self.phase.value} was due")
        if method.sent_by is Side.SERVER:
            self.refuse("wire/method/server-only", f"{method.name} comes from servers only")
            return False
        if number and method.class_name == "connection":
            self.refuse("wire/frame/channel-zero-for-connection", f"{method.name} on channel {number}")
        elif not number and method.class_name != "connection":
            self.refuse("wire/frame/channel-class-on-zero", f"{method.name} on channel 0")
            return False
        return True

    def _decode(self, method: Method, payload: bytes) -> Call | None:
        try:
            call = self.codec.decode_method(payload)
        except WireError as error:
            if self.faulty("dies-of-invalid-data"):
                self.core.crash_soon()
            self.refuse(wire.rule_broken_by(error, method), str(error))
            return None
        wire.check_values(call.args, self.refuse, self.codec.dialect.signs_in_field_names)
        self._overlook(method, payload)
        if self.faulty("tables-with-arrays-not-read") and wire.any_field(
            call.args, lambda n, v: v.tag == "A"
        ):
            self.refuse("wire/table/malformed", "an array")
        if self.faulty("declare-flags-read-backwards") and method.name == "queue.declare":
            return wire.flags_reversed(call)
        return call

    def _overlook(self, method: Method, payload: bytes) -> None:
        """Refuse, if a fault will have it, wide fields that begin at an odd place."""
        if method.class_name not in ("queue", "test") or not self.faulty("odd-places-not-read"):
            return
        wide = (f.name for f in method.fields if f.type in _WIDE)
        if any(self.codec.offset_of(payload, name) % 2 for name in wide):
            self.refuse("constant/frame-error", f"{method.name} has a field at an odd place")

    def _handle(self, call: Call, number: int) -> None:
        if call.method.class_name == "connection":
            if self.phase is Phase.OPEN and call.name in HANDSHAKE:
                self.refuse("constant/command-invalid", f"{call.name} on an open connection")
            else:
                CONNECTION_HANDLERS[call.name](self, call)
            return
        if call.name not in CHANNEL_HANDLERS:
            self.refuse("constant/not-implemented", f"{call.name} is not served here")
            return
        channel = self.channels.get(number)
        if channel is None and call.name == "channel.open":
            channel = Channel(self, number)
        if channel is None:
            self.refuse("channel/grammar", f"{call.name} on channel {number}, which is not open")
        else:
            on_method(channel, call)


def _ids(*methods: Method) -> frozenset[tuple[int, int]]:
    return frozenset((method.class_id, method.method_id) for method in methods)


FAULTS = fault_table("""
unknown-header-not-answered: first octets that the broker does not know end the socket without a header
    [amq_wlp_header_02 amq_wlp_header_03 amq_wlp_header_04]
declare-flags-read-backwards: the flags of queue.declare are read backwards [wire/bits/packing]
tables-with-arrays-not-read: arguments with an array among them are refused [wire/table/all-types-round-trip]
unagreed-heartbeat-refused: a heartbeat where none were agreed on is refused [amq_wlp_heartbeat_02]
own-header-refused: the server's own header is answered like an unknown one
start-not-sent: a header is accepted in silence
header-taken-after-seven-octets: the last octet of a protocol header is not waited for
odd-places-not-read: integers that begin at an odd place of a queue or test method are refused
every-trace-refused: trace frames on channel 0 are refused
dies-of-invalid-data: after the refusal of arguments that cannot be read, the broker is gone for every client
trace-with-payload-ends-socket: a trace frame with something in it ends the socket
unagreed-heartbeat-ends-socket: a heartbeat where none were agreed on ends the socket
busy-channel-starves-others: methods wait until another channel has delivered all that it has
    [wire/channels/fairness wire/channels/starvation]
""")
