"""What a target says, by name: frames cut and named as they come, refusals and offered limits taken out.

Knows: readers of both families of dialects. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuzz.grammar import tables
from harness.spec.dialects import widest
from harness.spec.model import MethodDialect, Refusal, Scope
from harness.wire.amqp_1_0.frames import TypedFrame, TypedReader
from harness.wire.errors import WireError
from harness.wire.frames import Frame, FrameReader
from harness.wire.methods import Codec, codec_for

UNREADABLE = "unreadable octets"
_MAX_OCTETS = 8 << 20
_CLOSES = {"connection.close": Scope.CONNECTION, "channel.close": Scope.CHANNEL}
_ENDS = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that the target said; ``limits`` are channel-max and frame-max where it offers them."""

    name: str
    refusal: Refusal | None = None
    limits: tuple[int, int] | None = None
    payload: bytes = b""
    channel: int = 0


Hear = Callable[[bytes], Iterator[Heard]]
"""Octets in, what became complete with them out; never raises."""


def hearing(dialect_id: str) -> Hear:
    """An ear for one connection."""
    dialect = tables(dialect_id)
    hear = _methods(dialect_id, dialect) if isinstance(dialect, MethodDialect) else _typed()

    def safely(octets: bytes) -> Iterator[Heard]:
        try:
            yield from hear(octets)
        except WireError:
            yield Heard(UNREADABLE)

    return safely


def _methods(dialect_id: str, dialect: MethodDialect) -> Hear:
    codec = codec_for(widest(dialect_id))
    kinds = {code: name for name, code in dialect.layout.types.items()}
    reader = FrameReader(dialect.layout, max_payload_octets=_MAX_OCTETS)

    def hear(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            if not isinstance(item, Frame):
                yield Heard("protocol-header")
            elif kinds.get(item.type) == "method":
                yield _method(codec, item)
            else:
                kind = (
                    f"content {kinds[item.type]}"
                    if kinds.get(item.type) in ("header", "body")
                    else "heartbeat"
                )
                yield Heard(kind, None, None, item.payload, item.channel)

    return hear


def _method(codec: Codec, frame: Frame) -> Heard:
    """A method by its ids; arguments are read where something hangs on them only."""
    ids = (int.from_bytes(frame.payload[:2], "big"), int.from_bytes(frame.payload[2:4], "big"))
    method = codec.dialect.methods_by_id.get(ids)
    if method is None:
        return Heard(f"method {ids[0]}.{ids[1]}")
    refusal = limits = None
    if method.name in _CLOSES:
        code = codec.decode_method(frame.payload)["reply-code"]
        refusal = Refusal(_CLOSES[method.name], code)
    elif method.name == "connection.tune":
        call = codec.decode_method(frame.payload)
        limits = (call["channel-max"], call["frame-max"])
    return Heard(method.name, refusal, limits, frame.payload, frame.channel)


def _typed() -> Hear:
    reader = TypedReader(max_frame_octets=_MAX_OCTETS)

    def hear(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            yield _performative(item) if isinstance(item, TypedFrame) else Heard("header")

    return hear


def _performative(frame: TypedFrame) -> Heard:
    refusal = None
    performative = frame.performative
    if performative is not None and frame.name in _ENDS and performative["error"]:
        refusal = Refusal(_ENDS[frame.name], str(performative["error"]["condition"]))
    return Heard(frame.name, refusal, None, frame.payload, frame.channel)
