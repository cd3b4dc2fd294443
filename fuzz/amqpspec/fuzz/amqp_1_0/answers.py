"""What a target of AMQP 1.0 says.

Knows: frames and performatives. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from amqpspec.fuzz.executor.heard import Counters, Decode, Heard
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader

_MAX_OCTETS = 2 << 20
_CHANNELS = 65_535
_TEXT_CHARS, _MECHANISMS = 256, 64
"""What is kept of words of a target, which may be as long as it likes."""
_TOO_MUCH, _SILENCE = (
    "amqp:resource-limit-exceeded",
    ("idle", "timeout", "time-out", "timed out", "heartbeat"),
)
_COUNTERS = {
    "begin": ("next_outgoing_id", "incoming_window"),
    "attach": ("handle", "initial_delivery_count"),
    "flow": (
        "next_outgoing_id",
        "next_incoming_id",
        "incoming_window",
        "handle",
        "delivery_count",
        "link_credit",
    ),
}
_ENDS = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}


def decoder() -> Decode:
    """A decoder for one connection."""
    reader = TypedReader(max_frame_octets=_MAX_OCTETS)

    def decode(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            yield _performative(item) if isinstance(item, TypedFrame) else Heard("header")

    return decode


def _performative(frame: TypedFrame) -> Heard:
    name, performative = frame.name, frame.performative
    refusal = limits = remote = counters = None
    mechanisms: tuple[str, ...] = ()
    good, idle_s, blames_silence = True, 0.0, False
    product = version = ""
    if performative is None:
        return Heard(name, None, None, frame.payload, frame.channel)
    if name in _ENDS and performative["error"]:
        error = performative["error"]
        refusal = Refusal(_ENDS[name], str(error["condition"])[:_TEXT_CHARS])
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
        offers = performative["sasl_server_mechanisms"] or ()
        mechanisms = tuple(str(offered)[:_TEXT_CHARS] for offered in islice(offers, _MECHANISMS))
    if name in _COUNTERS:
        counters = Counters(**{field: _count(performative[field]) for field in _COUNTERS[name]})
    return Heard(
        name, refusal, limits, frame.payload, frame.channel, remote, mechanisms, good, idle_s, blames_silence,
        product, version, counters,
    )  # fmt: skip


def _announced(properties: object) -> tuple[str, str]:
    """Product and version out of an open's properties, which hold what a target likes."""
    if not isinstance(properties, Mapping):
        return "", ""
    return _text(properties.get("product")), _text(properties.get("version"))


def _text(value: object) -> str:
    return str(value)[:_TEXT_CHARS] if isinstance(value, str) else ""


def _is_of_silence(refusal: Refusal, description: object) -> bool:
    """Whether a close is for want of signs of life, by its condition and its words."""
    words = str(description or "").lower()
    return refusal.code == _TOO_MUCH and any(word in words for word in _SILENCE)


def _milliseconds_s(time: object) -> float:
    return time / 1000 if isinstance(time, int) else 0.0


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _number(limit: object) -> int:
    return int(limit) if isinstance(limit, int) else _CHANNELS
