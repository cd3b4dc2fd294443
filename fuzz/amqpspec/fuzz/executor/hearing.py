"""What a target says, by name: frames cut and named as they come, refusals and offered limits taken out.

Knows: readers of both families of dialects. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from amqpspec.fuzz.grammar import tables
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

UNREADABLE = "unreadable octets"
SIGNS_OF_LIFE = frozenset({"heartbeat", "empty"})
"""What comes when it is due, whatever was said: no answer to anything."""
_MAX_OCTETS = 8 << 20
_KEPT = 64
_CHANNELS, _FRAME_MAX_OCTETS = 65_535, 131_072
"""What zero means as a limit of the 0-9 family."""
_CLOSES = {"connection.close": Scope.CONNECTION, "channel.close": Scope.CHANNEL}
_TOO_MUCH, _SILENCE = (
    "amqp:resource-limit-exceeded",
    ("idle", "timeout", "time-out", "timed out", "heartbeat"),
)
_ENDS = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that the target said.

    ``limits`` are channel-max and frame-max where it offers them; ``remote`` is the channel that a session of AMQP 1.0
    answers; ``mechanisms`` are those that AMQP 1.0 offers; a login that failed is not ``good``. ``idle_s`` is how long
    it bears silence, zero where it says nothing of that; ``blames_silence`` is a close that says that it bore no more.
    ``product`` and ``version`` are those that an open of AMQP 1.0 names.
    """

    name: str
    refusal: Refusal | None = None
    limits: tuple[int, int] | None = None
    payload: bytes = b""
    channel: int = 0
    remote: int | None = None
    mechanisms: tuple[str, ...] = ()
    good: bool = True
    idle_s: float = 0.0
    blames_silence: bool = False
    product: str = ""
    version: str = ""


Hear = Callable[[bytes], Iterator[Heard]]
"""Octets in, what became complete with them out; never raises."""


def hearing(dialect_id: str) -> Hear:
    """An ear for one connection."""
    hear = _ears(dialect_id)()

    def safely(octets: bytes) -> Iterator[Heard]:
        try:
            yield from hear(octets)
        except WireError:
            yield Heard(UNREADABLE)

    return safely


@cache
def _ears(dialect_id: str) -> Callable[[], Hear]:
    """What makes ears for a dialect."""
    dialect = tables(dialect_id)
    return (
        partial(_methods, *_of_methods(dialect_id, dialect)) if isinstance(dialect, MethodDialect) else _typed
    )


def _of_methods(dialect_id: str, dialect: MethodDialect) -> tuple[MethodDialect, Codec, dict[int, str]]:
    return dialect, codec_for(widest(dialect_id)), {code: name for name, code in dialect.layout.types.items()}


def _methods(dialect: MethodDialect, codec: Codec, kinds: dict[int, str]) -> Hear:
    reader = FrameReader(dialect.layout, max_payload_octets=_MAX_OCTETS)

    def hear(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            if not isinstance(item, Frame):
                yield Heard("protocol-header")
            elif (kind := kinds.get(item.type)) == "method":
                yield _method(codec, item)
            else:
                name = f"content {kind}" if kind in ("header", "body") else "heartbeat"
                yield Heard(name, None, None, item.payload, item.channel)

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
        limits = _offered_limits(codec.dialect.id, frame.payload)
    return Heard(method.name, refusal, limits, frame.payload, frame.channel)


@lru_cache(_KEPT)
def _offered_limits(dialect_id: str, payload: bytes) -> tuple[int, int]:
    """What a tune offers; a target says the same on every connection. Raises WireError."""
    call = codec_for(dialect_id).decode_method(payload)
    return call["channel-max"] or _CHANNELS, call["frame-max"] or _FRAME_MAX_OCTETS


def offered(dialect_id: str, said: Heard) -> tuple[str, ...]:
    """The mechanisms that a target offers; none where it says something else, or what cannot be read."""
    if said.name != "connection.start":
        return said.mechanisms
    try:
        offer = codec_for(widest(dialect_id)).decode_method(said.payload)["mechanisms"]
    except WireError:
        return ()
    return tuple((offer.decode("utf-8", "replace") if isinstance(offer, bytes) else str(offer)).split())


def _typed() -> Hear:
    reader = TypedReader(max_frame_octets=_MAX_OCTETS)

    def hear(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            yield _performative(item) if isinstance(item, TypedFrame) else Heard("header")

    return hear


def _performative(frame: TypedFrame) -> Heard:
    name, performative = frame.name, frame.performative
    refusal = limits = remote = None
    mechanisms: tuple[str, ...] = ()
    good, idle_s, blames_silence = True, 0.0, False
    product = version = ""
    if performative is None:
        return Heard(name, None, None, frame.payload, frame.channel)
    if name in _ENDS and performative["error"]:
        error = performative["error"]
        refusal = Refusal(_ENDS[name], str(error["condition"]))
        blames_silence = name == "close" and _is_of_silence(refusal, error["description"])
    elif name == "open":
        limits = (_number(performative["channel_max"]), _number(performative["max_frame_size"]))
        idle_s = _milliseconds_s(performative["idle_time_out"])
        product, version = _announced(performative["properties"])
        product = product or _text(performative["container_id"])
    elif name == "begin":
        remote = performative["remote_channel"]
    elif name == "sasl-outcome":
        good = str(performative["code"]) in ("ok", "0")
    elif name == "sasl-mechanisms":
        mechanisms = tuple(str(offered) for offered in performative["sasl_server_mechanisms"] or ())
    return Heard(
        name, refusal, limits, frame.payload, frame.channel, remote, mechanisms, good, idle_s, blames_silence,
        product, version,
    )  # fmt: skip


def _announced(properties: object) -> tuple[str, str]:
    """Product and version out of an open's properties, which hold what a target likes."""
    if not isinstance(properties, Mapping):
        return "", ""
    return _text(properties.get("product")), _text(properties.get("version"))


def _text(value: object) -> str:
    return str(value) if isinstance(value, str) else ""


def _is_of_silence(refusal: Refusal, description: object) -> bool:
    """Whether a close is for want of signs of life, by its condition and its words."""
    words = str(description or "").lower()
    return refusal.code == _TOO_MUCH and any(word in words for word in _SILENCE)


def _milliseconds_s(time: object) -> float:
    return time / 1000 if isinstance(time, int) else 0.0


def _number(limit: object) -> int:
    return int(limit) if isinstance(limit, int) else _CHANNELS
