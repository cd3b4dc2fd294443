"""Class execution: waiting for completion, results, exceptions.

Knows: exceptions and what they name. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._wire import command_of, each_judged, queues_there, send_command
from amqpspec.wire.amqp_0_10.instructions import encode_instruction


@in_session("execution.error-code.not-found", covers=["execution/error-code/not-found"])
def not_found(peer: Peer) -> Verdict:
    """The delete of a queue that does not exist is refused with 404."""
    return rejects(peer, "queue.delete", queue=peer.name("missing"))


@in_session(
    "execution.error-code.unauthorized-access",
    covers=["execution/error-code/unauthorized-access"],
    hooks=["limited-user"],
)
def not_permitted(peer: Peer) -> Verdict:
    """A user without permissions cannot declare a queue, and the queue does not exist afterwards."""
    limited = peer.another("limited")
    limited.open_session()
    name = peer.will_clean("queue", limited.name("q"))
    limited.send("queue.declare", queue=name)
    refused = rejects_violation(limited)
    return refused if queues_there(peer, [name]) == [] else holds(peer, False, "a queue", "no queue")


@in_session("execution.error-code.resource-locked", covers=["execution/error-code/resource-locked"])
def held_by_another(peer: Peer) -> Verdict:
    """An exclusive queue of another connection cannot be declared."""
    queue = peer.queue(exclusive=True)
    other = peer.another()
    other.open_session()
    other.send("queue.declare", queue=queue, exclusive=True)
    return rejects_violation(other)


@case("execution.error-code.resource-deleted", covers=["execution/error-code/resource-deleted"])
def deleted_under_a_subscription(peer: Peer) -> Verdict:
    """If another session deletes the queue of a subscription, the session of the subscription is notified."""
    for channel in (0, 1):
        peer.open_session(channel)
    queue, other = (peer.queue(exclusive=False) for _ in "12")
    for name in (queue, other):
        peer.subscribe(name)
    peer.send("queue.delete", 1, queue=queue)
    return judge_reaction(peer, peer.reaction(barrier=False, within_s=peer.patience_s))


@in_session("execution.error-code.illegal-state", covers=["execution/error-code/illegal-state"], needs=["tx"])
def out_of_order(peer: Peer) -> Verdict:
    """A session that has not selected transactions cannot commit."""
    return rejects(peer, "tx.commit")


@in_session("execution.error-code.command-invalid", covers=["execution/error-code/command-invalid"])
def cannot_be_decoded(peer: Peer) -> Verdict:
    """A command that ends within an argument cannot be decoded."""
    octets = encode_instruction("queue.declare", {"queue": peer.name("q"), "alternate_exchange": "x"})
    send_command(peer, octets[:-3])
    return rejects_violation(peer)


@in_session("execution.error-code.not-allowed", covers=["execution/error-code/not-allowed"])
def against_the_rules(peer: Peer) -> Verdict:
    """An exchange cannot be declared again with another type."""
    return rejects(peer, "exchange.declare", exchange=peer.exchange("fanout"), type="direct")


@case("execution.error-code.illegal-argument", covers=["execution/error-code/illegal-argument"])
def outside_of_the_domain(peer: Peer) -> Verdict:
    """Undefined values of modes and units may be refused."""
    accept = {"queue": "q", "destination": "d", "accept_mode": 7, "acquire_mode": 0}
    acquire = {**accept, "accept_mode": 0, "acquire_mode": 7}
    wrong = [
        encode_instruction("message.subscribe", accept),
        encode_instruction("message.subscribe", acquire),
        encode_instruction("message.flow", {"destination": "d", "unit": 9, "value": 1}),
    ]
    return each_judged(peer, [command_of(octets) for octets in wrong], borne)


@in_session("execution.error-code.not-implemented", covers=["execution/error-code/not-implemented"])
def not_there(peer: Peer) -> Verdict:
    """Arguments of a declare that no server supports are not implemented."""
    name = peer.will_clean("queue", peer.name("q"))
    return rejects(peer, "queue.declare", queue=name, exclusive=True, arguments={"amqpspec-nowhere": 1})


@in_session("execution.error-code.invalid-argument", covers=["execution/error-code/invalid-argument"])
def does_not_fit_here(peer: Peer) -> Verdict:
    """The delete of a queue with an empty name is refused."""
    return rejects(peer, "queue.delete", queue="")


# --- sync and results


@in_session("execution.sync", covers=["execution/sync"])
def sync_is_last(peer: Peer) -> Verdict:
    """When a sync is reported complete, all commands before it are complete."""
    peer.claim("all commands before a sync are reported complete with it")
    found = []
    for _ in "12":
        before = [peer.send("queue.query", queue=peer.name("none")) for _ in range(3)]
        last = peer.send("execution.sync", sync=True)
        peer.completion(last)
        found += [number in peer.sessions[0].done for number in (*before, last) if number is not None]
    return equals(peer, found, [True] * 8, "reported completed")


@in_session("execution.result.before-completion", covers=["session-layer/result/always"])
def result_before_completion(peer: Peer) -> Verdict:
    """Every query has a result before it is reported complete, even if it finds nothing."""
    peer.claim("a result for each query, before its completion")
    numbers = []
    for name in (peer.queue(), peer.name("missing")):
        number = peer.send("queue.query", queue=name, sync=True)
        # Completed may come at any time: what counts is whether it lists this command before its result.
        result = peer.expect("execution.result")
        early = number is not None and number in peer.sessions[0].done
        numbers.append((result["command_id"] == number, early))
        peer.completion(number)
    return equals(peer, numbers, [(True, False)] * 2, "result of its command, completed before it")


@in_session("execution.result", covers=["execution/result"])
def results(peer: Peer) -> Verdict:
    """Each of two results contains the id of its own query."""
    names = [peer.queue() for _ in "12"]
    ids = [peer.send("queue.query", queue=name) for name in names]
    peer.claim("a result for each query, by its id")
    found = [peer.result(number).fields.get("queue") for number in reversed(ids)]
    return equals(peer, found, names[::-1], "queues")


@in_session("execution.exception.command-id", covers=["execution/exception/command-id"])
def exception_names_its_command(peer: Peer) -> Verdict:
    """An exception contains the id of the command that failed."""
    peer.barrier()
    failing = peer.send("queue.delete", queue=peer.name("missing"), sync=True)
    peer.claim("an exception with the id of the command that failed")
    return equals(peer, peer.expect("execution.exception")["command_id"], failing, "command")


@in_session("execution.exception.command-id.argument", covers=["execution/exception/command-id"])
def exception_names_a_command_of_no_sense(peer: Peer) -> Verdict:
    """If an undefined mode causes an exception, the exception contains the id of its command."""
    peer.barrier()
    wrong = {"queue": "q", "destination": "d", "accept_mode": 7, "acquire_mode": 0}
    failing = send_command(peer, encode_instruction("message.subscribe", wrong))
    peer.claim("no exception, or one with the id of the command")
    arrived = [one for one in peer.reaction().arrivals if isinstance(one, AssemblyArrived)]
    named = [one["command_id"] for one in arrived if one.name == "execution.exception"]
    return equals(peer, named, [failing] * len(named), "commands")


@in_session("execution.exception.field-index", covers=["execution/exception/field-index"])
def exception_names_its_field(peer: Peer) -> Verdict:
    """If an exception names a field, it is field 0, the queue that does not exist."""
    peer.send("queue.delete", queue=peer.name("missing"), sync=True)
    peer.claim("field 0, or no field")
    index = peer.expect("execution.exception")["field_index"]
    return holds(peer, index in (None, 0), f"field {index}")


@case("execution.exception.description", covers=["execution/exception/description"])
def exception_says_why(peer: Peer) -> Verdict:
    """An exception has no description, or a text in UTF-8."""
    peer.claim("no description, or text in UTF-8")
    texts = []
    for command in ("queue.delete", "queue.purge"):
        peer.open_session()
        peer.send(command, queue=peer.name("missing"), sync=True)
        texts.append(peer.expect("execution.exception")["description"])
        peer.expect("session.detached", "session.detach")
    return holds(peer, all(map(_is_text, texts)), f"descriptions {texts}")


def _is_text(text: str | None) -> bool:
    """Whether a description is absent or valid UTF-8: octets that are not were decoded to surrogates."""
    return text is None or not any("\ud800" <= character <= "\udfff" for character in text)


@case(
    "session-layer.exception",
    covers=[
        "session-layer/exception/session-only",
        "session-layer/exception/detach",
        "encoding/exception/channel",
    ],
)
def exception_ends_its_session_only(peer: Peer) -> Verdict:
    """An exception ends its session, and another session on the same connection continues to work."""
    for channel in (0, 1):
        peer.open_session(channel)
    peer.send("queue.delete", 1, queue=peer.name("missing"), sync=True)
    peer.expect("execution.exception", channel=1)
    peer.claim("the session is detached, and the other one continues to work")
    ending = peer.expect("session.detached", "session.detach", channel=1)
    peer.barrier(0)
    return holds(peer, True, ending)
