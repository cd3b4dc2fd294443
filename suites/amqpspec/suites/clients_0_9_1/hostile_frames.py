"""Servers that break the rules of frames and contents: each deed at several points of a conversation."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import _hostile as of
from amqpspec.wire.hostility import Deed

_POINTS = (
    ("start", "connection.start", "connect"),
    ("tune", "connection.tune", "connect"),
    ("open-ok", "connection.open-ok", "connect"),
    ("channel-open-ok", "channel.open-ok", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
)
"""Where a server begins to misbehave: a name for it, the frame, a scenario that leads there."""

_BEFORE_OPEN = ("start", "tune")
"""There an error ends the socket without another octet, as long as no close is agreed on (0-9-1 §2.2.4)."""

_FRAMES: tuple[tuple[str, str, Deed, str], ...] = (
    ("end-octet", "violated/frame/end-octet", of.instead(lambda f: f[:-1] + b"\0"), "a frame ends in 0x00"),
    ("unknown-type", "violated/frame/type", of.behind(lambda c: of.frame_of(77, b"", c)), "a frame of type 77"),
    ("size-4gib", "violated/frame/size", of.lying_size(0xFFFFFFFF), "a frame announces 4 GiB"),
    ("size-16mib", "violated/frame/size", of.lying_size(16 << 20), "a frame announces 16 MiB"),
    ("unknown-class", "violated/method/unknown",
     of.behind(lambda c: of.frame_of("method", b"\x03\xe7\x00\x0a", c)), "a method of class 999"),
    ("unknown-method", "violated/method/unknown",
     of.behind(lambda c: of.frame_of("method", b"\x00\x32\x00\xfa", c)), "method 250 of class queue"),
    ("method-without-ids", "violated/method/unknown",
     of.behind(lambda c: of.frame_of("method", b"\x00", c)), "a method frame of one octet"),
)  # fmt: skip

_CONTENTS: tuple[tuple[str, str, Deed, str], ...] = (
    ("header-alone", "violated/content/order", of.behind(lambda c: of.header(c, 1)), "a header without a method"),
    ("body-alone", "violated/content/order",
     of.behind(lambda c: of.frame_of("body", b"x", c)), "a body without a header"),
    ("body-before-header", "violated/content/order",
     of.behind(lambda c: of.delivery(c) + of.frame_of("body", b"x", c)), "a delivery with a body and no header"),
    ("method-inside", "violated/content/order",
     of.behind(lambda c: of.delivery(c) + of.header(c, 2) + of.delivery(c)), "a method inside a content"),
    ("body-too-long", "violated/content/size",
     of.behind(lambda c: of.delivery(c) + of.header(c, 2) + of.frame_of("body", b"xyz", c)),
     "a body of 3 octets where 2 were announced"),
    ("class-mismatch", "violated/content/class",
     of.behind(lambda c: of.delivery(c) + of.header(c, 0, class_id=90)), "a header of class tx behind a delivery"),
    ("on-channel-zero", "violated/content/channel-zero",
     of.behind(lambda c: of.header(0, 0)), "a content header on channel 0"),
)  # fmt: skip

for point, after, scenario in _POINTS:
    for name, row, deed, what in _FRAMES:
        if row == "violated/method/unknown" and point in _BEFORE_OPEN:
            row = "violated/handshake/method"
        of.hostile(
            globals(), f"client.hostile.{name}.{point}", row, after, scenario, deed,
            f"A client does not go on where {what} comes with {after}",
        )  # fmt: skip
for name, row, deed, what in _CONTENTS:
    for point, after, scenario in _POINTS[3:]:
        of.hostile(
            globals(), f"client.hostile.content.{name}.{point}", row, after, scenario, deed,
            f"A client does not go on where {what} comes with {after}",
        )  # fmt: skip
