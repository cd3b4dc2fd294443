"""What octets leave behind in the 0-9 family, frame by frame.

Knows: frames and methods, whether a method asks for an answer. Must not know: states, what may be said next.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache, lru_cache

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.states.model import BROKEN, Sign, Traces, traces_of
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import Method, MethodDialect
from amqpspec.spec.model import Side
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Call, Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

_KEPT, _KEPT_OCTETS = 1024, 512


def traces(dialect_id: str, dialect: MethodDialect, octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    if octets == dialect.protocol_header:
        return traces_of([Sign("protocol-header", 0, True, True, True)])
    reader = FrameReader(dialect.layout, max_payload_octets=1 << 32, header_allowed=False)
    frames = (item for item, _, _ in cut(reader, octets) if isinstance(item, Frame))
    signs = [_of_frame(dialect_id, dialect, frame) for frame in frames]
    return BROKEN if reader.is_broken or reader.pending_octets or not signs else traces_of(signs)


def _of_frame(dialect_id: str, dialect: MethodDialect, frame: Frame) -> Sign:
    kind = dialect.layout.type_name(frame.type)
    if kind == "heartbeat":
        return Sign(kind, frame.channel, not frame.channel and not frame.payload, False)
    if kind != "method":
        return Sign(kind, frame.channel, False, kind not in ("header", "body"))
    fits = len(frame.payload) + dialect.layout.overhead_octets <= dialect.layout.min_size_octets
    read = _asked_once if len(frame.payload) <= _KEPT_OCTETS else _asked
    found = read(dialect_id, frame.payload) if fits else None
    if found is None:
        return Sign("unreadable method", frame.channel, False, True, True)
    row, asks = found
    moves = row.class_name == "connection"
    placed = (frame.channel == 0) is moves and row.sent_by is not Side.SERVER
    return Sign(row.name, frame.channel, placed and not row.content, asks, moves)


def _asked(dialect_id: str, payload: bytes) -> tuple[Method, bool] | None:
    """A method and whether it asks for an answer; None for one that some version of the tables cannot read."""
    call = _read(_codecs(dialect_id), payload)
    if call is None:
        return None
    quiet = not call.method.replies or bool(call.args.get("no_wait") or call.args.get("nowait"))
    return call.method, not quiet


# An input may repeat one method thousands of times, on many channels: it is read once.
_asked_once = lru_cache(_KEPT)(_asked)


@cache
def _codecs(dialect_id: str) -> tuple[Codec, ...]:
    return tuple(codec_for(d) for d in dict.fromkeys((widest(dialect_id), dialect_id)))


def _read(codecs: tuple[Codec, ...], payload: bytes) -> Call | None:
    """A method that every version of the tables can read; None for one that some cannot."""
    call = None
    try:
        for codec in reversed(codecs):
            call = codec.decode_method(payload)
    except WireError:
        return None
    return call


def settled_silence_s(dialect_id: str, octets: bytes) -> float:
    """The heartbeat interval in seconds that an input settles; zero if it settles none."""
    codec = codec_for(widest(dialect_id))
    tune_ok = codec.dialect.methods["connection.tune-ok"]
    ids = tune_ok.class_id.to_bytes(2, "big") + tune_ok.method_id.to_bytes(2, "big")
    found = 0.0
    with suppress(WireError):
        for item, _, _ in cut(FrameReader(codec.dialect.layout, max_payload_octets=1 << 32), octets):
            if isinstance(item, Frame) and item.payload[:4] == ids:
                found = float(codec.decode_method(item.payload)["heartbeat"])
    return found
