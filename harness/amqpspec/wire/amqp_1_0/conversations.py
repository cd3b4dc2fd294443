"""Conversations of AMQP 1.0: the octets of a client and a server as protocol headers and performatives.

Knows: frames, performatives, which frames a server's octets are made of. Must not know: who is judged, or by what.
"""

from __future__ import annotations

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.describe import describe_frame
from amqpspec.wire.amqp_1_0.frames import (
    RawFrame,
    RawReader,
    TypedFrame,
    TypedReader,
    decode_frame,
    header_id,
)
from amqpspec.wire.conversation import Conversation, Cutter, Talk
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.ways import GARBLED, MAX_FRAME_OCTETS, Content, FrameCutter, read_conversation

HOST_PREFIX = "vhost:"
"""What the hostname of a virtual host begins with on some servers."""


class TypedReading:
    """How AMQP 1.0 is read; see ``amqpspec.wire.conversation.Reading``.

    ``Said.name`` is the performative, ``amqp-header``, ``sasl-header``, ``tls-header`` or ``header`` for a protocol
    header, ``empty`` for a frame without a body, ``type-N`` for a frame of an undefined type; ``Said.what`` is the
    ``TypedFrame`` or the ``ProtocolHeader``.
    """

    greetings = tuple(HEADERS.values())
    before_place = frozenset(
        {"header", "amqp-header", "sasl-header", "tls-header"}
        | {"sasl-mechanisms", "sasl-challenge", "sasl-outcome"}
    )

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions, in the order of their last octets."""
        return read_conversation(talk, _reader, _content)

    def cutter(self) -> Cutter:
        """Cuts what a server writes."""
        return FrameCutter(RawReader(max_frame_octets=MAX_FRAME_OCTETS), _unit)

    def place(self, talk: Talk) -> str | None:
        """The hostname of the client's open, without the prefix of virtual hosts; None until one came."""
        opened = next(self.conversation(talk).by_client("open"), None)
        name = None if opened is None else opened.what.performative["hostname"]
        return name.removeprefix(HOST_PREFIX) if isinstance(name, str) else None


def _reader(name: str) -> TypedReader:
    return TypedReader(max_frame_octets=MAX_FRAME_OCTETS, name=name)


def _content(item: TypedFrame | ProtocolHeader) -> Content:
    def describe() -> str:
        return str(describe_frame(item)["text"])

    channel, what = (0, item) if isinstance(item, ProtocolHeader) else (item.channel, item.error or item)
    return Content(channel, _name(item), what, describe)


def _unit(item: RawFrame | ProtocolHeader) -> tuple[str, bytes]:
    return _name(decode_frame(item) if isinstance(item, RawFrame) else item), item.octets


def _name(item: TypedFrame | ProtocolHeader) -> str:
    if isinstance(item, ProtocolHeader):
        known = header_id(item.octets)
        return f"{known}-header" if known else "header"
    return item.name if item.error is None else GARBLED
