"""What a target of the 0-9 family says.

Knows: frames and methods. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.run.driver import text
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

_MAX_OCTETS = 2 << 20
_KEPT = 64
_CHANNELS, _FRAME_MAX_OCTETS = 65_535, 131_072
"""What zero means as a limit."""
_CLOSES = {"connection.close": Scope.CONNECTION, "channel.close": Scope.CHANNEL}


def decoder(codec: Codec) -> Decode:
    """A decoder for one connection."""
    layout = codec.dialect.layout
    reader = FrameReader(layout, max_payload_octets=_MAX_OCTETS)
    kinds = _kinds(codec.dialect.id)

    def decode(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            if not isinstance(item, Frame):
                yield Heard("protocol-header")
            elif (kind := kinds.get(item.type)) == "method":
                yield _method(codec, item)
            else:
                name = f"content {kind}" if kind in ("header", "body") else "heartbeat"
                yield Heard(name, None, None, item.payload, item.channel)

    return decode


def _method(codec: Codec, frame: Frame) -> Heard:
    """A method by its ids; arguments are read where something hangs on them only."""
    ids = (int.from_bytes(frame.payload[:2], "big"), int.from_bytes(frame.payload[2:4], "big"))
    method = codec.dialect.methods_by_id.get(ids)
    if method is None:
        return Heard(f"method {ids[0]}.{ids[1]}")
    refusal = limits = None
    mechanisms, product, version = tuple[str, ...](), "", ""
    if method.name in _CLOSES:
        code = codec.decode_method(frame.payload)["reply-code"]
        refusal = Refusal(_CLOSES[method.name], code)
    elif method.name == "connection.tune":
        limits = _offered_limits(codec.dialect.id, frame.payload)
    elif method.name == "connection.start":
        mechanisms, product, version = _announced(codec.dialect.id, frame.payload)
    return Heard(
        method.name, refusal, limits, frame.payload, frame.channel, mechanisms=mechanisms, product=product,
        version=version,
    )  # fmt: skip


@lru_cache(_KEPT)
def _offered_limits(dialect_id: str, payload: bytes) -> tuple[int, int]:
    """What a tune offers; a target says the same on every connection. Raises WireError."""
    call = codec_for(dialect_id).decode_method(payload)
    return call["channel-max"] or _CHANNELS, call["frame-max"] or _FRAME_MAX_OCTETS


@cache
def _kinds(dialect_id: str) -> Mapping[int, str]:
    """Frame types by their octet."""
    return {code: name for name, code in codec_for(dialect_id).dialect.layout.types.items()}


@lru_cache(_KEPT)
def _announced(dialect_id: str, payload: bytes) -> tuple[tuple[str, ...], str, str]:
    """Mechanisms, product and version of a start; nothing of one that cannot be read."""
    try:
        call = codec_for(dialect_id).decode_method(payload)
        offer, properties = call["mechanisms"], call["server-properties"]
    except (WireError, KeyError):
        return (), "", ""
    mechanisms = offer.decode("utf-8", "replace") if isinstance(offer, bytes) else str(offer)
    return tuple(mechanisms.split()), text(properties.get("product")), text(properties.get("version"))
