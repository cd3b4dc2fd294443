"""Steps that cases about files and streams share: publishing, consuming, and what both classes demand alike.

Knows: the peer's verbs; that a file is staged before it goes, either way. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._entities import bind
from amqpspec.wire.amqp_0_10.values import Packed

FILE, STREAM = "file", "stream"
_PROPERTIES = {FILE: "file.file-properties", STREAM: "stream.stream-properties"}
NO_ROUTE, NO_CONSUMERS = 312, 313


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


def _automatic(kind: str) -> dict[str, bool]:
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
    consume(peer, kind, queue, channel, **_automatic(kind))
    return bodies(peer, kind, count, channel)


def consumers(peer: Peer, queue: str, channel: int = 0) -> int:
    """How many consumers a queue has, as a query counts them."""
    return int(peer.query("queue.query", channel, queue=queue).get("subscriber_count", 0))


# --- what both classes demand alike


def two_priorities(peer: Peer, kind: str) -> Verdict:
    """Contents of priorities 5 to 9 are delivered before those of 0 to 4."""
    order = _by_priority(peer, kind, (4, 5, 0, 9))
    peer.claim("5 and 9 before 4 and 0")
    return holds(peer, sorted(order[:2]) == [5, 9] and sorted(order[2:]) == [0, 4], f"priorities {order}")


def ten_priorities(peer: Peer, kind: str) -> Verdict:
    """A server may distinguish all ten priorities."""
    order = _by_priority(peer, kind, tuple(range(10)))
    peer.claim("at least two levels")
    if sorted(order[:5]) != [5, 6, 7, 8, 9] or sorted(order) != list(range(10)):
        return holds(peer, False, f"priorities {order}")
    exact = order == sorted(order, reverse=True)
    return observed_either_way(peer, "ten levels" if exact else f"priorities {order}")


def _by_priority(peer: Peer, kind: str, priorities: Sequence[int]) -> list[int]:
    """The order in which contents come out that went in with these priorities."""
    peer.open_session()
    queue = peer.queue()
    for priority in priorities:
        put(peer, kind, queue, [b"%d" % priority], properties={"priority": priority})
    consume(peer, kind, queue, **_automatic(kind))
    return [int(body or b"-1") for body in bodies(peer, kind, len(priorities))]


def lifetime(peer: Peer, kind: str) -> Verdict:
    """A consumer receives more than one content, and exists until it is cancelled or its session ends."""
    peer.open_session()
    peer.open_session(1)
    queue = peer.queue(1, exclusive=False)
    first, second = (consume(peer, kind, queue, **_automatic(kind)) for _ in "12")
    peer.claim("four contents for the consumers, then two consumers, one, and none")
    put(peer, kind, queue, [b"1", b"2", b"3", b"4"], 1)
    tags = [one.deliver["consumer_tag"] for one in got(peer, kind, 4)]
    counts = [consumers(peer, queue, 1)]
    peer.call(f"{kind}.cancel", consumer_tag=first)
    counts.append(consumers(peer, queue, 1))
    peer.detach()
    counts.append(consumers(peer, queue, 1))
    # No text says how a queue distributes contents among its consumers.
    found = (len(tags), set(tags) <= {first, second}, counts)
    return equals(peer, found, (4, True, [2, 1, 0]), "contents, of these consumers, consumers")


def sixteen_consumers(peer: Peer, kind: str) -> Verdict:
    """A queue supports sixteen consumers."""
    peer.open_session()
    queue = peer.queue()
    peer.claim("sixteen consumers")
    for _ in range(16):
        consume(peer, kind, queue)
    return equals(peer, consumers(peer, queue), 16, "consumers")


def no_local(peer: Peer, kind: str) -> Verdict:
    """With no-local, a connection does not receive the contents that it published."""
    peer.open_session()
    quiet, usual = peer.queue(exclusive=False), peer.queue(exclusive=False)
    other = peer.another()
    other.open_session()
    every = _automatic(kind)
    tags = [consume(peer, kind, quiet, no_local=True, **every), consume(peer, kind, usual, **every)]
    peer.claim("with no-local, only the content of the other connection")
    for queue in (quiet, usual):
        # In this order: no text says whether a content that no consumer may have holds up those after it.
        put(other, kind, queue, [b"other"])
        put(peer, kind, queue, [b"own"])
    found = got(peer, kind, 3)
    by_tag = [sorted(one.body or b"" for one in found if one.deliver["consumer_tag"] == tag) for tag in tags]
    return equals(peer, by_tag, [[b"other"], [b"other", b"own"]], "bodies")


def nowait(peer: Peer, kind: str) -> Verdict:
    """With nowait, consume has no answer, and the consumer works."""
    peer.open_session()
    queue = peer.queue()
    peer.claim("no consume-ok, and the content")
    peer.send(f"{kind}.consume", queue=queue, consumer_tag="silent", nowait=True)
    peer.barrier()
    answers = len(peer.pending(f"{kind}.consume-ok"))
    put(peer, kind, queue, [b"come"])
    found = got(peer, kind, 1)
    told = (answers, [(one.body, one.deliver["consumer_tag"]) for one in found])
    return equals(peer, told, (0, [(b"come", "silent")]), "answers, contents")


def default_exchange(peer: Peer, kind: str) -> Verdict:
    """A blank exchange and no exchange mean the default exchange."""
    peer.open_session()
    queue, other = peer.queue(), peer.queue()
    peer.claim("both contents in the queue that the key names")
    put(peer, kind, queue, [b"blank"], exchange="")
    put(peer, kind, queue, [b"none"])
    for name in (queue, other):
        consume(peer, kind, name, **_automatic(kind))
    found = [(one.body, one.deliver["exchange"] or "") for one in got(peer, kind, 2)]
    return equals(peer, found, [(b"blank", ""), (b"none", "")], "bodies, exchanges")


def mandatory(peer: Peer, kind: str) -> Verdict:
    """A mandatory content that cannot be routed to a queue is returned; other ones are dropped."""
    peer.open_session()
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.call("exchange.bind", exchange=exchange, queue=queue, binding_key="here")
    peer.claim("only the mandatory unroutable content returned, with no-route")
    for key, flag in (("gone", False), ("gone", True), ("here", True)):
        put(peer, kind, key, [b"%s %d" % (key.encode(), flag)], exchange=exchange, mandatory=flag)
    wanted = [(NO_ROUTE, exchange, "gone", b"gone 1")]
    back = _returned(peer, kind)
    row = "" if back else f"{kind}/publish/mandatory/implementation"
    return equals(peer, back, wanted, "returned", row)


def immediate(peer: Peer, kind: str) -> Verdict:
    """An immediate content is returned if no consumer is ready, and delivered if one is; others wait."""
    peer.open_session()
    idle, busy = peer.queue(), peer.queue()
    consume(peer, kind, busy)
    peer.claim("the immediate content without a consumer returned with no-consumers, the other two delivered")
    for queue, flag in ((idle, True), (idle, False), (busy, True)):
        put(peer, kind, queue, [b"%d %d" % (queue == busy, flag)], immediate=flag)
    direct = bodies(peer, kind, 1)
    back = _returned(peer, kind)
    consume(peer, kind, idle, **_automatic(kind))
    found = (back, direct, bodies(peer, kind, 1))
    # A server that does not implement the flag queues the content; it should implement it.
    lacks = found == ([], [b"1 1"], [b"0 1", b"0 0"])
    row = f"{kind}/publish/immediate/implementation" if lacks else ""
    wanted = ([(NO_CONSUMERS, "", idle, b"0 1")], [b"1 1"], [b"0 0"])
    return equals(peer, found, wanted, "returned, delivered, waiting", row)


def _returned(peer: Peer, kind: str) -> list[tuple[int, str, str, bytes]]:
    """Code, exchange, key and body of what returned; no text says how soon the first one does."""
    name = f"{kind}.return"
    first = peer.arrival(name)
    peer.barrier()
    found = [a for a in (first, *peer.pending(name)) if isinstance(a, AssemblyArrived) and a.name == name]
    return [(a["reply_code"], a["exchange"] or "", a["routing_key"] or "", a.body) for a in found]


def no_queue(peer: Peer, kind: str, **args: Any) -> Verdict:
    """A consumer without a queue is refused."""
    peer.open_session()
    return rejects(peer, f"{kind}.consume", queue="", consumer_tag="c", **args)


def no_tag(peer: Peer, kind: str) -> Verdict:
    """A consumer without a tag is refused."""
    peer.open_session()
    return rejects(peer, f"{kind}.consume", queue=peer.queue(), consumer_tag="")


def tag_in_use(peer: Peer, kind: str) -> Verdict:
    """A tag in use cannot be given to a second consumer; another connection may use it too."""
    peer.open_session()
    queue, other = peer.queue(exclusive=False), peer.another()
    other.open_session()
    for one in (peer, other):
        consume(one, kind, queue, consumer_tag="same")
    return rejects(peer, f"{kind}.consume", queue=queue, consumer_tag="same")


def exclusive_access(peer: Peer, kind: str) -> Verdict:
    """Exclusive access is refused if the queue has a consumer, and granted if it has none."""
    peer.open_session()
    peer.open_session(1)
    used, free = peer.queue(exclusive=False), peer.queue(exclusive=False)
    consume(peer, kind, used)
    consume(peer, kind, free, 1, exclusive=True)
    peer.send(f"{kind}.consume", 1, queue=used, consumer_tag="c", exclusive=True)
    return rejects_violation(peer, 1)


def by_headers(peer: Peer, kind: str) -> Verdict:
    """A headers exchange routes contents by the headers of their properties: by all of them, or by any."""
    peer.open_session()
    exchange, queues = peer.exchange("headers"), [peer.queue(exclusive=False) for _ in "12"]
    both = {"color": "red", "size": "big"}
    for queue, match in zip(queues, ("all", "any"), strict=True):
        bind(peer, exchange, queue, "headers", {"x-match": match, **both})
    sent = [(b"1", both), (b"2", {"color": "red"}), (b"3", {"color": "blue"})]
    peer.claim("the first content in both queues, the second in one, the third in none")
    for body, headers in sent:
        publish(peer, kind, "", body, exchange=exchange, properties={"headers": headers})
    peer.barrier()
    found = [left(peer, kind, queue, count, count) for count, queue in enumerate(queues, 1)]
    return equals(peer, found, [[b"1"], [b"1", b"2"]], "contents by queue")
