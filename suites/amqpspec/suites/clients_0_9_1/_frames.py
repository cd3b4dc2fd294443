"""Servers that break the rules of frames and contents: each deed at several points of a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.provoking import Provocation, instead
from amqpspec.suites.clients_0_9_1._octets import Octets
from amqpspec.wire.hostility import Deed, Hostility

POINTS = (
    ("start", "connection.start", "connect"),
    ("tune", "connection.tune", "connect"),
    ("open-ok", "connection.open-ok", "connect"),
    ("channel-open-ok", "channel.open-ok", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
)
"""Where a server begins to misbehave: a name for it, the frame, a scenario that leads there."""

BEFORE_OPEN = ("start", "tune")
"""There an error ends the socket without another octet, as long as no close is agreed on (0-9-1 §2.2.4)."""

Broken = tuple[str, str, Deed, str]
"""A name, the row that is broken, what the server does, and a description of it."""


def frames(of: Octets) -> Iterator[Provocation]:
    """Malformed frames, at every point."""
    broken: tuple[Broken, ...] = (
        ("end-octet", "violated/frame/end-octet", instead(lambda f: f[:-1] + b"\0"), "a frame that ends in 0x00"),
        ("unknown-type", "violated/frame/type",
         of.behind(lambda c: of.frame_of(77, b"", c)), "a frame of type 77"),
        ("size-4gib", "violated/frame/size", of.lying_size(0xFFFFFFFF), "a frame that announces 4 GiB"),
        ("size-16mib", "violated/frame/size", of.lying_size(16 << 20), "a frame that announces 16 MiB"),
        ("unknown-class", "violated/method/unknown",
         of.behind(lambda c: of.frame_of("method", b"\x03\xe7\x00\x0a", c)), "a method of class 999"),
        ("unknown-method", "violated/method/unknown",
         of.behind(lambda c: of.frame_of("method", b"\x00\x32\x00\xfa", c)), "method 250 of class queue"),
        ("method-without-ids", "violated/method/unknown",
         of.behind(lambda c: of.frame_of("method", b"\x00", c)), "a method frame of one octet"),
    )  # fmt: skip
    for point in POINTS:
        for name, row, deed, what in broken:
            early = row == "violated/method/unknown" and point[0] in BEFORE_OPEN
            yield refused(name, "violated/handshake/method" if early else row, deed, what, point)


def contents(of: Octets) -> Iterator[Provocation]:
    """Contents that are incomplete, mixed, or without a method, at the points with an open channel."""
    broken: tuple[Broken, ...] = (
        ("header-alone", "violated/content/order",
         of.behind(lambda c: of.header(c, 1)), "a header without a method"),
        ("body-alone", "violated/content/order", of.behind(lambda c: of.body(c, b"x")), "a body without a header"),
        ("body-before-header", "violated/content/order",
         of.behind(lambda c: of.delivery(c) + of.body(c, b"x")), "a delivery with a body and no header"),
        ("method-inside", "violated/content/order",
         of.behind(lambda c: of.delivery(c) + of.header(c, 2) + of.delivery(c)), "a method inside a content"),
        ("body-too-long", "violated/content/size",
         of.behind(lambda c: of.delivery(c) + of.header(c, 2) + of.body(c, b"xyz")),
         "a body of 3 octets instead of the announced 2"),
        ("class-mismatch", "violated/content/class",
         of.behind(lambda c: of.delivery(c) + of.header(c, 0, class_id=90)), "a header of class tx for a delivery"),
        ("on-channel-zero", "violated/content/channel-zero",
         of.behind(lambda c: of.header(0, 0)), "a content header on channel 0"),
    )  # fmt: skip
    for name, row, deed, what in broken:
        for point in POINTS[3:]:
            yield refused(f"content.{name}", row, deed, what, point)


def refused(name: str, row: str, deed: Deed, what: str, point: tuple[str, str, str]) -> Provocation:
    """A case that a client refuses something at a point."""
    at, after, scenario = point
    title = f"A client refuses {what} after {after}"
    return Provocation(f"client.hostile.{name}.{at}", row, scenario, Hostility(after, deed), title)
