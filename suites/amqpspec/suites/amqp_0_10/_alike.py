"""Cases that classes file and stream have alike; in titles and rows, ``{kind}`` and ``{content}`` stand for theirs.

Knows: what both classes demand. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._contents import (
    FILE,
    STREAM,
    automatic,
    bodies,
    consume,
    consumers,
    got,
    left,
    publish,
    put,
)
from amqpspec.suites.amqp_0_10._entities import bind

NO_ROUTE, NO_CONSUMERS = 312, 313
_WORDS = {FILE: "file", STREAM: "packet"}
Body = Callable[[Peer, str], Verdict]
"""A case's function that gets a peer and the class."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that stand together in the modules of both classes."""

    rows: list[tuple[str, Sequence[str], Body]] = field(default_factory=list)

    def __call__(self, id: str, covers: Sequence[str]) -> Callable[[Body], Body]:
        """The function below is a case of the group."""

        def add(body: Body) -> Body:
            self.rows.append((id, covers, body))
            return body

        return add

    def declare(self, where: dict[str, Any], kind: str) -> None:
        """Declare the cases of a class in its module."""
        for id, covers, body in self.rows:
            _declare(where, kind, id, covers, body)


def _declare(where: dict[str, Any], kind: str, id: str, covers: Sequence[str], body: Body) -> None:
    word = _WORDS[kind]
    words = {"kind": kind, "content": word, "contents": f"{word}s", "Contents": f"{word.title()}s"}

    @wraps(body)
    def own(peer: Peer) -> Verdict:
        return body(peer, kind)

    own.__doc__, own.__module__ = str(body.__doc__).format(**words), where["__name__"]
    rows = [row.format(**words) for row in covers]
    where[f"case_{kind}.{id}"] = case(f"{kind}.{id}", rows, needs=(kind,))(own)


PRIORITIES, CONSUMERS, PUBLISHING, ROUTING = Group(), Group(), Group(), Group()

# --- priorities


@PRIORITIES("priority.two", covers=["{kind}/priority-levels/two"])
def two_priorities(peer: Peer, kind: str) -> Verdict:
    """{Contents} of priorities 5 to 9 are delivered before those of 0 to 4."""
    order = _by_priority(peer, kind, (4, 5, 0, 9))
    peer.claim("5 and 9 before 4 and 0")
    return holds(peer, sorted(order[:2]) == [5, 9] and sorted(order[2:]) == [0, 4], f"priorities {order}")


@PRIORITIES("priority.ten", covers=["{kind}/priority-levels/ten"])
def ten_priorities(peer: Peer, kind: str) -> Verdict:
    """A server may distinguish all ten priorities of {contents}."""
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
    consume(peer, kind, queue, **automatic(kind))
    return [int(body or b"-1") for body in bodies(peer, kind, len(priorities))]


# --- consumers


@CONSUMERS("consume.lifetime", covers=["{kind}/consume/lifetime"])
def lifetime(peer: Peer, kind: str) -> Verdict:
    """A consumer of {contents} exists until it is cancelled or its session ends."""
    peer.open_session()
    peer.open_session(1)
    queue = peer.queue(1, exclusive=False)
    first, second = (consume(peer, kind, queue, **automatic(kind)) for _ in "12")
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


@CONSUMERS("consume.min-consumers", covers=["{kind}/consume/min-consumers"])
def sixteen_consumers(peer: Peer, kind: str) -> Verdict:
    """A queue supports sixteen consumers of {contents}."""
    peer.open_session()
    queue = peer.queue()
    peer.claim("sixteen consumers")
    for _ in range(16):
        consume(peer, kind, queue)
    return equals(peer, consumers(peer, queue), 16, "consumers")


@CONSUMERS("consume.queue.empty", covers=["{kind}/consume/queue/queue-exists-if-empty"])
def no_queue(peer: Peer, kind: str) -> Verdict:
    """A consumer without a queue is refused."""
    peer.open_session()
    return rejects(peer, f"{kind}.consume", queue="", consumer_tag="c")


@CONSUMERS(
    "consume.tag.twice",
    covers=[
        "{kind}/consume/consumer-tag/not-existing-consumer/refused",
        "{kind}/consume/consumer-tag/not-existing-consumer/unique",
    ],
)
def tag_in_use(peer: Peer, kind: str) -> Verdict:
    """A tag in use cannot be given to a second consumer; another connection may use it too."""
    peer.open_session()
    queue, other = peer.queue(exclusive=False), peer.another()
    other.open_session()
    for one in (peer, other):
        consume(one, kind, queue, consumer_tag="same")
    return rejects(peer, f"{kind}.consume", queue=queue, consumer_tag="same")


