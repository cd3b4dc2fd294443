"""What a hostile server of AMQP 0-9-1 sends, and how a client's answer to it is read.

Knows: frames that break one rule each. Must not know: triggers, scenarios.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.run.case import case
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import answers_violation
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.hostility import Act, Deed, Hostility
from amqpspec.wire.methods.codec import ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, encode_frame

DIALECT_ID = "rabbitmq-0-9-1"
_CODEC = codec_for(DIALECT_ID)
_LAYOUT = _CODEC.dialect.layout
_TYPES = _LAYOUT.types
_DEPTH = 20_000
_ENDLESS_OCTETS = 256 << 20


# --- octets


def channel_of(frame: bytes) -> int:
    """The channel that a frame came on; 1 for the connection's own."""
    return int.from_bytes(frame[1:3], "big") or 1


def frame_of(kind: str | int, payload: bytes, channel: int) -> bytes:
    """A frame."""
    code = kind if isinstance(kind, int) else _TYPES[kind]
    return encode_frame(_LAYOUT, Frame(code, channel, payload))


def method(name: str, channel: int, **args: Any) -> bytes:
    """A method frame."""
    return frame_of("method", _CODEC.encode_method(name, args), channel)


def header(channel: int, size: int, class_id: int = 60, weight: int = 0) -> bytes:
    """A content header."""
    payload = _CODEC.encode_header(ContentHeader(class_id, size, {}, weight))
    return frame_of("header", payload, channel)


def delivery(channel: int, tag: str = "agent", number: int = 100) -> bytes:
    """A deliver without its content."""
    return method("basic.deliver", channel, consumer_tag=tag, delivery_tag=number, routing_key="x")


def instead(octets: Callable[[bytes], bytes]) -> Deed:
    """Other octets in place of a frame."""
    return lambda frame: [octets(frame)]


def behind(octets: Callable[[int], bytes]) -> Deed:
    """The frame, and octets behind it on its channel."""
    return lambda frame: [frame + octets(channel_of(frame))]


def acting(act: Act) -> Deed:
    """Nothing of the frame, but an act."""
    return lambda _: [act]


def payload_changed(change: Callable[[bytes], bytes]) -> Deed:
    """The frame with another payload, its size adjusted."""

    def deed(frame: bytes) -> Iterable[bytes]:
        payload = change(frame[7:-1])
        return [frame_of(frame[0], payload, int.from_bytes(frame[1:3], "big"))]

    return deed


def lying_size(announced: int, octets: int = 70_000) -> Deed:
    """The frame, and behind it one that announces so many octets."""
    return behind(lambda channel: struct.pack(">BHI", 1, channel, announced) + bytes(octets))


def endless_body(channel: int) -> Iterable[bytes]:
    """A delivery with a body that goes on and on."""
    yield delivery(channel) + header(channel, 1 << 40)
    body = frame_of("body", bytes(65_536), channel)
    for _ in range(_ENDLESS_OCTETS // len(body)):
        yield body


def deep_table(levels: int = _DEPTH) -> bytes:
    """A table in a table in a table."""
    lengths = [7 * level for level in range(levels, 0, -1)]
    return b"".join(struct.pack(">I", n) + b"\x01aF" for n in lengths) + struct.pack(">I", 0)


def start(
    version: tuple[int, int] = (0, 9), mechanisms: bytes = b"PLAIN", properties: bytes | None = None
) -> bytes:
    """A connection.start; ``properties`` are octets in place of an empty table."""
    table = struct.pack(">I", 0) if properties is None else properties
    strings = b"".join(struct.pack(">I", len(s)) + s for s in (mechanisms, b"en_US"))
    return frame_of("method", struct.pack(">HHBB", 10, 10, *version) + table + strings, 0)


# --- judging


def refusal_by(conversation: Conversation, ran: Ran, *, leaving: bool = False) -> Refusal | None:
    """How the client refused what the server did; None where it went on as if nothing had happened.

    An end that the harness made, because time or memory was used up, is none of the client's. A close with 200 is a
    refusal only where the application learned of something. ``leaving``: start-ok is going on, too.
    """
    learned = ran.application is Application.REPORTED
    begun_ns = conversation.talk.hostile_ns or 0
    for said in conversation.by_client("connection.close", "channel.close"):
        if said.at_ns < begun_ns:
            continue
        scope = Scope.CONNECTION if said.name.startswith("connection") else Scope.CHANNEL
        code = said.what["reply_code"]
        if code != 200 or (learned and scope is Scope.CONNECTION):
            return Refusal(scope, code)
    if _outlived(conversation) or (leaving and _logged_in(conversation)):
        return None
    ended = bool(conversation.talk.ended) and ran.application in (Application.REPORTED, Application.CRASH)
    return Refusal(Scope.SOCKET) if ended else None


def _logged_in(conversation: Conversation) -> bool:
    """Whether the client answered the start that it had to leave for."""
    begun_ns = conversation.talk.hostile_ns or 0
    return any(s.at_ns >= begun_ns for s in conversation.by_client("connection.start-ok"))


def _outlived(conversation: Conversation) -> bool:
    """Whether a client stayed for more than four intervals with a server that says nothing; two are the limit.

    One more for the interval in which the silence began, and one for a clock that looks once an interval.
    """
    talk = conversation.talk
    agreed_s = next((s.what["heartbeat"] for s in conversation.by_client("connection.tune-ok")), 0)
    if not talk.is_silenced or not agreed_s or talk.hostile_ns is None or talk.ended_ns is None:
        return False
    return (talk.ended_ns - talk.hostile_ns) / 1e9 > 4 * agreed_s


def hostile(
    where: dict[str, Any], id: str, row: str, after: str, scenario: str, deed: Deed, title: str
) -> None:
    """Declare a case in a module: after a frame of the server, the deed; judged by the row."""
    leaving = row in ("connection/start/client-support", "violated/mechanism")

    def body(client: Client) -> Verdict:
        met = client.against(Hostility(after, deed), scenario)
        dialect = load_dialect(DIALECT_ID)
        return answers_violation(client, met, lambda c: refusal_by(c, met.ran, leaving=leaving), dialect)

    body.__doc__ = title
    body.__module__ = where["__name__"]
    where[f"case_{id}"] = case(id, covers=[row])(body)
