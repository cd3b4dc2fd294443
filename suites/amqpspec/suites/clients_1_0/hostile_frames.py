"""Servers that break the rules of frames and encodings: each deed at several points of a conversation."""

from __future__ import annotations

from amqpspec.run.clients.provoking import Reading, instead
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.amqp_1_0.values import Raw
from amqpspec.wire.hostility import Deed

POINTS = {
    "open": ("open", "connect"),
    "begin": ("begin", "send"),
    "attach": ("attach", "send"),
    "flow": ("flow", "send"),
    "disposition": ("disposition", "send"),
    "transfer": ("transfer", "receive"),
}
"""Where a server begins to misbehave: a name for it, the frame, a scenario that leads there, and on from there.

A client that has nothing left to do but to leave may have said so before it reads what the server does.
"""
_FRAMED = ("open", "begin", "flow", "transfer")
IN_SESSION = ("begin", "attach", "disposition")
_DEPTH, _LIST_DEPTH = 7_000, 1_500
_UNKNOWN = b"\x00\x53\x99\x45"

_OVERSIZED = of.limited("max_frame_size", 16 << 20)
_FRAMES: tuple[tuple[str, str, Deed, str, Reading | None], ...] = (
    ("size-0", "framing/size/below-header", of.lying_size(0), "a frame of size 0", None),
    ("size-7", "framing/size/below-header", of.lying_size(7), "a frame of size 7", None),
    ("doff-0", "framing/doff/below-header",
     of.behind(lambda c: encode_frame(b"", c, doff=0)), "a frame with data offset 0", None),
    ("doff-1", "framing/doff/below-header",
     of.behind(lambda c: encode_frame(b"xxxx", c, doff=1)), "a frame with data offset 1", None),
    ("doff-255", "framing/doff/beyond-size",
     of.behind(lambda c: encode_frame(b"xxxx", c, doff=255)), "a frame whose body would begin after its end", None),
    ("size-4gib", "performatives/open/max-frame-size/exceeded",
     of.lying_size(0xFFFFFFFF), "a frame that announces 4 GiB", of.limited("max_frame_size", 0xFFFFFFFF)),
    ("size-16mib", "performatives/open/max-frame-size/exceeded",
     of.lying_size(16 << 20), "a frame that announces 16 MiB", _OVERSIZED),
    ("type-77", "framing/type", of.behind(lambda c: encode_frame(b"x", c, 77)), "a frame of type 77", None),
)  # fmt: skip
for _point in _FRAMED:
    for _name, _row, _deed, _what, _reads in _FRAMES:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", f"violated/{_row}", POINTS[_point], _deed,
            f"A client {of.demand(f'violated/{_row}')} {_what} after {_point}", _reads,
        )  # fmt: skip


def _behind(body: bytes) -> Deed:
    return of.behind(lambda channel: encode_frame(body, channel))


_BODIES: tuple[tuple[str, bytes, str], ...] = (
    ("unknown-descriptor", _UNKNOWN, "an undefined performative"),
    ("no-descriptor", b"\x45", "a body without a descriptor"),
)
for _point in IN_SESSION:
    for _name, _body, _what in _BODIES:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", "violated/framing/performative", POINTS[_point],
            _behind(_body), f"A client refuses {_what} after {_point}",
        )  # fmt: skip
    of.hostile(
        globals(), f"client.hostile.list-too-long.{_point}", "violated/definitions/condition/decode-error",
        POINTS[_point], of.behind(lambda c: encode_frame(b"\x00\x53\x13\xd0\xff\xff\xff\xf0\x00\x00\x00\x04\x43", c)),
        f"A client refuses a list of 4 GiB in a short frame after {_point}",
    )  # fmt: skip
    of.hostile(
        globals(), f"client.hostile.sasl-frame.{_point}", "violated/framing/type", POINTS[_point],
        of.behind(lambda c: performative_frame("sasl-outcome", code=0)),
        f"A client may refuse a SASL frame after {_point}",
    )  # fmt: skip

_ENDING = {"detach": ("detach", "refused"), "end": ("end", "connect")}
for _point, _at in {**POINTS, **_ENDING}.items():
    of.hostile(
        globals(), f"client.hostile.truncated.{_point}", "violated/definitions/condition/decode-error", _at,
        instead(of.cut_short), f"A client refuses {_point} truncated within its last field",
    )  # fmt: skip

_VALUES: tuple[tuple[str, bytes, str], ...] = (
    ("nested-descriptors", b"\x00" * _DEPTH + b"\x43" * (_DEPTH + 1), "descriptors nested 7,000 levels deep"),
    ("nested-lists", b"".join(
        b"\xd0" + (9 * level + 5).to_bytes(4, "big") + b"\x00\x00\x00\x01" for level in range(_LIST_DEPTH, 0, -1)
    ) + b"\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x40", "lists nested 1,500 levels deep"),
    ("array-of-4-giga", b"\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40",
     "an array that announces 2^32 - 1 nulls in ten octets"),
)  # fmt: skip


def _with_property(value: bytes) -> Deed:
    """The frame with one property more: a map of one pair."""
    pair = b"\xa3\x01x" + value
    octets = b"\xd1" + (len(pair) + 4).to_bytes(4, "big") + b"\x00\x00\x00\x02" + pair
    return instead(lambda frame: of.again(frame, properties=Raw(octets)))


for _name, _value, _what in _VALUES:
    for _point in ("begin", "attach"):
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", "survives/values", POINTS[_point], _with_property(_value),
            f"A client survives {_what} in the properties of {_point}",
        )  # fmt: skip
