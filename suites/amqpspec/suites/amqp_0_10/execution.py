"""Class execution: waiting for completion, results, exceptions.

Knows: exceptions and what they name. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
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


@case("execution.exception.command-id", covers=["execution/exception/command-id"])
def exception_names_its_command(peer: Peer) -> Verdict:
    """An exception names the command that failed, which is not the first one."""
    peer.open_session()
    peer.barrier()
    failing = peer.send("queue.delete", queue=peer.name("missing"), sync=True)
    peer.claim("an exception with the id of the command that failed")
    return equals(peer, peer.expect("execution.exception")["command_id"], failing, "command")


@case("execution.exception.field-index", covers=["execution/exception/field-index"])
def exception_names_its_field(peer: Peer) -> Verdict:
    """Where an exception names a field, the name of the queue that is missing is field 0."""
    peer.open_session()
    peer.send("queue.delete", queue=peer.name("missing"), sync=True)
    peer.claim("field 0, or no field")
    index = peer.expect("execution.exception")["field_index"]
    return holds(peer, index in (None, 0), f"field {index}")


@case(
    "session-layer.exception",
    covers=[
        "session-layer/exception/session-only",
        "session-layer/exception/detach",
        "encoding/exception/channel",
    ],
)
def exception_ends_its_session_only(peer: Peer) -> Verdict:
    """An exception ends its session, and leaves another one on the same connection working."""
    for channel in (0, 1):
        peer.open_session(channel)
    peer.send("queue.delete", 1, queue=peer.name("missing"), sync=True)
    peer.expect("execution.exception", channel=1)
    peer.claim("the session is detached, and the other one works on")
    ending = peer.expect("session.detached", "session.detach", channel=1)
    peer.barrier(0)
    return holds(peer, True, ending)
