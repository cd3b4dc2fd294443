"""Class queue: declare and what it promises (amqp-0-10 class queue).

Knows: names, flags, alternate exchanges. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows, rejects, rejects_violation
from amqpspec.run.oracles import borne_aloud, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_10._contents import FILE, STREAM, consume, put
from amqpspec.suites.amqp_0_10._contents import bodies as contents
from amqpspec.suites.amqp_0_10._entities import after_restart, bodies, bound_to, has_queue, send, vanishes
from amqpspec.suites.amqp_0_10._messages import bodies_soon

# --- names and numbers


@in_session("queue.name.empty", covers=["queue/name/syntax"])
def no_name(peer: Peer) -> Verdict:
    """A queue without a name violates the syntax of names and may be refused."""
    peer.send("queue.declare", queue="", exclusive=True)
    return borne_aloud(peer, peer.reaction())


@in_session("queue.declare.minimum-queues", covers=["queue/declare/minimum-queues"], heavy=True)
def many_queues(peer: Peer) -> Verdict:
    """The server supports 256 queues."""
    names = [peer.will_clean("queue", peer.name("q")) for _ in range(256)]
    peer.claim("256 queues")
    for name in names:
        peer.call("queue.declare", queue=name, exclusive=True, auto_delete=True)
    return equals(peer, sum(has_queue(peer, name) for name in names), 256, "queues")


@in_session("queue.declare.reserved-prefix", covers=["queue/declare/queue/reserved-prefix"])
def reserved_name(peer: Peer) -> Verdict:
    """A queue name that begins with amq. cannot be declared."""
    return rejects(peer, "queue.declare", queue=f"amq.{peer.name('q')}", exclusive=True)


# --- passive


@in_session("queue.declare.passive.missing", covers=["queue/declare/passive/passive"])
def passive_declare(peer: Peer) -> Verdict:
    """A passive declare of a queue that does not exist is refused."""
    return rejects(peer, "queue.declare", queue=peer.name("missing"), passive=True)


@on_queue("queue.declare.passive.known", covers=["queue/declare/passive/passive"])
def passive_declare_of_a_queue(peer: Peer, queue: str) -> Verdict:
    """A passive declare of an existing queue is accepted and does not change its messages."""
    send(peer, None, queue, b"there")
    peer.claim("no refusal, and the earlier message")
    peer.call("queue.declare", queue=queue, passive=True)
    return equals(peer, bodies(peer, queue), [b"there"], "bodies")


@in_session("queue.declare.passive.no-create", covers=["queue/declare/passive/no-create"])
def passive_declare_makes_nothing(peer: Peer) -> Verdict:
    """A passive declare never creates a queue."""
    name = peer.will_clean("queue", peer.name("missing"))
    peer.send("queue.declare", queue=name, passive=True)
    peer.reaction()
    peer.open_session(1)
    peer.claim("no such queue")
    return equals(peer, has_queue(peer, name, 1), False, "queue there")


@on_queue("queue.declare.arguments.passive", covers=["queue/declare/arguments/passive"])
def passive_declare_with_arguments(peer: Peer, queue: str) -> Verdict:
    """The server ignores the arguments of a passive declare."""
    peer.claim("the server accepts a passive declare with unknown arguments")
    peer.send("queue.declare", queue=queue, passive=True, arguments={"amqpspec-unknown": "x"})
    return allows(peer)


@in_session("queue.declare.arguments.unknown", covers=["queue/declare/arguments/unknown-argument"])
def unknown_arguments(peer: Peer) -> Verdict:
    """Arguments of a declare that the server does not know are refused."""
    name = peer.will_clean("queue", peer.name("q"))
    return rejects(peer, "queue.declare", queue=name, exclusive=True, arguments={"amqpspec-unknown": "x"})


# --- the alternate exchange


@in_session(
    "queue.declare.alternate-exchange.rejected",
    covers=["queue/declare/alternate-exchange/routed", "queue/declare/alternate-exchange/removed"],
)
def rejected_messages(peer: Peer) -> Verdict:
    """Rejected messages leave their queue and go to the alternate exchange; accepted ones do not."""
    alternate = peer.exchange("fanout")
    (orphans,) = bound_to(peer, alternate, [""])
    queue = peer.queue(alternate_exchange=alternate)
    for body in (b"rejected", b"accepted"):
        send(peer, None, queue, body)
    peer.subscribe(queue)
    first, second = peer.transfers(2)
    assert first.id is not None
    peer.claim("the rejected message at the alternate exchange only")
    peer.call("message.reject", transfers=((first.id, first.id),), code=0)
    peer.accept([second])
    found = [bodies(peer, name) for name in (orphans, queue)]
    return equals(peer, found, [[b"rejected"], []], "bodies")


@on_shared_queue("queue.declare.alternate-exchange.none", covers=["queue/declare/alternate-exchange/removed"])
def rejected_without_an_alternate(peer: Peer, queue: str) -> Verdict:
    """Without an alternate exchange, rejected messages are removed from their queue too."""
    for body in (b"rejected", b"kept"):
        send(peer, None, queue, body)
    destination = peer.subscribe(queue)
    first, _ = peer.transfers(2)
    assert first.id is not None
    peer.claim("only the message that was not rejected")
    peer.call("message.reject", transfers=((first.id, first.id),), code=0)
    peer.call("message.cancel", destination=destination)
    peer.detach()
    peer.open_session(1)
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"kept"], "bodies")


@in_session(
    "queue.declare.alternate-exchange.pre-existing",
    covers=["queue/declare/alternate-exchange/pre-existing-exchange"],
)
def another_alternate_exchange(peer: Peer) -> Verdict:
    """A queue cannot be declared again with another alternate exchange."""
    first, second = peer.exchange("fanout"), peer.exchange("fanout")
    queue = peer.queue(alternate_exchange=first)
    return rejects(peer, "queue.declare", queue=queue, exclusive=True, alternate_exchange=second)


@in_session(
    "queue.declare.alternate-exchange.again",
    covers=["queue/declare/alternate-exchange/pre-existing-exchange"],
)
def same_alternate_exchange(peer: Peer) -> Verdict:
    """A queue can be declared again with the same alternate exchange."""
    alternate = peer.exchange("fanout")
    queue = peer.queue(alternate_exchange=alternate)
    peer.claim("the declare executed, the session still attached")
    peer.send("queue.declare", queue=queue, exclusive=True, alternate_exchange=alternate)
    return allows(peer)


@in_session(
    "queue.declare.alternate-exchange.unknown", covers=["queue/declare/alternate-exchange/unknown-exchange"]
)
def unknown_alternate_exchange(peer: Peer) -> Verdict:
    """A queue cannot be declared with an alternate exchange that does not exist."""
    name = peer.will_clean("queue", peer.name("q"))
    return rejects(peer, "queue.declare", queue=name, exclusive=True, alternate_exchange=peer.name("missing"))


# --- durability


@in_session("queue.declare.durable.both", covers=["queue/declare/durable/types"])
def durable_and_transient(peer: Peer) -> Verdict:
    """The server supports durable and transient queues, and a query distinguishes them."""
    peer.claim("a durable queue and a transient one")
    names = [peer.queue(durable=durable, exclusive=False) for durable in (True, False)]
    found = [bool(peer.call("queue.query", queue=name).fields.get("durable")) for name in names]
    return equals(peer, found, [True, False], "durable")


@in_session(
    "queue.declare.durable.restart",
    covers=["queue/declare/durable/restart", "queue/declare/durable/persistence"],
    restarts=True,
)
def restart(peer: Peer) -> Verdict:
    """A durable queue survives a restart and accepts messages; a transient one does not."""
    names = [peer.queue(durable=durable, exclusive=False) for durable in (True, False)]
    after = after_restart(peer)
    after.claim("only the durable queue, which accepts messages")
    there = [has_queue(after, name) for name in names]
    send(after, None, names[0], b"after")
    return equals(after, (there, bodies(after, names[0])), ([True, False], [b"after"]), "there, bodies")


@in_session("queue.declare.durable.pre-existence", covers=["queue/declare/durable/pre-existence"])
def durable_again(peer: Peer) -> Verdict:
    """The server ignores durable if the queue already exists."""
    names = [peer.queue(durable=durable, exclusive=False) for durable in (True, False)]
    peer.claim("no refusal, and durability unchanged")
    for name, durable in zip(names, (False, True), strict=True):
        peer.call("queue.declare", queue=name, durable=durable)
    found = [bool(peer.call("queue.query", queue=name).fields.get("durable")) for name in names]
    return equals(peer, found, [True, False], "durable")


# --- exclusive queues


@in_session("queue.declare.exclusive.both", covers=["queue/declare/exclusive/types"])
def exclusive_and_shared(peer: Peer) -> Verdict:
    """The server supports exclusive and shared queues, and a query distinguishes them."""
    peer.claim("an exclusive queue and a shared one")
    names = [peer.queue(exclusive=exclusive) for exclusive in (True, False)]
    found = [bool(peer.call("queue.query", queue=name).fields.get("exclusive")) for name in names]
    return equals(peer, found, [True, False], "exclusive")


def _in_use(peer: Peer, name: str, **args: Any) -> Verdict:
    """Commands of another session about an exclusive queue are refused."""
    peer.open_session(1)
    peer.send(name, 1, **args)
    return rejects_violation(peer, 1)


@in_session(
    "queue.declare.exclusive.declare",
    covers=["queue/declare/exclusive/in-use", "queue/declare/exclusive/one-session"],
)
def declared_by_another(peer: Peer) -> Verdict:
    """Another session of the same connection cannot declare an exclusive queue."""
    return _in_use(peer, "queue.declare", queue=peer.queue(exclusive=True))


@in_session("queue.declare.exclusive.bind", covers=["queue/declare/exclusive/in-use"])
def bound_by_another(peer: Peer) -> Verdict:
    """Another session cannot bind an exclusive queue."""
    queue = peer.queue(exclusive=True)
    return _in_use(peer, "exchange.bind", queue=queue, exchange="amq.direct", binding_key=queue)


@in_session("queue.declare.exclusive.subscribe", covers=["queue/declare/exclusive/in-use"])
def subscribed_by_another(peer: Peer) -> Verdict:
    """Another session cannot subscribe to an exclusive queue."""
    queue = peer.queue(exclusive=True)
    return _in_use(peer, "message.subscribe", queue=queue, destination="d", accept_mode=0, acquire_mode=0)


@in_session("queue.declare.exclusive.other-connection", covers=["queue/declare/exclusive/in-use"])
def declared_on_another_connection(peer: Peer) -> Verdict:
    """A session of another connection cannot declare an exclusive queue."""
    queue = peer.queue(exclusive=True)
    other = peer.another()
    other.open_session()
    other.send("queue.declare", queue=queue)
    return rejects_violation(other)


@in_two_sessions("queue.declare.exclusive.closed", covers=["queue/declare/exclusive/one-session"])
def free_again(peer: Peer) -> Verdict:
    """After its session closes, an exclusive queue that still exists can be used by another session."""
    queue = peer.queue(exclusive=True)
    send(peer, None, queue, b"left")
    peer.detach()
    peer.claim("the queue of the closed session, usable by another one")
    if not has_queue(peer, queue, 1):
        return equals(peer, "deleted with its session", "deleted with its session", "queue")
    peer.call("queue.declare", 1, queue=queue)
    return equals(peer, bodies(peer, queue, 1), [b"left"], "bodies")


@in_two_sessions("queue.declare.auto-delete.exclusive", covers=["queue/declare/auto-delete/exclusive"])
def goes_with_its_session(peer: Peer) -> Verdict:
    """An exclusive auto-delete queue is deleted when its session ends; that of another session remains."""
    queues = [peer.queue(channel, exclusive=True, auto_delete=True) for channel in (0, 1)]
    peer.claim("only the queue of the remaining session")
    peer.detach()
    gone = vanishes(peer, "queue", queues[0], 1)
    return equals(peer, (gone, has_queue(peer, queues[1], 1)), (True, True), "first deleted, second exists")


# --- contents


@on_queue("queue.any-content", covers=["queue/any-content"], needs=("file", "stream"))
def contents_of_every_class(peer: Peer, queue: str) -> Verdict:
    """A queue accepts messages, files and streams, and delivers each to consumers of its class."""
    for number in (b"1", b"2"):
        send(peer, None, queue, b"message " + number)
        put(peer, FILE, queue, [b"file " + number])
        put(peer, STREAM, queue, [b"stream " + number])
    peer.claim("two of each")
    found: list[Sequence[bytes | None]] = []
    for kind in (FILE, STREAM):
        consume(peer, kind, queue)
        found.append(contents(peer, kind, 2))
    found.append(bodies(peer, queue))
    wanted = [[what + b" 1", what + b" 2"] for what in (b"file", b"stream", b"message")]
    return equals(peer, found, wanted, "files, streams, messages")


# --- auto-delete


@in_session("queue.declare.auto-delete.last-consumer", covers=["queue/declare/auto-delete/last-consumer"])
def goes_with_its_last_consumer(peer: Peer) -> Verdict:
    """An auto-delete queue is deleted with its last consumer, not with the first."""
    peer.claim("the queue exists while it has a consumer; one that never had a consumer remains")
    queue, unused = (peer.queue(auto_delete=True, exclusive=False) for _ in "12")
    consumers = [peer.subscribe(queue) for _ in "12"]
    peer.call("message.cancel", destination=consumers[0])
    there = has_queue(peer, queue)
    peer.call("message.cancel", destination=consumers[1])
    gone = vanishes(peer, "queue", queue)
    found = (there, gone, has_queue(peer, unused))
    return equals(peer, found, (True, True, True), "exists, deleted, unused one exists")


@in_session("queue.declare.auto-delete.pre-existence", covers=["queue/declare/auto-delete/pre-existence"])
def auto_delete_again(peer: Peer) -> Verdict:
    """The server ignores auto-delete if the queue already exists."""
    names = [peer.queue(auto_delete=auto, exclusive=False) for auto in (True, False)]
    peer.claim("no refusal; only the queue declared as auto-delete is deleted with its consumer")
    for name, auto in zip(names, (False, True), strict=True):
        peer.call("queue.declare", queue=name, auto_delete=auto)
        peer.call("message.cancel", destination=peer.subscribe(name))
    gone = vanishes(peer, "queue", names[0])
    return equals(peer, (gone, has_queue(peer, names[1])), (True, True), "first deleted, second exists")
