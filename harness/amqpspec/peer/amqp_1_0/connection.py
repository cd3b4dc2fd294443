"""One connection of AMQP 1.0, below the vocabulary of cases: frames sent and received, state, automatic answers.

Knows: what was sent and what arrived on it. Must not know: sockets, verdicts, which case is running.

If it is ``polite`` (the default), it answers the target's close, end and detach once. With ``keeps_alive``, it sends
empty frames within the target's idle-time-out whenever the case waits, on this connection or another one.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.booking import Books
from amqpspec.peer.amqp_1_0.books import FrameArrived, Session, number
from amqpspec.peer.amqp_1_0.frames import MAX_FRAME_OCTETS, WIRE_OPTIONS, filled
from amqpspec.peer.amqp_1_0.listening import Listener
from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Quiet
from amqpspec.peer.line import Line
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.typed import TypedDialect
from amqpspec.wire.amqp_1_0.counting import with_next_incoming_id
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, HEADERS, encode_frame, performative_frame
from amqpspec.wire.amqp_1_0.problems import Problem
from amqpspec.wire.amqp_1_0.values import Value

NO_LIMIT = (1 << 32) - 1
_SHARE_OF_IDLE = 0.4
_NEVER_S = float("inf")


class Connection(Line):
    """Frames to and from the target."""

    dialect: TypedDialect

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        dialect = load_dialect(context.dialect)
        assert isinstance(dialect, TypedDialect)
        self.listener = Listener()
        super().__init__(context, dialect, self.listener, lines)
        self.books = Books()
        self.keeps_alive = True
        self.container_id = context.name("container")
        self._last_sent_s = 0.0
        self._whole = False

    # --- state

    @property
    def opened(self) -> FrameArrived | None:
        """The target's open."""
        return self.books.opened

    @property
    def closed_by(self) -> FrameArrived | None:
        """The target's close."""
        return self.books.closed_by

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or announced its end."""
        return self.ended is not None or self.closed_by is not None

    @property
    def hostname(self) -> str | None:
        """The hostname in open: the virtual host, None for the default one."""
        name = self.login.vhost
        return None if name in ("", "/") else self.context.nodes.hostname.replace("{name}", name)

    @property
    def max_frame_octets(self) -> int:
        """The largest frame that the target accepts; before its open, the minimum."""
        if self.opened is None:
            return self.dialect.layout.min_max_frame_size
        return number(self.opened["max_frame_size"], NO_LIMIT)

    @property
    def channel_max(self) -> int:
        """The highest channel number that the target accepts; 0 before its open."""
        return 0 if self.opened is None else number(self.opened["channel_max"], 0)

    @property
    def idle_timeout_ms(self) -> int:
        """The target's idle timeout; 0 for none."""
        return 0 if self.opened is None else number(self.opened["idle_time_out"], 0)

    @property
    def problems(self) -> list[Problem]:
        """Errors in the values of the target's frames."""
        return self.listener.problems

    @property
    def largest_frame_octets(self) -> int:
        """The size of the target's largest frame; set it to 0 to measure again."""
        return self.listener.largest_frame_octets

    @largest_frame_octets.setter
    def largest_frame_octets(self, octets: int) -> None:
        self.listener.largest_frame_octets = octets

    def session(self, channel: int = 0) -> Session:
        """The state of the session that was begun last on a channel; raises LookupError if there is none."""
        if channel not in self.books.sessions:
            raise LookupError(f"channel {channel}: expected a begin that was sent, actual: none")
        return self.books.sessions[channel]

    # --- sending

    def send_octets(self, octets: bytes) -> bool:
        """Send octets unchanged; False if the target no longer accepts them."""
        self._whole = _are_frames(octets)
        return self._write(octets)

    def _write(self, octets: bytes) -> bool:
        took = self.transport.send(octets)
        self._last_sent_s = self.now()
        return took

    def _write_whole(self, octets: bytes) -> None:
        self._write(octets)
        self._whole = True

    def send_header(self, octets: bytes | str | None = None) -> None:
        """Send a protocol header: ``amqp``, ``tls``, ``sasl`` by name, or any octets; AMQP by default."""
        self._write_whole(HEADERS[octets or "amqp"] if octets is None or isinstance(octets, str) else octets)

    def send_empty(self) -> None:
        """Send a frame without a body."""
        self._write_whole(EMPTY_FRAME)

    def send_frame(
        self,
        body: bytes = b"",
        channel: int = 0,
        *,
        frame_type: int = 0,
        size: int | None = None,
        doff: int | None = None,
        extended: bytes = b"",
    ) -> None:
        """Send one frame with any body, legal or not; ``size`` and ``doff`` may be wrong."""
        self.send_octets(encode_frame(body, channel, frame_type, size=size, doff=doff, extended=extended))

    def counted(self, octets: bytes, channel: int = 0) -> bytes:
        """Octets whose flows have the session's next-incoming-id in place of 0; unchanged if there is no session."""
        session = self.books.sessions.get(channel)
        return octets if session is None else with_next_incoming_id(octets, session.next_incoming_id or 0)

    def exact(self, name: str, /, channel: int = 0, *, payload: bytes = b"", **fields: Any) -> bytes:
        """A performative as a frame with exactly these fields: no defaults, no change of state."""
        return performative_frame(name, channel, payload=payload, **fields)

    def frame(self, name: str, /, channel: int = 0, *, payload: bytes = b"", **fields: Any) -> bytes:
        """A performative as a frame that will be sent: defaults are added, and the state is updated."""
        options = {key: fields.pop(key) for key in WIRE_OPTIONS & fields.keys()}
        if name == "open":
            fields = self._open_fields(fields)
        if name == "attach" and "name" not in fields:
            fields["name"] = self.name("link")
        fields = filled(name, channel, fields, self.books)
        octets = performative_frame(name, channel, payload=payload, **options, **fields)
        self.books.sent(name, channel, fields)
        if name == "open":
            announced = fields.get("max_frame_size")
            announced = announced.value if isinstance(announced, Value) else announced
            self.listener.agree(announced if isinstance(announced, int) else None)
        return octets

    def send(self, name: str, /, channel: int = 0, *, payload: bytes = b"", **fields: Any) -> None:
        """Send a performative without waiting."""
        self._write_whole(self.frame(name, channel, payload=payload, **fields))

    def _open_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        usual = {"container_id": self.container_id, "max_frame_size": MAX_FRAME_OCTETS}
        if self.hostname is not None:
            usual["hostname"] = self.hostname
        return {**usual, **fields}

    # --- receiving

    def noted(self, arrival: Arrival) -> Arrival:
        """Record an arrival; answer the target's close, end and detach if polite."""
        if not isinstance(arrival, FrameArrived):
            return arrival
        arrival = self.books.received(arrival)
        if self.polite and arrival.name in ("close", "end", "detach"):
            self._answer(arrival)
        return arrival

    def _answer(self, arrival: FrameArrived) -> None:
        """Answer once, unless the case has sent the same performative already."""
        if arrival.name == "close":
            if self.books.open_sent and not self.books.close_sent:
                self.send("close")
            return
        session = self.books.sessions.get(-1 if arrival.channel is None else arrival.channel)
        if session is None or session.end_sent or self.books.close_sent:
            return
        if arrival.name == "end":
            self.send("end", session.channel)
        elif arrival.link is not None and not arrival.link.detach_sent:
            closed = arrival["closed"] is True
            self.send("detach", session.channel, handle=arrival.link.handle, closed=closed)
            arrival.link.detach_sent = True

    def closes(self, arrival: Arrival) -> bool:
        """Whether it is the target's close."""
        return isinstance(arrival, FrameArrived) and arrival.name == "close"

    # --- keep-alive

    def read(self, until_s: float) -> Arrival:
        """The next arrival in the order of the wire; meanwhile, keep-alive frames are sent."""
        started_s = self.now()
        while True:
            arrival = super().read(min(until_s, *(line._beat_s() for line in self._kept)))
            self._beat()
            if not isinstance(arrival, Quiet):
                return arrival
            if self.now() >= until_s:
                return Quiet(until_s - started_s)

    @property
    def _kept(self) -> list[Connection]:
        """All connections of the case: while it waits on one, the others must not exceed their idle timeout."""
        return [self, *(line for line in self.lines if isinstance(line, Connection) and line is not self)]

    def _beat(self) -> None:
        for line in self._kept:
            if self.now() >= line._beat_s():
                line.send_empty()

    def hang_up(self) -> None:
        """Close the socket silently; nothing more is sent."""
        self.keeps_alive = False
        super().hang_up()

    def _beat_s(self) -> float:
        """When an empty frame is due."""
        due = self.keeps_alive and self._whole and not self.books.close_sent and not self.is_over()
        if not due or not self.idle_timeout_ms:
            return _NEVER_S
        return self._last_sent_s + _SHARE_OF_IDLE * self.idle_timeout_ms / 1000


def _are_frames(octets: bytes) -> bool:
    """Whether octets are whole frames, so that an empty frame may follow them."""
    at = 0
    while at + 8 <= len(octets):
        size = int.from_bytes(octets[at : at + 4], "big")
        if size < 8:
            return False
        at += size
    return at == len(octets)
