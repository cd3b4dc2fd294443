"""Steps that cases about files and streams share: publishing and consuming.

Knows: the peer's verbs; that a file is staged before it goes, either way. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.wire.amqp_0_10.values import Packed

FILE, STREAM = "file", "stream"
_PROPERTIES = {FILE: "file.file-properties", STREAM: "stream.stream-properties"}


@dataclass(frozen=True, slots=True)
class Got:
    """A content that was delivered: its body and properties, and the command that delivered it."""

    body: bytes | None
    properties: Any
    deliver: AssemblyArrived

    @property
    def tag(self) -> int:
        """The delivery tag."""
        return self.deliver["delivery_tag"] or 0


# --- publishing


def stage(peer: Peer, body: bytes, channel: int = 0, **properties: Any) -> str:
    """Stage a file from where the target wants it; returns its identifier."""
    identifier = peer.name("f")
    opened = open_file(peer, identifier, len(body), channel)
    rest = body[opened["staged_size"] or 0 :]
    peer.send("file.stage", channel, header=[Packed(_PROPERTIES[FILE], properties)], body=rest)
    return identifier


def open_file(peer: Peer, identifier: str, size_octets: int, channel: int = 0) -> AssemblyArrived:
    """Announce a file and take open-ok; raises Unmet."""
    peer.send("file.open", channel, identifier=identifier, content_size=size_octets)
    return peer.expect("file.open-ok", channel=channel)


def publish(peer: Peer, kind: str, key: str, body: bytes, channel: int = 0, **args: Any) -> None:
    """Publish one content, a file staged before; ``properties`` are its own, the rest are arguments of publish."""
    properties = args.pop("properties", {})
    if kind == FILE:
        identifier = stage(peer, body, channel, **properties)
        peer.send("file.publish", channel, routing_key=key, identifier=identifier, **args)
    else:
        header = [Packed(_PROPERTIES[STREAM], properties)]
        peer.send("stream.publish", channel, header=header, body=body, routing_key=key, **args)


def put(peer: Peer, kind: str, key: str, bodies: Iterable[bytes], channel: int = 0, **args: Any) -> None:
    """Publish contents, and see that it is done; raises Unmet."""
    for body in bodies:
        publish(peer, kind, key, body, channel, **args)
    peer.barrier(channel)


# --- consuming


def qos(peer: Peer, kind: str, channel: int = 0, **args: Any) -> None:
    """Set a window and take qos-ok; raises Unmet."""
    peer.send(f"{kind}.qos", channel, **args)
    peer.expect(f"{kind}.qos-ok", channel=channel)


def consume(peer: Peer, kind: str, queue: str, channel: int = 0, **args: Any) -> str:
    """Begin a consumer and take consume-ok; returns its tag."""
    tag = args.pop("consumer_tag", None) or peer.name("c")
    peer.send(f"{kind}.consume", channel, queue=queue, consumer_tag=tag, **args)
    return str(peer.expect(f"{kind}.consume-ok", channel=channel)["consumer_tag"])


def got(peer: Peer, kind: str, count: int = 0, channel: int = 0, staged: int = 0) -> list[Got]:
    """What is delivered: this many contents are waited for, and more are taken where more come.

    Files are asked for from octet ``staged`` on.
    """
    names = ("file.open", "file.stage", "file.deliver") if kind == FILE else ("stream.deliver",)
    seen: list[AssemblyArrived] = []
    until_s = peer.now() + peer.patience_s
    while sum(a.name.endswith(".deliver") for a in seen) < count and peer.now() < until_s:
        arrival = peer.arrival(*names, channel=channel, within_s=until_s - peer.now())
        if not isinstance(arrival, AssemblyArrived) or arrival.name not in names:
            break
        _taken(peer, arrival, seen, staged)
    while True:
        peer.barrier(channel)
        more = peer.pending(*names, channel=channel)
        for arrival in more:
            _taken(peer, arrival, seen, staged)
        if not any(arrival.name == "file.open" for arrival in more):
            return _joined(kind, seen)


def ahead(peer: Peer, count: int, channel: int = 0) -> list[Got]:
    """This many files that wait for an acknowledgement; raises Unmet if fewer or more arrive.

    OutOfReach if the server sends fewer in advance (prefetch-discretion) and the next one after an acknowledgement.
    """
    found = got(peer, FILE, count, channel)
    if found and len(found) < count:
        peer.call("file.ack", channel, delivery_tag=found[-1].tag, multiple=True)
        if got(peer, FILE, 1, channel):
            raise OutOfReach(f"the target sends {len(found)} of {count} files in advance, as it may")
    if len(found) != count:
        raise Unmet(f"{count} files", f"{len(found)} files")
    return found


def automatic(kind: str) -> dict[str, bool]:
    """What a consumer needs to receive everything at once: files wait for no acknowledgement, streams never do."""
    return {"no_ack": True} if kind == FILE else {}


def _taken(peer: Peer, arrival: AssemblyArrived, seen: list[AssemblyArrived], staged: int) -> None:
    seen.append(arrival)
    if arrival.name == "file.open":
        peer.send("file.open-ok", arrival.channel, staged_size=staged)


def _joined(kind: str, seen: Sequence[AssemblyArrived]) -> list[Got]:
    """Deliveries with their contents; those of files by identifier, which stage does not bear: it is open's turn."""
    delivered = [a for a in seen if a.name.endswith(".deliver")]
    if kind == STREAM:
        return [Got(a.body, a.struct(_PROPERTIES[STREAM]), a) for a in delivered]
    opened = [a["identifier"] for a in seen if a.name == "file.open"]
    stages = [a for a in seen if a.name == "file.stage"]
    by_name: dict[str, list[AssemblyArrived]] = {}
    for name, stage in zip(opened, stages, strict=False):
        by_name.setdefault(name, []).append(stage)
    found = []
    for arrival in delivered:
        # Files with equal properties may share an identifier (file.open.identifier); one that is staged once may be
        # delivered more than once.
        among = by_name.get(arrival["identifier"], [])
        staged = among.pop(0) if len(among) > 1 else next(iter(among), None)
        properties = {} if staged is None else staged.struct(_PROPERTIES[FILE])
        found.append(Got(None if staged is None else staged.body, properties, arrival))
    return found


def bodies(peer: Peer, kind: str, count: int = 0, channel: int = 0) -> list[bytes | None]:
    """The bodies of what is delivered."""
    return [one.body for one in got(peer, kind, count, channel)]


def left(peer: Peer, kind: str, queue: str, count: int = 0, channel: int = 1) -> list[bytes | None]:
    """What another session, opened for it, is delivered from a queue."""
    peer.open_session(channel)
    consume(peer, kind, queue, channel, **automatic(kind))
    return bodies(peer, kind, count, channel)


def consumers(peer: Peer, queue: str, channel: int = 0) -> int:
    """How many consumers a queue has, as a query counts them."""
    return int(peer.query("queue.query", channel, queue=queue).get("subscriber_count", 0))
