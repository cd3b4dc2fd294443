"""A client of few words for conversations with a reference broker over a real socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.reference.methods.wire import served_codec
from amqpspec.spec.methods import load_methods
from amqpspec.wire.methods.codec import Call, ContentHeader
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter
from tests.reference.line import Line

PLAIN = b"\0guest\0guest"
METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8


class Talk(Line):
    """One connection: sends methods, receives methods and contents."""

    def __init__(self, url: str, dialect: str = "amqp-0-9-1") -> None:
        super().__init__(url, FrameReader(load_methods(dialect).layout))
        self.codec = served_codec(dialect)
        self.dialect = load_methods(dialect)
        self._writer = FrameWriter(self.dialect.layout)

    # --- saying

    def method(self, name: str, channel: int = 1, /, **args: Any) -> bytes:
        return self._writer.frame(METHOD, channel, self.codec.encode_method(name, args))

    def say(self, name: str, channel: int = 1, /, **args: Any) -> None:
        self.octets(self.method(name, channel, **args))

    def content(self, body: bytes, channel: int = 1, properties: Mapping[str, Any] | None = None) -> bytes:
        header = self.codec.encode_header(ContentHeader(60, len(body), properties or {}))
        frames = self._writer.frame(HEADER, channel, header)
        return frames + (self._writer.frame(BODY, channel, body) if body else b"")

    def publish(
        self,
        exchange: str,
        routing_key: str,
        body: bytes = b"",
        channel: int = 1,
        properties: Mapping[str, Any] | None = None,
        **flags: Any,
    ) -> None:
        method = self.method("basic.publish", channel, exchange=exchange, routing_key=routing_key, **flags)
        self.octets(method + self.content(body, channel, properties))

    # --- hearing

    def hear(self, *names: str) -> Call:
        """The next method, which has to be one of these; heartbeats are passed over."""
        while True:
            frame = self.next()
            if isinstance(frame, Frame) and frame.type == HEARTBEAT:
                continue
            assert isinstance(frame, Frame) and frame.type == METHOD, f"expected {names}, actual {frame}"
            call = self.codec.decode_method(frame.payload)
            assert not names or call.name in names, f"expected {names}, actual {call.describe()}"
            return call

    def hear_content(self) -> tuple[ContentHeader, bytes]:
        """The content that follows the method just received."""
        frame = self.next()
        assert isinstance(frame, Frame) and frame.type == HEADER
        header = self.codec.decode_header(frame.payload)
        body = b""
        while len(body) < header.body_size_octets:
            frame = self.next()
            assert isinstance(frame, Frame) and frame.type == BODY
            body += frame.payload
        return header, body

    def ask(self, name: str, channel: int = 1, /, **args: Any) -> Call:
        """Say a method and hear one of its replies."""
        self.say(name, channel, **args)
        return self.hear(*self.codec.dialect.methods[name].replies)

    def get(self, queue: str, channel: int = 1, **args: Any) -> tuple[Call, bytes] | None:
        """A message, if there is one."""
        call = self.ask("basic.get", channel, queue=queue, **args)
        return (call, self.hear_content()[1]) if call.name == "basic.get-ok" else None

    def delivery(self) -> tuple[Call, bytes]:
        """The next delivery."""
        return self.hear("basic.deliver"), self.hear_content()[1]

    def silent(self, channel: int = 1) -> None:
        """Nothing more has been sent on this connection: the next method answers our question."""
        self.ask("channel.flow", channel, active=True)

    # --- the usual

    def handshake(self, **options: Any) -> None:
        """From the header to open-ok."""
        self.octets(self.dialect.protocol_header)
        self.hear("connection.start")
        self.start_ok(options)
        tune = self.hear("connection.tune")
        limits = {key: options.get(key, tune[key]) for key in ("channel_max", "frame_max")}
        self.say("connection.tune-ok", 0, **limits, heartbeat=options.get("heartbeat", 0))
        self.ask("connection.open", 0, virtual_host=options.get("vhost", "/"))

    def start_ok(self, options: Mapping[str, Any]) -> None:
        self.say(
            "connection.start-ok",
            0,
            client_properties=options.get(
                "client_properties", {"capabilities": options.get("capabilities", {})}
            ),
            mechanism=options.get("mechanism", "PLAIN"),
            response=options.get("response", PLAIN),
            locale="en_US",
        )

    def ready(self, **options: Any) -> Talk:
        """Handshake, and channel 1."""
        self.handshake(**options)
        self.ask("channel.open")
        return self


def ready(url: str, dialect: str = "amqp-0-9-1", **options: Any) -> Talk:
    """A connection with channel 1 open."""
    return Talk(url, dialect).ready(**options)


def closed(talk: Talk, scope: str, code: int, after: str) -> None:
    """The broker closes the channel or the connection, naming the method that failed."""
    call = talk.hear(f"{scope}.close")
    method = talk.codec.dialect.methods[after]
    assert (call["reply_code"], call["class_id"], call["method_id"]) == (
        code,
        method.class_id,
        method.method_id,
    )
