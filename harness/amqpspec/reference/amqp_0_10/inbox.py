"""The input of one connection: the protocol header, then frames, assembled and dispatched by phase and channel.

Knows: what may arrive when and where, and which rule other input violates. Must not know: how a refusal is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.reference.amqp_0_10 import accounting, login
from amqpspec.reference.amqp_0_10.assembling import FIRST_FRAME, FIRST_SEGMENT, Building, Segments
from amqpspec.reference.amqp_0_10.attaching import ATTACHMENTS
from amqpspec.reference.amqp_0_10.connection import FRAMING_ERROR, Channel, Connection
from amqpspec.reference.amqp_0_10.domains import Breach, breaches
from amqpspec.reference.amqp_0_10.executing import execute
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.wire import Incoming
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.phases import BEFORE_OPEN, HANDSHAKE, Phase
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command, Control
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    COMMAND,
    CONTROL,
    HEADER,
    Instruction,
    decode_header,
    decode_instruction,
)
from amqpspec.wire.amqp_0_10.values import Map, Packed
from amqpspec.wire.errors import WireError

HEADER_OCTETS = 8
_LARGE_OCTETS = 1 << 20
_COMMANDS = DIALECT.layout.tracks["command"]
_BEGINNING = FIRST_SEGMENT | FIRST_FRAME
_CLOSES = ("connection.close", "connection.close-ok")


@dataclass(frozen=True, slots=True)
class Taken:
    """One complete assembly: its channel, its track, its segments."""

    channel: int
    track: int
    segments: Segments


class Inbox(Connection):
    """A connection with its input."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.overtaken: list[Incoming] = []
        self.previous: Order | None = None
        """The last control of a session."""

    def take(self, data: bytes) -> None:
        """Handle the protocol header, then every complete frame."""
        self.heartbeats.received()
        if self.phase is Phase.HEADER:
            self.guarded(lambda: self._on_header(data))
        else:
            self.splitter.feed(data)
        while not (self.silent or self.phase is Phase.HEADER) and self.guarded(self._next_frame):
            pass

    # --- the protocol header

    def _on_header(self, data: bytes) -> bool:
        self.head += data
        head, rest = self.head[:HEADER_OCTETS], self.head[HEADER_OCTETS:]
        if not DIALECT.protocol_header.startswith(head):
            named = DIALECT.protocol_header[:4].startswith(head[:4])
            rule = "transport/negotiation/unsupported" if named else "transport/negotiation/unparseable"
            if not named or len(head) == HEADER_OCTETS:
                self.refuse(rule, f"protocol header {head.hex(' ')}")
        if len(head) < HEADER_OCTETS:
            return False
        self.splitter.feed(rest)
        self.phase = Phase.START
        if not self.faulty("own-header-not-sent"):
            self.write(DIALECT.protocol_header)
        login.start(self)
        return True

    # --- frames

    def _next_frame(self) -> bool:
        frame = self._in_turn()
        if frame is None:
            return False
        if not self._may_use(frame):
            return True
        channel = self.current = self.channels.setdefault(frame.channel, Channel(frame.channel))
        channel.name = b""
        if not self._is_at_point(channel, frame):
            return True
        building = self._tracks(channel).setdefault(frame.track, Building(self.faulty))
        if channel.session is not None:
            channel.session.order = None
        segments = building.take(frame, self.refuse)
        if building.octets > _LARGE_OCTETS and self.faulty("large-assemblies-refused"):
            self.close(FRAMING_ERROR, "too large")
        elif segments is not None:
            self.on_frame(Taken(frame.channel, frame.track, segments))
        return True

    def _is_at_point(self, channel: Channel, frame: Incoming) -> bool:
        """After a command-point with offset zero, a command begins; after one with another offset, none does."""
        if frame.track != _COMMANDS or channel.point is None:
            return True
        offset, channel.point = channel.point, None
        begins = frame.flags & _BEGINNING == _BEGINNING
        if not offset and not begins:
            self.refuse("session/command-point/zero-offset/framing-error", "no command begins")
            return False
        if offset and begins:
            self.refuse("session/command-point/nonzero-offset/framing-error", "a command begins")
        return True

    def _in_turn(self) -> Incoming | None:
        """The next frame, in the order of the wire."""
        if not self.faulty("controls-overtake-commands"):
            return self.splitter.next()
        while (frame := self.splitter.next()) is not None:
            self.overtaken.append(frame)
        self.overtaken.sort(key=lambda frame: frame.track)
        return self.overtaken.pop(0) if self.overtaken else None

    def _tracks(self, channel: Channel) -> dict[int, Building]:
        mixed = self.faulty("frames-of-channels-mixed") and self.phase is Phase.OPEN
        return next(iter(self.channels.values())).tracks if mixed else channel.tracks

    def _may_use(self, frame: Incoming) -> bool:
        limit = self.channel_max
        if limit is not None and frame.channel >= limit and frame.channel:
            self.refuse("connection/tune-ok/channel-max/available-channels", f"channel {frame.channel}")
        return True

    def on_frame(self, taken: Taken) -> None:
        """Handle one assembly."""
        channel = self.current = self.channels.setdefault(taken.channel, Channel(taken.channel))
        track, segments = taken.track, taken.segments
        kind, octets = segments[0]
        if kind not in DIALECT.layout.types.values():
            self.refuse("segment-type/values", f"a segment of type {kind}")
            return
        self._check_track(kind, track)
        if kind == CONTROL and self.faulty("control-ends-command-under-way"):
            channel.tracks.pop(1, None)
        if self.phase in BEFORE_OPEN and kind != CONTROL:
            self.refuse("connection/grammar", "a command before open")
        elif kind == CONTROL:
            self._on_control(channel, decode_instruction(CONTROL, octets))
        elif kind == COMMAND:
            self._on_command(channel, segments)
        else:
            self.refuse("encoding/segments/unexpected", f"an assembly that begins with type {kind}")

    def _check_track(self, kind: int, track: int) -> None:
        if self.phase is Phase.OPEN and kind == CONTROL and track:
            self.refuse("track/control/zero", f"a control on track {track}")
        elif self.phase is Phase.OPEN and kind == COMMAND and not track:
            self.refuse("track/command/one", "a command on track 0")

    # --- controls

    def _on_control(self, channel: Channel, control: Instruction) -> None:
        late = self.phase is Phase.CLOSING and control.name not in _CLOSES
        if late and not self.faulty("controls-answered-after-close"):
            return
        if self.phase in BEFORE_OPEN and control.name != self.phase.value:
            self.refuse("connection/grammar", f"{control.name} where {self.phase.value} was due")
        order = self._read(control)
        if order is None:
            return
        if order.row.class_name == "connection":
            self._on_connection_control(order)
        elif order.name in ATTACHMENTS:
            ATTACHMENTS[order.name](self, channel, order)
        elif channel.session is None:
            self.refuse("session/attachment/discarded", f"{order.name} on a channel without a session")
        elif order.name in accounting.CONTROLS:
            again, self.previous = order == self.previous, order
            if again and self.faulty("controls-refused-when-they-come-again"):
                self.close(FRAMING_ERROR, "the same control again")
                return
            accounting.CONTROLS[order.name](channel.session, channel, order)

    def _on_connection_control(self, order: Order) -> None:
        if self.phase is Phase.OPEN and order.name in HANDSHAKE:
            self.refuse("connection/grammar", f"{order.name} on an open connection")
        else:
            login.CONTROLS[order.name](self, order)

    def _read(self, instruction: Instruction) -> Order | None:
        """The readable form of a control or command; None if a fault tolerates a malformed one."""
        row = instruction.row
        if row is None:
            self._unknown(instruction)
            return None
        if row.sent_by is Side.SERVER:
            self._refuse_of(instruction, "encoding/command/wrong-side", f"{row.name} comes from servers only")
            return None
        if instruction.error is not None and not self.faulty("broken-commands-carried-out-in-part"):
            self._refuse_of(instruction, _rule_of(instruction.error), str(instruction.error))
            return None
        missing = [field.name for field in row.fields if field.required and field.key not in instruction.args]
        # A missing locale was not offered, which is a separate rule.
        if missing and (row.name, missing) != ("connection.start-ok", ["locale"]):
            self._refuse_of(instruction, "encoding/struct/required-field", f"{row.name} without {missing[0]}")
            return None
        for breach in breaches(row, instruction.args):
            self._blame(breach)
        return Order(row, self._without_bits(row, instruction.args), instruction.sync)

    def _blame(self, breach: Breach) -> None:
        session = None if self.current is None else self.current.session
        if session is None:
            self.refuse(breach.rule, breach.text)
        else:
            session.refuse(breach.rule, breach.text, breach.field)

    def _without_bits(self, row: Control, args: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.faulty("bits-not-read"):
            return args
        bits = {field.key for field in row.fields if DIALECT.base(field.type) == "bit"}
        return {key: value for key, value in args.items() if key not in bits}

    def _unknown(self, instruction: Instruction) -> None:
        known = {c.code for c in DIALECT.classes}
        if len(instruction.code) < 2:
            self._refuse_of(instruction, "encoding/command/truncated", "no code")
        elif instruction.code[0] in known:
            self._refuse_of(
                instruction, "encoding/command/unknown-command", f"there is no {instruction.name}"
            )
        else:
            self._refuse_of(instruction, "encoding/command/unknown-class", f"no class {instruction.code[0]}")

    def _refuse_of(self, instruction: Instruction, rule: str, text: str) -> None:
        """Refuse an unreadable control or command; controls of connections concern no session."""
        row = instruction.row
        if row is not None and row.class_name == "connection":
            self.current = None
        self.refuse("connection/grammar" if self.phase in BEFORE_OPEN else rule, text)

    # --- commands

    def _on_command(self, channel: Channel, segments: Segments) -> None:
        if self.phase is Phase.CLOSING:
            return
        session = channel.session
        if session is None:
            self.refuse("session/attachment/commands", "a command on a channel without a session")
            return
        if not session.pointed:
            self.refuse("session/command-point/before-commands", "a command before command-point")
            session.pointed, session.next_in = True, session.next_in or 0
        order = self._command(session, segments)
        if order is not None:
            execute(session, order)

    def _command(self, session: Session, segments: Segments) -> Order | None:
        instruction = decode_instruction(COMMAND, segments[0][1])
        number = session.number()
        if session.knows(number):
            if instruction.sync:
                session.tell_completed()
            return None
        if instruction.row is not None:
            session.order = Order(instruction.row, instruction.args, instruction.sync, number)
        order = self._read(instruction)
        if order is None:
            return None
        order.id = number
        session.order = order
        return order if self._with_segments(order, segments[1:]) else None

    def _with_segments(self, order: Order, segments: Segments) -> bool:
        """Add a segment after the command; returns whether the command may be carried out."""
        assert isinstance(order.row, Command)
        wanted = order.row.segments
        kinds = [kind for kind, _ in segments]
        if kinds not in ([], [HEADER], [BODY], [HEADER, BODY]) or (kinds and wanted is None):
            self.refuse("encoding/segments/unexpected", f"segments of types {kinds} behind {order.name}")
            return False
        found: dict[int, bytes] = dict(segments)
        order.body = found.get(BODY)
        if HEADER in found:
            return self._with_header(order, found[HEADER])
        if wanted is not None and wanted.header_required:
            self.refuse("encoding/segments/required-header", f"{order.name} without a header segment")
        return True

    def _with_header(self, order: Order, octets: bytes) -> bool:
        order.header_octets = octets
        try:
            order.header = decode_header(octets)
        except WireError as error:
            self.refuse(_rule_of(error), str(error))
            return False
        if self.faulty("structs-read-in-one-order") and isinstance(order.header[0], Packed):
            order.header = order.header if order.header[0].name == "message.delivery-properties" else ()
        if self.faulty("unknown-types-end-the-connection") and _has_unknown_types(order):
            self.close(FRAMING_ERROR, "unknown type")
            return False
        headers = order.struct("message.message-properties").get("application_headers")
        if isinstance(headers, Map) and headers.repeated:
            self.refuse("map/distinct-keys", f"key {headers.repeated[0]!r} stands twice")
        names = [entry.name if isinstance(entry, Packed) else entry.code for entry in order.header]
        if len(set(names)) < len(names):
            self.refuse("encoding/header-segment/one-of-each", f"{order.name} with a struct twice")
        return True


def _rule_of(error: WireError) -> str:
    """The row that malformed octets violate."""
    where, text = error.where, str(error)
    if "packing flags" in where and "left" not in text:
        return "encoding/packing/reserved-flags"
    if "expected a type code" in text:
        return "encoding/type-codes/reserved"
    if any(word in where for word in ("map", "list", "array", "entries")):
        return "encoding/map/malformed"
    return "encoding/command/trailing" if "more" in text else "encoding/command/truncated"


def _has_unknown_types(order: Order) -> bool:
    headers = order.struct("message.message-properties").get("application_headers") or ()
    return any(isinstance(value.type, int) for _, value in headers)


FAULTS = fault_table("""
own-header-not-sent: the broker sends start without a header before it
    [transport/protocol-header/first transport/negotiation/supported]
broken-commands-carried-out-in-part: the readable part of a broken command is executed
    [encoding/command/truncated]
bits-not-read: bits among the arguments are read as unset [type/bit]
structs-read-in-one-order: header structs before the delivery properties hide them
    [encoding/header-segment/any-order]
unknown-types-end-the-connection: a map with a value of an unknown type closes the connection
    [encoding/type-codes/skipping]
controls-refused-when-they-come-again: a repeated control closes the connection
    [session-layer/controls/idempotence]
controls-answered-after-close: after its own close, the broker answers controls as before [connection/close-ok]
large-assemblies-refused: a segment of more than a megaoctet closes the connection [transport/assemblies/no-limit]
controls-overtake-commands: controls in one read are handled before commands [transport/tracks/order]
control-ends-command-under-way: a control discards the command in progress
    [transport/tracks/control-within-command]
frames-of-channels-mixed: frames of all channels are assembled as if they arrived on one
    [transport/channels/interleaved]
""")
