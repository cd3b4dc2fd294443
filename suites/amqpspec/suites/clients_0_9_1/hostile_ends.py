"""Servers that end, fall silent, or never end."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.suites.clients_0_9_1 import _hostile as of
from amqpspec.wire.hostility import Act


def _endless(frame: bytes) -> Iterator[bytes | Act]:
    yield frame
    yield from of.endless_body(of.channel_of(frame))
    yield Act.FIN


_POINTS = (
    ("start", "connection.start", "connect"),
    ("tune", "connection.tune", "connect"),
    ("open-ok", "connection.open-ok", "connect"),
    ("channel-open-ok", "channel.open-ok", "connect"),
    ("declare-ok", "queue.declare-ok", "publish"),
    ("confirm", "basic.ack", "publish"),
    ("commit-ok", "tx.commit-ok", "publish-transactional"),
    ("consume-ok", "basic.consume-ok", "consume"),
    ("deliver", "basic.deliver", "consume"),
    ("body", "body", "large"),
    ("get-ok", "basic.get-ok", "get"),
)
for point, after, scenario in _POINTS:
    for act, how in ((Act.FIN, "FIN"), (Act.RESET, "RST")):
        of.hostile(
            globals(), f"client.hostile.{how.lower()}.{point}", "violated/end", after, scenario, of.acting(act),
            f"A client notices {how} in place of {after}",
        )  # fmt: skip
for point, after, scenario in (
    ("open-ok", "connection.open-ok", "idle"),
    ("channel-open-ok", "channel.open-ok", "idle"),
    ("declare-ok", "queue.declare-ok", "publish"),
):
    of.hostile(
        globals(), f"client.hostile.silence.{point}", "wire/heartbeat/missed", after, scenario,
        of.acting(Act.SILENCE), f"A client leaves a server that says nothing from {after} on",
    )  # fmt: skip
of.hostile(
    globals(), "client.hostile.endless-body", "violated/content/memory", "basic.consume-ok", "consume",
    _endless, "A client survives a body of 1 TiB that keeps coming",
)  # fmt: skip
of.hostile(
    globals(), "client.hostile.body-of-2-to-63", "violated/content/memory", "basic.consume-ok", "consume",
    lambda frame: [frame + of.delivery(of.channel_of(frame)) + of.header(of.channel_of(frame), 1 << 63), Act.FIN],
    "A client survives a content that announces 2 to the 63 octets and ends",
)  # fmt: skip
