"""Legal refusals in place of a broker's n-th answer: at each scope, with and without a reason, and bare ends.

A refusal is sent to the case; the broker continues as if nothing had happened, and what it still says about what is
over is kept from the case, as the refusal means it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.reference.memory import ClientEnd
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.amqp_1_0.frames import RawReader, TypedFrame, decode_frame, performative_frame
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, encode_frame
from amqpspec.wire.transport import StreamEnd

FIN, RST = "fin", "rst"
_GONE_S = 1.0


@dataclass
class Plan:
    """At which answer of all connections of a case which refusal comes; ``steps`` are the answers there were."""

    kind: str = ""
    at: int = -1
    steps: list[tuple[str, ...]] = field(default_factory=list)

    def next(self, kinds: tuple[str, ...]) -> str:
        """The refusal that is due at an answer to which these are legal; empty for none."""
        self.steps.append(kinds)
        due = self.at == len(self.steps) - 1 and self.kind in kinds
        return self.kind if due else ""


class Refusing(Protocol):
    """A meddler that follows a plan."""

    def __init__(self, dialect: str, plan: Plan) -> None: ...

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes: ...

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes: ...


class _Base:
    """What both families share: bare ends, and a connection that is over."""

    def __init__(self, dialect: str, plan: Plan) -> None:
        self.plan = plan
        self.over = False

    def ends(self, kind: str, end: ClientEnd) -> bool:
        """Whether it was a bare end."""
        if kind in (FIN, RST):
            self.over = True
            end.loop.call_soon(end.end, StreamEnd.FIN if kind == FIN else StreamEnd.RST)
        return self.over

    def closes(self, end: ClientEnd) -> None:
        """Nothing is read any more; the stream ends soon."""
        self.over = True
        end.loop.call_later(_GONE_S, end.end, StreamEnd.FIN)

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes:
        return b"" if self.over else octets


# --- AMQP 1.0

_CONDITIONS = (
    "amqp:not-implemented", "amqp:not-allowed", "amqp:resource-limit-exceeded", "amqp:internal-error",
    "amqp:unauthorized-access", "amqp:not-found",
)  # fmt: skip
_OF_LINKS = ("detach", "detach-open", "detach-bare")
_OF_SESSIONS = ("end", "end-bare")
_OF_CONNECTIONS = ("close", "close-bare", FIN, RST)


class TypedRefusing(_Base):
    """AMQP 1.0."""

    def __init__(self, dialect: str, plan: Plan) -> None:
        super().__init__(dialect, plan)
        self._reader = RawReader(name="server→client", max_frame_octets=1 << 24)
        self._ended: set[int] = set()
        self._gone: set[tuple[int, int]] = set()
        self._handles: dict[int, int] = {}

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        self._reader.feed(octets)
        out = b""
        while not self.over and (item := self._reader.next()) is not None:
            if isinstance(item, ProtocolHeader):
                kind = self.plan.next((FIN, RST))
                out += b"" if self.ends(kind, end) else item.octets
            else:
                out += self._frame(decode_frame(item), end)
        return out

    def _frame(self, frame: TypedFrame, end: ClientEnd) -> bytes:
        if self._is_past(frame):
            return b""
        if frame.name == "attach" and frame.performative is not None:
            self._handles[frame.channel] = frame.performative["handle"]
        kind = self.plan.next(self._legal(frame))
        if not kind:
            return frame.octets
        return b"" if self.ends(kind, end) else self._refusal(kind, frame, end)

    def _is_past(self, frame: TypedFrame) -> bool:
        """Whether the frame is of a session or link that was refused."""
        handle = None if frame.performative is None else frame.performative.get("handle")
        if frame.name == "begin":
            self._ended.discard(frame.channel)
        elif frame.name == "attach":
            self._gone.discard((frame.channel, handle))
        past = frame.channel in self._ended or (frame.channel, handle) in self._gone
        if frame.name == "end":
            self._ended.discard(frame.channel)
            self._gone = {key for key in self._gone if key[0] != frame.channel}
        elif frame.name == "detach":
            self._gone.discard((frame.channel, handle))
        return past

    def _legal(self, frame: TypedFrame) -> tuple[str, ...]:
        name = frame.name
        if name.startswith("sasl-"):
            return ("sasl-outcome", FIN, RST) if name == "sasl-outcome" else (FIN, RST)
        if name in ("open", "close", "empty"):
            return _OF_CONNECTIONS if name != "close" else (FIN, RST)
        if name in ("begin", "end"):
            return (*_OF_SESSIONS, *_OF_CONNECTIONS) if name == "begin" else _OF_CONNECTIONS
        links = _OF_LINKS if frame.channel in self._handles and name != "detach" else ()
        return (*links, *(("unattached",) if name == "attach" else ()), *_OF_SESSIONS, *_OF_CONNECTIONS)

    def _refusal(self, kind: str, frame: TypedFrame, end: ClientEnd) -> bytes:
        if kind == "sasl-outcome":
            self.closes(end)
            return performative_frame("sasl-outcome", code=1)
        scope, _, how = kind.partition("-")
        error: dict[str, Any] = {} if how == "bare" else {"error": {"condition": self._condition()}}
        if scope == "close":
            self.closes(end)
            return (frame.octets if frame.name == "open" else b"") + performative_frame("close", **error)
        if scope == "end":
            self._ended.add(frame.channel)
            before = frame.octets if frame.name == "begin" else b""
            return before + performative_frame("end", frame.channel, **error)
        return self._detached(kind, frame, error)

    def _detached(self, kind: str, frame: TypedFrame, error: Mapping[str, Any]) -> bytes:
        held = frame.performative
        handle = self._handles[frame.channel]
        if held is not None and isinstance(held.get("handle"), int):
            handle = held["handle"]
        self._gone.add((frame.channel, handle))
        before = frame.octets if frame.name == "attach" else b""
        if kind == "unattached" and held is not None:
            own = "target" if held["role"] is True else "source"
            fields = {key: held[key] for key in held.given if key != own}
            before = performative_frame("attach", frame.channel, **fields)
        closed: dict[str, Any] = {} if kind == "detach-open" else {"closed": True}
        return before + performative_frame("detach", frame.channel, handle=handle, **closed, **error)

    def _condition(self) -> str:
        return _CONDITIONS[self.plan.at % len(_CONDITIONS)]


# --- the 0-9 family

_CHANNEL_CODES, _CONNECTION_CODES = (404, 406, 403, 405), (540, 541, 530, 320)


class MethodRefusing(_Base):
    """0-9-1 and its kin."""

    def __init__(self, dialect: str, plan: Plan) -> None:
        super().__init__(dialect, plan)
        tables = load_dialect(dialect)
        assert isinstance(tables, MethodDialect)
        self._codec, self._layout = codec_for(dialect), tables.layout
        self._reader = FrameReader(self._layout, name="server→client", max_payload_octets=1 << 24)
        self._closed: set[int] = set()
        self._owed: list[bytes] = []

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        self._reader.feed(octets)
        out = b""
        while not self.over and (item := self._reader.next()) is not None:
            if isinstance(item, ProtocolHeader):
                out += b"" if self.ends(self.plan.next((FIN, RST)), end) else item.octets
            else:
                out += self._frame(item, end)
        return out

    def _frame(self, frame: Frame, end: ClientEnd) -> bytes:
        name = self._name(frame)
        if frame.channel in self._closed:
            if name == "channel.close-ok":
                self._closed.discard(frame.channel)
            return b""
        kind = self.plan.next(self._legal(frame, name))
        if not kind:
            return encode_frame(self._layout, frame)
        return b"" if self.ends(kind, end) else self._refusal(kind, frame, end)

    def _name(self, frame: Frame) -> str:
        is_method = frame.type == self._layout.types["method"]
        return self._codec.decode_method(frame.payload).name if is_method else ""

    def _legal(self, frame: Frame, name: str) -> tuple[str, ...]:
        over = name in ("connection.close", "connection.close-ok")
        closes = () if over or name == "connection.start" else ("connection.close",)
        channel = (
            ("channel.close",) if frame.channel and name not in ("channel.close", "channel.close-ok") else ()
        )
        return (*channel, *closes, FIN, RST)

    def _refusal(self, kind: str, frame: Frame, end: ClientEnd) -> bytes:
        if kind == "connection.close":
            self.closes(end)
            return self._close(kind, 0, _CONNECTION_CODES)
        self._closed.add(frame.channel)
        # The broker gives the channel up, too, so that the number is free on both sides.
        end.tell_broker(self._close(kind, frame.channel, _CHANNEL_CODES))
        self._owed.append(self._method("channel.close-ok", frame.channel))
        return self._close(kind, frame.channel, _CHANNEL_CODES)

    def _close(self, name: str, channel: int, codes: tuple[int, ...]) -> bytes:
        code = codes[self.plan.at % len(codes)]
        return self._method(name, channel, reply_code=code, reply_text="no", class_id=0, method_id=0)

    def _method(self, name: str, channel: int, **args: Any) -> bytes:
        payload = self._codec.encode_method(name, args)
        return encode_frame(self._layout, Frame(self._layout.types["method"], channel, payload))

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes:
        for answer in tuple(self._owed):
            if answer in octets:
                octets = octets.replace(answer, b"", 1)
                self._owed.remove(answer)
        return super().from_case(octets, end)


FAMILIES: Mapping[str, Callable[[str, Plan], Any]] = {
    "amqp-0-9-1": MethodRefusing,
    "amqp-wire-9-1": MethodRefusing,
    "amqp-1-0": TypedRefusing,
}
