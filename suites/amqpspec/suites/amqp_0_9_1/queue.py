"""Queues: declaring them, their names, what they share and how long they live (amqp-0-9-1 queue.declare)."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import arguments_of, contents, counts, exists, fill, routed

# --- declare


@on_channel("queue.unattached.gets-nothing", covers=["queue/unattached"])
def unattached_queue_gets_nothing(peer: Peer) -> Verdict:
    """A queue that is bound to no exchange receives no message published to one."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.claim("nothing in a queue that is not bound")
    peer.publish(queue, b"astray", exchange=exchange)
    return equals(peer, contents(peer, queue), [], "messages")


@on_channel("queue.unattached.unbound-again", covers=["queue/unattached"])
def queue_gets_nothing_after_unbind(peer: Peer) -> Verdict:
    """A queue receives no more messages from an exchange after it was unbound from it."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    peer.publish("key", b"bound", exchange=exchange)
    peer.claim("only what was published while the queue was bound")
    peer.call("queue.unbind", queue=queue, exchange=exchange, routing_key="key")
    peer.publish("key", b"unbound", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"bound"], "messages")


@on_channel("queue.declare.creates", covers=["queue/declare"])
def declare_creates_a_queue(peer: Peer) -> Verdict:
    """Declaring a missing queue creates it."""
    name = peer.name("q")
    absent = not exists(peer, name)
    peer.claim("no queue before it is declared, and a queue afterwards")
    peer.queue(queue=name)
    present = exists(peer, name)
    return holds(
        peer, absent and present, f"before: {'no ' * absent}queue, after: {'no ' * (not present)}queue"
    )


@on_queue("queue.declare.confirms-existing", covers=["queue/declare"])
def declare_confirms_a_queue(peer: Peer, queue: str) -> Verdict:
    """Declaring an existing queue leaves it and its messages unchanged."""
    bodies = fill(peer, queue, 1)
    peer.claim("declare-ok for the queue that exists")
    peer.queue(queue=queue)
    return equals(peer, contents(peer, queue), bodies, "messages")


@on_queue("queue.declare.default-binding", covers=["queue/declare/default-binding"])
def new_queue_hangs_on_default_exchange(peer: Peer, queue: str) -> Verdict:
    """A message sent to the default exchange with a queue's name reaches that queue without an explicit binding."""
    peer.claim("the message that was addressed to the queue by name")
    peer.consume(queue, no_ack=True)
    peer.publish(queue, b"by name")
    return equals(peer, peer.delivery().body, b"by name", "delivered body")


@on_channel("queue.declare.minimum-queues", covers=["queue/declare/minimum-queues"], destructive=True)
def many_queues_at_once(peer: Peer) -> Verdict:
    """256 queues can exist at the same time."""
    names = [peer.name("q") for _ in range(256)]  # queue/declare/minimum-queues
    peer.claim("256 queues")
    for name in names:
        peer.send("queue.declare", queue=name, exclusive=True)
    declared = [peer.expect("queue.declare-ok")["queue"] for _ in names]
    return equals(peer, len(set(declared) & set(names)), 256, "queues")


# --- declare: names


@on_channel("queue.declare.queue.blank", covers=["queue/declare/queue/default-name-empty"])
def declare_without_a_name(peer: Peer) -> Verdict:
    """A queue can be declared without a name."""
    peer.claim("declare-ok for a queue without a name")
    peer.send("queue.declare", exclusive=True)
    return allows(peer)


@on_channel(
    "queue.declare.queue.generated",
    covers=["queue/declare/queue/default-name-generated", "queue/declare-ok/queue"],
)
def generated_names_differ(peer: Peer) -> Verdict:
    """The server generates a name for each queue without one, and clients can use the queue by it."""
    peer.claim("three different names, each of one queue")
    names = [peer.call("queue.declare", exclusive=True)["queue"] for _ in range(3)]
    for name in names:
        peer.publish(name, name.encode())
    reached = sum(contents(peer, name) == [name.encode()] for name in names)
    return holds(
        peer, len(set(names)) == 3 and reached == 3, f"names {names}, {reached} of them reached a queue"
    )


