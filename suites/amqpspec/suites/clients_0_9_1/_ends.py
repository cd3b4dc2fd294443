"""Servers that end, stop sending, or never stop."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.provoking import Provocation, acting
from amqpspec.suites.clients_0_9_1._octets import Octets
from amqpspec.wire.hostility import Act, Hostility

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
_SILENT = (
    ("open-ok", "connection.open-ok", "idle"),
    ("channel-open-ok", "channel.open-ok", "idle"),
    ("declare-ok", "queue.declare-ok", "publish"),
)


def ends(of: Octets) -> Iterator[Provocation]:
    """FIN and RST in place of a frame, at every point that the dialect has."""
    confirms = "confirm" in of.codec.dialect.classes_by_name
    for point, after, scenario in _POINTS:
        if point == "confirm" and not confirms:
            continue
        for act, how in ((Act.FIN, "FIN"), (Act.RESET, "RST")):
            id, title = f"client.hostile.{how.lower()}.{point}", f"A client detects {how} in place of {after}"
            yield Provocation(id, "violated/end", scenario, Hostility(after, acting(act)), title)


def silences(reaction: str = "disconnects") -> Iterator[Provocation]:
    """Nothing more from a point on; ``reaction`` is what a title says that the client does."""
    for point, after, scenario in _SILENT:
        hostility = Hostility(after, acting(Act.SILENCE))
        title = f"A client {reaction} from a server that stops sending at {after}"
        yield Provocation(
            f"client.hostile.silence.{point}", "wire/heartbeat/missed", scenario, hostility, title
        )


def floods(of: Octets) -> Iterator[Provocation]:
    """Contents without an end."""

    def endless(frame: bytes) -> Iterator[bytes | Act]:
        yield frame
        yield from of.endless_body(of.channel_of(frame))
        yield Act.FIN

    def announced(frame: bytes) -> Iterator[bytes | Act]:
        channel = of.channel_of(frame)
        yield frame + of.delivery(channel) + of.header(channel, 1 << 63)
        yield Act.FIN

    for name, deed, what in (
        ("endless-body", endless, "announces 1 TiB and ends after 16 MiB"),
        ("body-of-2-to-63", announced, "announces 2^63 octets and ends"),
    ):
        title = f"A client survives a content that {what}"
        hostility = Hostility("basic.consume-ok", deed)
        yield Provocation(f"client.hostile.{name}", "violated/content/memory", "consume", hostility, title)
