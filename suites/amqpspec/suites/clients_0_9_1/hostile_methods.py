"""Servers that send methods where they have no business, or with arguments that cannot be read."""

from __future__ import annotations

from amqpspec.suites.clients_0_9_1 import _hostile as of
from amqpspec.wire.hostility import Deed

_WORKING = (
    ("channel-open-ok", "channel.open-ok", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
)
_UNASKED: tuple[tuple[str, str, Deed, str], ...] = (
    ("closed-channel", "violated/channel/open",
     of.behind(lambda c: of.delivery(c + 76) + of.header(c + 76, 0)), "a delivery on a channel that is not open"),
    ("deliver-to-nobody", "violated/consumer/known",
     of.behind(lambda c: of.delivery(c, "nobody") + of.header(c, 0)), "a delivery to a consumer that does not exist"),
    ("unasked-ack", "violated/confirm/published",
     of.behind(lambda c: of.method("basic.ack", c, delivery_tag=999)), "a confirm of a message never published"),
    ("unasked-reply", "violated/reply/asked",
     of.behind(lambda c: of.method("tx.commit-ok", c)), "a commit-ok that nobody asked for"),
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
for name, row, deed, what in _UNASKED:
    for point, after, scenario in _WORKING:
        of.hostile(
            globals(), f"client.hostile.{name}.{point}", row, after, scenario, deed,
            f"A client does not go on where {what} comes behind {after}",
        )  # fmt: skip

_REPLIES = (
    ("start", "connection.start", "connect"),
    ("tune", "connection.tune", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("consume-ok", "basic.consume-ok", "consume"),
    ("get-ok", "basic.get-ok", "get"),
    ("deliver", "basic.deliver", "consume"),
    ("return", "basic.return", "return"),
)


def _arguments(point: str) -> str:
    """Before open an error ends the socket without another octet (0-9-1 §2.2.4)."""
    return "violated/handshake/method" if point in ("start", "tune") else "violated/method/arguments"


for point, after, scenario in _REPLIES:
    of.hostile(
        globals(), f"client.hostile.truncated.{point}", _arguments(point), after, scenario,
        of.payload_changed(lambda payload: payload[:-1]),
        f"A client does not go on where {after} ends before its last argument",
    )  # fmt: skip
    of.hostile(
        globals(), f"client.hostile.trailing.{point}", _arguments(point), after, scenario,
        of.payload_changed(lambda payload: payload + b"\0\0"),
        f"A client does not go on where {after} goes on behind its last argument",
    )  # fmt: skip

_STARTS: tuple[tuple[str, str, Deed, str], ...] = (
    ("version", "connection/start/client-support", of.instead(lambda _: of.start((0, 10))), "version 0-10 is offered"),
    ("mechanisms-unknown", "violated/mechanism",
     of.instead(lambda _: of.start(mechanisms=b"AMQPSPEC-NONE")), "no mechanism is known"),
    ("mechanisms-empty", "violated/mechanism",
     of.instead(lambda _: of.start(mechanisms=b"")), "no mechanism is offered"),
    ("table-deep", "violated/table",
     of.instead(lambda _: of.start(properties=of.deep_table())), "properties are nested 20,000 deep"),
    ("table-cut", "violated/table",
     of.instead(lambda _: of.start(properties=b"\0\0\0\x05\x01aS\0\0")), "the table of properties is cut short"),
    ("table-tag", "violated/table",
     of.instead(lambda _: of.start(properties=b"\0\0\0\x03\x01a~")), "a property has a type that nobody defined"),
    ("header", "connection/start/client-support",
     of.instead(lambda _: b"AMQP\x00\x00\x0a\x00"), "the answer is another protocol header"),
)  # fmt: skip
for name, row, deed, what in _STARTS:
    of.hostile(
        globals(), f"client.hostile.start.{name}", row, "connection.start", "connect", deed,
        f"A client leaves where {what}",
    )  # fmt: skip