@on_channel("queue.declare.queue.reserved", covers=["queue/declare/queue/reserved"])
def reserved_name_is_refused(peer: Peer) -> Verdict:
    """A client cannot declare a new queue whose name begins with ``amq.``."""
    peer.send("queue.declare", queue=f"amq.{peer.name('q')}"[:127], exclusive=True)  # a name has 127 octets
    return rejects_violation(peer)


@on_channel(
    "queue.declare.queue.reserved-passive",
    covers=["queue/declare/passive/not-found", "queue/declare/queue/reserved"],
)
def reserved_name_can_be_asked_for(peer: Peer) -> Verdict:
    """A passive declare of a missing queue with a reserved name is answered as for any other missing queue."""
    peer.send("queue.declare", queue=f"amq.{peer.name('q')}"[:127], passive=True)
    return rejects_violation(peer)


@on_channel("queue.declare.queue.reserved-existing", covers=["queue/declare/queue/reserved"])
def reserved_name_that_exists(peer: Peer) -> Verdict:
    """An existing queue whose name begins with ``amq.`` can be redeclared."""
    name = peer.call("queue.declare", exclusive=True)["queue"]
    if not name.startswith("amq."):  # how a server generates names is its own choice
        return does_not_apply(peer, f"no queue with a reserved name: a generated name is {name!r}")
    peer.claim("declare-ok for a queue that exists")
    peer.send("queue.declare", queue=name, exclusive=True)
    return allows(peer)


@on_channel("queue.declare.queue.illegal-character", covers=["queue/declare/queue/syntax"])
def illegal_name_is_refused(peer: Peer) -> Verdict:
    """A queue name with characters other than letters, digits and - _ . : is refused."""
    peer.send("queue.declare", queue=f"{peer.name('q')} a/b?", exclusive=True)
    return rejects_violation(peer)


@on_channel("queue.declare.queue.legal-characters", covers=["queue/declare/queue/syntax"])
def legal_name_is_taken(peer: Peer) -> Verdict:
    """The server accepts letters of both cases, digits and each of - _ . : in a queue name"""
    peer.claim("declare-ok for a legal name")
    peer.send("queue.declare", queue=f"{peer.name('q')}-aAzZ09_.:"[-127:], exclusive=True)
    return allows(peer)


# --- declare: passive


@on_queue("queue.declare.passive.exists", covers=["queue/declare/passive/exists"])
def passive_declare_of_a_queue(peer: Peer, queue: str) -> Verdict:
    """A passive declare of an existing queue is confirmed and leaves its messages unchanged."""
    bodies = fill(peer, queue, 2)
    peer.claim("declare-ok, and nothing changed")
    peer.call("queue.declare", queue=queue, passive=True)
    return equals(peer, contents(peer, queue), bodies, "messages")


@on_channel("queue.declare.passive.ignored-fields", covers=["queue/declare/passive/ignored-fields"])
def passive_declare_ignores_fields(peer: Peer) -> Verdict:
    """A passive declare does not compare durable, exclusive, auto-delete or arguments."""
    queue = peer.queue(exclusive=False, auto_delete=True)
    peer.claim("declare-ok, whatever the other fields are")
    flags = {"durable": True, "exclusive": True, "auto_delete": False}  # none of them fits the queue
    peer.send("queue.declare", queue=queue, passive=True, arguments=arguments_of(60_000), **flags)
    return allows(peer)


@on_queue("queue.declare.passive.no-wait-existing", covers=["queue/declare/passive/no-wait"])
def passive_no_wait_is_silent(peer: Peer, queue: str) -> Verdict:
    """A passive declare with no-wait of an existing queue is not answered."""
    peer.claim("no reply")
    peer.send("queue.declare", queue=queue, passive=True, no_wait=True)
    peer.barrier()
    return equals(peer, len(peer.pending("queue.declare-ok")), 0, "replies")


@on_channel("queue.declare.passive.no-wait-missing", covers=["queue/declare/passive/no-wait"])
def passive_no_wait_creates_nothing(peer: Peer) -> Verdict:
    """A passive declare with no-wait of a missing queue is ignored or refused, and creates no queue."""
    name = peer.name("q")
    peer.claim("no queue, and no reply but a refusal")
    peer.send("queue.declare", queue=name, passive=True, no_wait=True, exclusive=True)
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    seen = [a.name for a in reaction.arrivals if isinstance(a, MethodArrived)]
    made = exists(peer, name)
    return holds(peer, "queue.declare-ok" not in seen and not made, f"{', '.join(seen)}; a queue: {made}")


