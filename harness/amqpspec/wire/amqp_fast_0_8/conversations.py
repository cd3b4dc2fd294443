"""Conversations of AMQP/Fast: the octets of a client and a server as commands with their fragments.

Knows: frames, commands, which frames a server's octets are made of. Must not know: who is judged, or by what.
"""

from __future__ import annotations

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.describe import describe_frame
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, encode_frame
from amqpspec.wire.conversation import Conversation, Cutter, Talk
from amqpspec.wire.direction import reader_name
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.ways import GARBLED, MAX_FRAME_OCTETS, Content, FrameCutter, read_conversation

GREETING = "greeting"


class CommandReading:
    """How AMQP/Fast is read; see ``amqpspec.wire.conversation.Reading``."""

    def conversation(self, talk: Talk) -> Conversation:
        """The commands of both directions, in the order of their last octets."""
        return read_conversation(talk, _reader, _content)

    def cutter(self) -> Cutter:
        """Cuts what a server writes."""
        return FrameCutter(_reader(reader_name("in")), _unit)

    def place(self, talk: Talk) -> str | None:
        """The virtual path of the client's CONNECTION OPEN."""
        opened = next(self.conversation(talk).by_client("connection.open"), None)
        return None if opened is None else str(opened.what.args["virtual_path"])

    @property
    def greetings(self) -> tuple[bytes, ...]:
        """The two octets of the greeting."""
        return (DIALECT.protocol_header,)

    before_place = frozenset({"connection.challenge", "connection.tune"})


def _reader(name: str) -> CommandReader:
    return CommandReader(greets=name == reader_name("out"), max_size=MAX_FRAME_OCTETS, name=name)


def _content(item: CommandFrame | ProtocolHeader) -> Content:
    def describe() -> str:
        return str(describe_frame(item)["text"])

    if isinstance(item, ProtocolHeader):
        return Content(0, GREETING, item, describe)
    if item.error is not None:
        return Content(0, GARBLED, item.error, describe)
    return Content(item.args.get("channel_id", 0), item.name, item, describe)


def _unit(item: CommandFrame | ProtocolHeader) -> tuple[str, bytes]:
    """Our own broker greets no one, and escapes no size that fits two octets."""
    assert isinstance(item, CommandFrame)
    return item.name, encode_frame(item.code, item.fields) + item.fragment
