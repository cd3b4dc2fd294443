"""Class execution: waiting for completion, results, exceptions.

Knows: exceptions and what they name. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict


@case("execution.error-code.not-found", covers=["execution/error-code/not-found"])
def not_found(peer: Peer) -> Verdict:
    """A queue that does not exist cannot be deleted."""
    peer.open_session()
    peer.send("queue.delete", queue=peer.name("missing"))
    return rejects_violation(peer)


@case("execution.result", covers=["execution/result"])
def results(peer: Peer) -> Verdict:
    """Of two queries, each result comes with the id of its own query."""
    peer.open_session()
    names = [peer.queue() for _ in "12"]
    ids = [peer.send("queue.query", queue=name) for name in names]
    peer.claim("a result for each query, by its id")
    found = [peer.result(number).fields.get("queue") for number in reversed(ids)]
    return equals(peer, found, names[::-1], "queues")