@CONSUMERS("consume.tag.empty", covers=["{kind}/consume/consumer-tag/not-empty-consumer-tag"])
def no_tag(peer: Peer, kind: str) -> Verdict:
    """A consumer without a tag is refused."""
    peer.open_session()
    return rejects(peer, f"{kind}.consume", queue=peer.queue(), consumer_tag="")


@CONSUMERS("consume.no-local", covers=["{kind}/consume/no-local"])
def no_local(peer: Peer, kind: str) -> Verdict:
    """With no-local, a connection does not receive the {contents} that it published."""
    peer.open_session()
    quiet, usual = peer.queue(exclusive=False), peer.queue(exclusive=False)
    other = peer.another()
    other.open_session()
    every = automatic(kind)
    tags = [consume(peer, kind, quiet, no_local=True, **every), consume(peer, kind, usual, **every)]
    peer.claim("with no-local, only the content of the other connection")
    for queue in (quiet, usual):
        # In this order: no text says whether a content that no consumer may have holds up those after it.
        put(other, kind, queue, [b"other"])
        put(peer, kind, queue, [b"own"])
    found = got(peer, kind, 3)
    by_tag = [sorted(one.body or b"" for one in found if one.deliver["consumer_tag"] == tag) for tag in tags]
    return equals(peer, by_tag, [[b"other"], [b"other", b"own"]], "bodies")


@CONSUMERS("consume.exclusive.in-use", covers=["{kind}/consume/exclusive/in-use"])
def exclusive_access(peer: Peer, kind: str) -> Verdict:
    """Exclusive access is refused if the queue has a consumer, and granted if it has none."""
    peer.open_session()
    peer.open_session(1)
    used, free = peer.queue(exclusive=False), peer.queue(exclusive=False)
    consume(peer, kind, used)
    consume(peer, kind, free, 1, exclusive=True)
    peer.send(f"{kind}.consume", 1, queue=used, consumer_tag="c", exclusive=True)
    return rejects_violation(peer, 1)


@CONSUMERS("consume.nowait", covers=["{kind}/consume/nowait"])
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


@CONSUMERS("consume.nowait.refused", covers=["{kind}/consume/queue/queue-exists-if-empty"])
def nowait_refused(peer: Peer, kind: str) -> Verdict:
    """With nowait, a consume that fails still ends in an exception."""
    peer.open_session()
    return rejects(peer, f"{kind}.consume", queue="", consumer_tag="c", nowait=True)


# --- publishing and routing


@PUBLISHING("publish.exchange.default", covers=["{kind}/publish/exchange/default"])
def default_exchange(peer: Peer, kind: str) -> Verdict:
    """A blank exchange and no exchange mean the default exchange."""
    peer.open_session()
    queue, other = peer.queue(), peer.queue()
    peer.claim("both contents in the queue that the key names")
    put(peer, kind, queue, [b"blank"], exchange="")
    put(peer, kind, queue, [b"none"])
    for name in (queue, other):
        consume(peer, kind, name, **automatic(kind))
    found = [(one.body, one.deliver["exchange"] or "") for one in got(peer, kind, 2)]
    return equals(peer, found, [(b"blank", ""), (b"none", "")], "bodies, exchanges")


@PUBLISHING(
    "publish.mandatory", covers=["{kind}/publish/mandatory/return", "{kind}/publish/mandatory/implementation"]
)
def mandatory(peer: Peer, kind: str) -> Verdict:
    """A mandatory {content} that cannot be routed to a queue is returned; other ones are dropped."""
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


@PUBLISHING(
    "publish.immediate", covers=["{kind}/publish/immediate/return", "{kind}/publish/immediate/implementation"]
)
def immediate(peer: Peer, kind: str) -> Verdict:
    """An immediate {content} is returned if no consumer is ready; other {contents} wait."""
    peer.open_session()
    idle, busy = peer.queue(), peer.queue()
    consume(peer, kind, busy)
    peer.claim("the immediate content without a consumer returned with no-consumers, the other two delivered")
    for queue, flag in ((idle, True), (idle, False), (busy, True)):
        put(peer, kind, queue, [b"%d %d" % (queue == busy, flag)], immediate=flag)
    direct = bodies(peer, kind, 1)
    back = _returned(peer, kind)
    consume(peer, kind, idle, **automatic(kind))
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


@ROUTING("publish.headers", covers=["exchange-types/headers"])
def by_headers(peer: Peer, kind: str) -> Verdict:
    """A headers exchange routes {contents} by the headers of their properties: by all of them, or by any."""
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
