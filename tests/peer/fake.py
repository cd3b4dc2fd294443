"""A target in memory: what it says is written down beforehand, time is a number that waiting moves on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amqpspec.peer.context import Context, Login, Patience
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.dialects import load_ledger
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Call, Codec, ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, encode_frame
from amqpspec.wire.transport import StreamEnd, StreamEnded

CODEC: Codec = codec_for("rabbitmq-0-9-1")
LAYOUT = CODEC.dialect.layout
PATIENCE = Patience(reply_s=5.0, quiet_s=0.5, ending_s=10.0)
Said = bytes | StreamEnd | Exception | None


class FakeTransport:
    """Hands out a script: octets, silence until the time is over (None), or the end of the stream."""

    def __init__(self, *script: Said) -> None:
        self.script: deque[Said] = deque(script)
        self.sent = bytearray()
        self.notes: list[str] = []
        self.clock_s = 0.0
        self.closed = self.half_closed = False
        self.takes = True

    def now(self) -> float:
        return self.clock_s

    def note(self, text: str) -> None:
        self.notes.append(text)

    def send(self, octets: bytes) -> bool:
        self.sent += octets
        return self.takes

    def receive(self, until_s: float) -> bytes:
        said = self.script.popleft() if self.script else None
        if isinstance(said, StreamEnd):
            raise StreamEnded(said)
        if isinstance(said, Exception):
            raise said
        if said is None:
            self.clock_s = max(self.clock_s, until_s)
            return b""
        self.clock_s += 0.001
        return said

    def half_close(self, last: bytes = b"") -> None:
        self.sent += last
        self.half_closed = True

    def close(self) -> None:
        self.closed = True

    def heard(self) -> list[Call | Frame | ProtocolHeader]:
        """What was sent to the target, decoded."""
        reader = FrameReader(LAYOUT, name="client→server")
        reader.feed(bytes(self.sent))
        items: list[Call | Frame | ProtocolHeader] = []
        while (item := reader.next()) is not None:
            method = isinstance(item, Frame) and item.type == LAYOUT.types["method"]
            items.append(CODEC.decode_method(item.payload) if method and isinstance(item, Frame) else item)
        return items

    def names(self) -> list[str]:
        """The methods that were sent, by name."""
        return [item.name for item in self.heard() if isinstance(item, Call)]


def frame(kind: str | int, payload: bytes, channel: int = 1) -> bytes:
    code = kind if isinstance(kind, int) else LAYOUT.types[kind]
    return encode_frame(LAYOUT, Frame(code, channel, payload))


def method(name: str, channel: int = 1, /, **args: Any) -> bytes:
    return frame("method", CODEC.encode_method(name, args), channel)


def header(size_octets: int, channel: int = 1, class_id: int = 60, **properties: Any) -> bytes:
    return frame("header", CODEC.encode_header(ContentHeader(class_id, size_octets, properties)), channel)


def body(octets: bytes, channel: int = 1) -> bytes:
    return frame("body", octets, channel)


def deliver(octets: bytes, channel: int = 1, **properties: Any) -> bytes:
    """A whole delivery."""
    start = method("basic.deliver", channel, consumer_tag="c", delivery_tag=1, exchange="", routing_key="q")
    return start + header(len(octets), channel, **properties) + (body(octets, channel) if octets else b"")


def closing(scope: str, code: int, text: str = "no", channel: int | None = None) -> bytes:
    number = (0 if scope == "connection" else 1) if channel is None else channel
    return method(f"{scope}.close", number, reply_code=code, reply_text=text, class_id=0, method_id=0)


HEARTBEAT = frame("heartbeat", b"", 0)
BARRIER = method("exchange.declare-ok")
START = method(
    "connection.start",
    0,
    version_major=0,
    version_minor=9,
    server_properties={"product": "fake", "capabilities": {"basic.nack": True}},
    mechanisms=b"PLAIN",
    locales=b"en_US",
)
TUNE = method("connection.tune", 0, channel_max=2047, frame_max=131_072, heartbeat=60)
OPENED = START + TUNE + method("connection.open-ok", 0)


def peer(*script: Said, rows: tuple[str, ...] = (), **facts: Any) -> tuple[Peer, FakeTransport]:
    """A peer whose target speaks a script."""
    transport = FakeTransport(*script)
    return Peer(context(transport, rows=rows, **facts)), transport


def context(*transports: FakeTransport, rows: tuple[str, ...] = (), **facts: Any) -> Context:
    """A world with these connections to come, in order."""
    coming = deque(transports)

    def dial() -> FakeTransport:
        if not coming:
            raise StreamEnded(StreamEnd.REFUSED)
        return coming.popleft()

    ledger = load_ledger("amqp-0-9-1")
    made = Context(CODEC.dialect.id, tuple(ledger[row] for row in rows), dial, patience=PATIENCE)
    return replace(made, **facts)


def login(**facts: str) -> Mapping[str, Login]:
    return {"second": Login("ann", "pass", **facts)}
