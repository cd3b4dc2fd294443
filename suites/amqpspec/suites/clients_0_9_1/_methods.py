"""Servers that send methods where they are not allowed, or with arguments that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.provoking import Provocation, instead
from amqpspec.suites.clients_0_9_1._frames import BEFORE_OPEN, Broken, refused
from amqpspec.suites.clients_0_9_1._octets import Octets, deep_table
from amqpspec.wire.hostility import Hostility

WORKING = (
    ("channel-open-ok", "channel.open-ok", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
)
_REPLIES = (
    ("start", "connection.start", "connect"),
    ("tune", "connection.tune", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
    ("get-ok", "basic.get-ok", "get"),
    ("deliver", "basic.deliver", "consume"),
    ("return", "basic.return", "return"),
)


def unasked(of: Octets) -> Iterator[Provocation]:
    """Methods that no client asked for, or on the wrong channel."""
    broken: tuple[Broken, ...] = (
        ("closed-channel", "violated/channel/open",
         of.behind(lambda c: of.delivery(c + 76) + of.header(c + 76, 0)), "a delivery on a channel that is not open"),
        ("deliver-to-nobody", "violated/consumer/known",
         of.behind(lambda c: of.delivery(c, "nobody") + of.header(c, 0)),
         "a delivery to a consumer that does not exist"),
        *_confirms(of),
        ("unasked-reply", "violated/reply/asked",
         of.behind(lambda c: of.method("tx.commit-ok", c)), "an unrequested commit-ok"),
        ("second-tune", "violated/handshake/once",
         of.behind(lambda c: of.method("connection.tune", 0, channel_max=7, frame_max=4096)), "a second tune"),
        ("second-open-ok", "violated/handshake/once",
         of.behind(lambda c: of.method("connection.open-ok", 0)), "a second open-ok"),
        ("work-on-channel-zero", "violated/channel/zero",
         of.behind(lambda c: of.method("queue.declare-ok", 0, queue="x")), "a declare-ok on channel 0"),
        ("connection-on-a-channel", "violated/channel/zero",
         of.behind(lambda c: of.method("connection.tune", c)), "a tune on a channel"),
        ("heartbeat-on-a-channel", "violated/heartbeat/channel",
         of.behind(lambda c: of.frame_of("heartbeat", b"", c)), "a heartbeat on a channel"),
    )  # fmt: skip
    for name, row, deed, what in broken:
        for point in WORKING:
            yield refused(name, row, deed, what, point)


def _confirms(of: Octets) -> tuple[Broken, ...]:
    """Confirms, where the dialect has them."""
    if "confirm" not in of.codec.dialect.classes_by_name:
        return ()
    deed = of.behind(lambda c: of.method("basic.ack", c, delivery_tag=999))
    return (("unasked-ack", "violated/confirm/published", deed, "a confirm of a message never published"),)


def arguments(of: Octets) -> Iterator[Provocation]:
    """Methods whose arguments end too early, or continue too long."""
    for point, after, scenario in _REPLIES:
        # Before open an error ends the socket without another octet (0-9-1 §2.2.4).
        row = "violated/handshake/method" if point in BEFORE_OPEN else "violated/method/arguments"
        for name, deed, how in (
            ("truncated", of.payload_changed(lambda p: p[:-1]), "truncated within its last argument"),
            ("trailing", of.payload_changed(lambda p: p + b"\0\0"), "with octets after its last argument"),
        ):
            title = f"A client refuses {after} {how}"
            id = f"client.hostile.{name}.{point}"
            yield Provocation(id, row, scenario, Hostility(after, deed), title)


def starts(of: Octets, version: tuple[int, int], header: bytes) -> Iterator[Provocation]:
    """Servers that a client disconnects from immediately; ``version`` and ``header`` are of another protocol."""
    named = "-".join(map(str, version))
    broken: tuple[Broken, ...] = (
        ("version", "connection/start/client-support",
         instead(lambda _: of.start(version)), f"that offers version {named}"),
        ("mechanisms-unknown", "violated/mechanism",
         instead(lambda _: of.start(mechanisms=b"AMQPSPEC-NONE")), "whose only mechanism is unknown"),
        ("mechanisms-empty", "violated/mechanism",
         instead(lambda _: of.start(mechanisms=b"")), "that offers no mechanism"),
        ("table-deep", "violated/table",
         instead(lambda _: of.start(properties=deep_table())), "whose properties are nested 20,000 levels deep"),
        ("table-cut", "violated/table",
         instead(lambda _: of.start(properties=b"\0\0\0\x05\x01aS\0\0")), "whose property table is truncated"),
        ("table-tag", "violated/table",
         instead(lambda _: of.start(properties=b"\0\0\0\x03\x01a~")), "that sends a property of an undefined type"),
        ("header", "connection/start/client-support",
         instead(lambda _: header), "that answers with the header of another protocol"),
    )  # fmt: skip
    for name, row, deed, what in broken:
        title, id = f"A client disconnects from a server {what}", f"client.hostile.start.{name}"
        yield Provocation(id, row, "connect", Hostility("connection.start", deed), title)
