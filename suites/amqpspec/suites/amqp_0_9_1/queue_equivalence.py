"""Queues: what a second declare has to match (amqp-0-9-1 class queue, method declare)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import best, does_not_apply, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_shared_queue
from amqpspec.suites.amqp_0_9_1._queues import arguments_of, contents, counts, fill


@on_shared_queue(
    "queue.declare.equivalent.durable",
    covers=["queue/declare/passive/equivalent-check", "queue/declare/passive/equivalent-mismatch"],
)
def durable_is_compared(peer: Peer, queue: str) -> Verdict:
    """A transient queue cannot be redeclared as durable."""
    peer.send("queue.declare", queue=queue, durable=True)
    return rejects_violation(peer)


@on_shared_queue(
    "queue.declare.equivalent.exclusive",
    covers=[
        "queue/declare/passive/equivalent-check",
        "queue/declare/passive/equivalent-mismatch",
        "queue/declare/exclusive/exclusive",
    ],
)
def exclusive_is_compared(peer: Peer, queue: str) -> Verdict:
    """A shared queue cannot be redeclared as exclusive."""
    peer.send("queue.declare", queue=queue, exclusive=True)
    reaction = peer.reaction()
    # No code is named for a mismatch. To one that asks for a separate queue, "others have access to it" (405) is as
    # good an answer as "it is another kind of queue" (406).
    rows = ("queue/declare/passive/equivalent-mismatch", "queue/declare/exclusive/exclusive")
    return best(judge_reaction(peer, reaction, row) for row in rows)


@on_channel(
    "queue.declare.equivalent.arguments",
    covers=["queue/declare/passive/equivalent-check", "queue/declare/passive/equivalent-mismatch"],
)
def arguments_are_compared(peer: Peer) -> Verdict:
    """A queue cannot be redeclared with other values of arguments that common servers support."""
    queue = peer.queue(arguments=arguments_of(60_000))
    peer.send("queue.declare", queue=queue, exclusive=True, arguments=arguments_of(90_000))
    reaction = peer.reaction()
    if reaction.refusal is None and not _bounds_length(peer):  # then both say the same to it
        return does_not_apply(peer, "the argument x-max-length has no effect")
    return judge_reaction(peer, reaction)


@on_channel("queue.declare.equivalent.same", covers=["queue/declare/passive/equivalent-match"])
def same_declare_is_confirmed(peer: Peer) -> Verdict:
    """A durable queue and an exclusive queue can be redeclared with the same properties."""
    durable, exclusive = peer.queue(durable=True), peer.queue(exclusive=True)
    peer.claim("declare-ok for what matches")
    peer.call("queue.declare", queue=durable, durable=True)
    peer.send("queue.declare", queue=exclusive, exclusive=True)
    return allows(peer)


@on_channel("queue.declare.equivalent.same-arguments", covers=["queue/declare/passive/equivalent-match"])
def same_arguments_are_confirmed(peer: Peer) -> Verdict:
    """Equal arguments are equivalent in any order."""
    arguments = arguments_of(60_000)
    queue = peer.queue(arguments=arguments)
    peer.claim("declare-ok for what matches")
    peer.send("queue.declare", queue=queue, exclusive=True, arguments=dict(reversed(arguments.items())))
    return allows(peer)


@on_shared_queue(
    "queue.declare.equivalent.mismatch-harmless", covers=["queue/declare/passive/equivalent-mismatch"]
)
def mismatch_changes_nothing(peer: Peer, queue: str) -> Verdict:
    """A declare that contradicts the queue closes the channel, but not the connection, and the queue is unchanged."""
    bodies = fill(peer, queue, 1)
    peer.claim("the queue unchanged, on another channel of the same connection")
    peer.send("queue.declare", queue=queue, durable=True)
    refused = peer.arrival("queue.declare-ok")
    peer.open_channel(2)  # the refusal has closed channel 1
    left = contents(peer, queue, channel=2)
    observed = f"{refused.describe(peer.dialect)}; messages {left}"
    return holds(peer, refused.kind.startswith("channel.close") and left == bodies, observed, seen=refused)


# --- steps


def _bounds_length(peer: Peer) -> bool:
    """Whether a queue takes no more messages than its arguments allow."""
    queue = peer.queue(arguments={"x-max-length": 1})
    for body in (b"1", b"2"):
        peer.publish(queue, body)
    peer.wait(lambda arrival: False, peer.context.patience.quiet_s)  # basic.publish has no reply
    return counts(peer, queue)[0] < 2