@on_channel("queue.declare.passive.missing", covers=["queue/declare/passive/not-found"])
def passive_declare_of_nothing(peer: Peer) -> Verdict:
    """A passive declare of a missing queue is refused."""
    peer.send("queue.declare", queue=peer.name("q"), passive=True)
    return rejects_violation(peer)


@on_channel("queue.declare.passive.missing-not-created", covers=["queue/declare/passive/not-found"])
def passive_declare_creates_nothing(peer: Peer) -> Verdict:
    """A passive declare does not create the missing queue."""
    name = peer.name("q")
    peer.send("queue.declare", queue=name, passive=True, exclusive=True)
    peer.arrival("queue.declare-ok")  # the refusal, which another case judges
    peer.claim("no queue")
    return equals(peer, exists(peer, name), False, "a queue")


# --- declare-ok


@on_channel("queue.declare.no-wait.silent", covers=["queue/declare/no-wait"])
def declare_without_reply(peer: Peer) -> Verdict:
    """A declare with no-wait creates the queue and is not answered."""
    name = peer.name("q")
    peer.claim("a queue and no reply")
    peer.send("queue.declare", queue=name, exclusive=True, no_wait=True)
    peer.barrier()
    replies, made = len(peer.pending("queue.declare-ok")), exists(peer, name)
    return holds(peer, made and not replies, f"{replies} replies, a queue: {made}")


@case("queue.declare.no-wait.failure", covers=["queue/declare/no-wait"])
def failing_declare_without_reply(peer: Peer) -> Verdict:
    """A declare with no-wait that fails raises an exception."""
    queue = peer.another().open_channel().queue(exclusive=True)  # closed to the others (405)
    peer.open_channel()
    peer.send("queue.declare", queue=queue, exclusive=True, no_wait=True)
    return rejects_violation(peer)


@on_channel("queue.declare-ok.queue", covers=["queue/declare-ok/queue"])
def declare_ok_tells_the_name(peer: Peer) -> Verdict:
    """declare-ok contains the queue name, whether the queue is created, redeclared or declared passively."""
    name = peer.name("q")
    peer.claim("the name of the queue")
    made = peer.call("queue.declare", queue=name, exclusive=True)["queue"]
    confirmed = peer.call("queue.declare", queue=name, exclusive=True)["queue"]
    asked = peer.call("queue.declare", queue=name, passive=True)["queue"]
    return equals(peer, [made, confirmed, asked], [name] * 3, "names")


@on_queue("queue.declare-ok.message-count", covers=["queue/declare-ok/consumer-count"])
def declare_ok_counts_messages(peer: Peer, queue: str) -> Verdict:
    """declare-ok reports the number of ready messages."""
    fill(peer, queue, 3)
    peer.claim("the number of messages")
    return equals(peer, counts(peer, queue), (3, 0), "messages and consumers")


@on_queue("queue.declare-ok.consumer-count", covers=["queue/declare-ok/consumer-count"])
def declare_ok_counts_consumers(peer: Peer, queue: str) -> Verdict:
    """declare-ok reports the number of consumers, without cancelled ones."""
    peer.claim("the current number of consumers")
    first = peer.consume(queue)
    peer.consume(queue)
    both = counts(peer, queue)
    peer.call("basic.cancel", consumer_tag=first)
    return equals(peer, [both, counts(peer, queue)], [(0, 2), (0, 1)], "messages and consumers")


@on_queue("queue.declare-ok.paused-consumer", covers=["queue/declare-ok/consumer-count"])
def declare_ok_leaves_out_paused_consumers(peer: Peer, queue: str) -> Verdict:
    """The consumer count does not include consumers of a channel whose flow is stopped."""
    peer.consume(queue)
    peer.open_channel(2)
    peer.consume(queue, channel=2)
    peer.call("channel.flow", channel=2, active=False)  # no longer active
    peer.claim("one active consumer")
    return equals(peer, counts(peer, queue), (0, 1), "messages and consumers")
