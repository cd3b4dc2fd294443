"""Errors: only failures are reported, how far they reach, and what the digits of their codes mean."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import declare
from amqpspec.run.oracles import ends_connection, equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_errors
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import vanishes
from amqpspec.suites.amqp_0_9_1._wire import fetch, header_payload

# Every method with a reply code that a server sends unasked.
_TELL_FAILURE = ("channel.alert", "channel.close", "connection.close", "basic.return")


@on_channel("errors.only-failure", covers=["error-handling/only-failure"])
def success_is_not_signalled(peer: Peer) -> Verdict:
    """A conversation without errors contains no method with a reply code."""
    peer.claim("no alert, close or return without an error")
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.publish("", b"well", exchange=exchange)
    fetch(peer, queue)
    peer.barrier(queue=queue)
    peer.call("queue.delete", queue=queue)
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.close()
    reported = [a.describe(peer.dialect) for name in _TELL_FAILURE for a in peer.pending(name, channel=None)]
    return equals(peer, reported, [], "methods with a reply code")


declare(
    globals(),
    framing_errors.channel_exception_reaches_one_channel,
    "errors.channel-exception",
    ["error-handling/channel-exception"],
)


@on_channel("errors.connection-exception", covers=["error-handling/connection-exception"])
def connection_exception_ends_the_connection(peer: Peer) -> Verdict:
    """A connection exception closes the connection with all its channels, and then the socket."""
    _fail_hard(peer)
    reaction = peer.reaction(barrier=False)
    return worst([judge_reaction(peer, reaction), ends_connection(peer, peer.expect_end())])


@on_queue("errors.connection-exception.entities", covers=["error-handling/connection-exception"])
def connection_exception_lets_go(peer: Peer, queue: str) -> Verdict:
    """After a connection exception, the exclusive queue of the connection no longer exists."""
    _fail_hard(peer)
    reaction = peer.reaction(barrier=False)
    peer.claim("the queue no longer exists")
    peer.expect_end()
    gone = vanishes(peer.another().open_channel(), queue)
    return worst([judge_reaction(peer, reaction), equals(peer, gone, True, "queue gone")])


@on_channel("reply-codes.channel", covers=["reply-codes/digits"])
def digits_of_a_channel_exception(peer: Peer) -> Verdict:
    """The code of a channel exception has three digits: the first is 3 to 5, the second 0 to 4."""
    peer.send("queue.declare", queue=peer.name("missing"), passive=True)
    return _digits(peer)


@on_channel("reply-codes.connection", covers=["reply-codes/digits"])
def digits_of_a_connection_exception(peer: Peer) -> Verdict:
    """The code of a connection exception has three digits: the first is 3 to 5, the second 0 to 4."""
    _fail_hard(peer)
    return _digits(peer)


def _fail_hard(peer: Peer) -> None:
    """Send a content header on channel 0."""
    # Answered by 504, a hard error (amqp-wire-9-1 amq_wlp_content_03).
    peer.send_frame("header", header_payload(peer), 0)


def _digits(peer: Peer) -> Verdict:
    reaction = peer.reaction(barrier=False)
    closing = reaction.closing
    # A bare end carries no code: how the target ended is judged in place of its digits.
    if not isinstance(closing, MethodArrived):
        return judge_reaction(peer, reaction)
    code = closing["reply_code"]
    # amqp-wire-9-1 reply-codes/digits: 1 and 2 mean success, categories above 4 are reserved.
    defined = 300 <= code <= 599 and code // 10 % 10 <= 4
    return holds(peer, defined, f"code {code}", "a code of three digits: 3 to 5, 0 to 4, any")
