"""Conversations of AMQP 0-10: the octets of a client and a server as frames, with the controls and commands they end.

Knows: frames, assemblies, what a server's octets are cut into. Must not know: who is judged, or by what.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.describe import describe_frame
from amqpspec.wire.amqp_0_10.frames import Frame, encode_frame
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.conversation import Conversation, Cutter, Talk
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.ways import GARBLED, Content, FrameCutter, read_conversation

GREETING, PART = "greeting", "part"


class AssemblyReading:
    """How AMQP 0-10 is read; see ``amqpspec.wire.conversation.Reading``.

    ``Said.name`` is the control or command that a frame completes, ``PART`` for a frame that completes none,
    ``GREETING`` for a protocol header; ``Said.what`` is the ``Frame`` or the ``ProtocolHeader``. The cutter gives whole
    assemblies, so that a hostility is in the place of all their frames.
    """

    greetings = (DIALECT.protocol_header,)
    before_place = frozenset({GREETING, "connection.start", "connection.secure", "connection.tune"})

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions, in the order of their last octets."""
        return read_conversation(talk, lambda name: FrameReader(name=name), _content)

    def cutter(self) -> Cutter:
        """Cuts what a server writes."""
        return FrameCutter(FrameReader(), _Assemblies().unit)

    def place(self, talk: Talk) -> str | None:
        """The virtual host of the client's connection.open."""
        opened = next(self.conversation(talk).by_client("connection.open"), None)
        assembly = None if opened is None else opened.what.assembly
        return None if assembly is None else str(assembly.instruction.args.get("virtual_host", ""))


def error_of(frame: Frame) -> WireError | None:
    """Why a frame has no place, or what it completes cannot be read."""
    return frame.error or (frame.assembly.error if frame.assembly is not None else None)


def _content(item: Frame | ProtocolHeader) -> Content:
    def describe() -> str:
        return str(describe_frame(item)["text"])

    return Content(0 if isinstance(item, ProtocolHeader) else item.channel, _name(item), item, describe)


def _name(item: Frame | ProtocolHeader) -> str:
    if isinstance(item, ProtocolHeader):
        return GREETING
    if error_of(item) is not None:
        return GARBLED
    return PART if item.assembly is None else item.assembly.name


class _Assemblies:
    """Collects frames until an assembly is complete: our servers write one after the other."""

    def __init__(self) -> None:
        self._octets = b""

    def unit(self, item: Frame | ProtocolHeader) -> tuple[str, bytes] | None:
        """The name and all octets of what an item completes."""
        if isinstance(item, ProtocolHeader):
            return GREETING, item.octets
        self._octets += encode_frame(
            item.payload, type=item.type, flags=item.flags, channel=item.channel, track=item.track_octet
        )
        if item.assembly is None:
            return None
        whole, self._octets = self._octets, b""
        return item.assembly.name, whole
