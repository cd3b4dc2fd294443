"""The wire level, last part: what clients see of each other, and how far errors reach (PDF §4.4, §4.5, §4.8)."""

from __future__ import annotations

from amqpspec.peer.context import owed
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import ends_connection, equals, holds, judge_reaction, must_refuse, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._queues import arrive, vanishes
from amqpspec.suites.amqp_0_9_1._wire import fetch

# The redelivery of the message is stated as a fact; its mark is a SHOULD, judged by its own row.
_AGAIN = ("wire/channels/closure", "domain/redelivered/implementation-flag")

# visibility


@on_channel("framing.visibility.queue", covers=["wire/channels/visibility"])
def declared_queue_is_seen_by_others(peer: Peer) -> Verdict:
    """A queue whose declaration the server confirmed to one client exists for every other client."""
    other = peer.another().open_channel()
    peer.claim("the queue, for the other client")
    queue = peer.queue(exclusive=False)
    seen = other.call("queue.declare", queue=queue, passive=True)
    return equals(peer, seen["queue"], queue, "queue")


@on_shared_queue("framing.visibility.deletion", covers=["wire/channels/visibility"])
def deletion_is_seen_by_others(peer: Peer, queue: str) -> Verdict:
    """A queue whose deletion the server confirmed to one client exists for no other client."""
    # The other client has seen the queue before: a server that answers from memory is detected.
    other = peer.another().open_channel()
    other.call("queue.declare", queue=queue, passive=True)
    peer.claim("no queue, for the other client")
    peer.call("queue.delete", queue=queue)
    other.send("queue.declare", queue=queue, passive=True)
    return equals(peer, other.expect("channel.close", "queue.declare-ok").name, "channel.close", "answer")


@on_shared_queue("framing.visibility.message", covers=["wire/channels/visibility"])
def published_message_is_seen_by_others(peer: Peer, queue: str) -> Verdict:
    """Every other client can get a message that one client saw counted in a queue."""
    other = peer.another().open_channel()
    peer.publish(queue, b"seen")
    arrive(peer, queue, 1)
    peer.claim("the message, for the other client")
    return equals(peer, fetch(other, queue).body, b"seen", "message")


# channels that end


@case("framing.closure.channel-closed", covers=_AGAIN)
def closed_channel_gives_back(peer: Peer) -> Verdict:
    """Unacknowledged messages of a closed channel can be delivered again."""
    holder, queue = _holding(peer)
    holder.call("channel.close", reply_code=200, reply_text="done")
    return _delivered_again(peer, queue)


@case("framing.closure.channel-exception", covers=_AGAIN)
def failed_channel_gives_back(peer: Peer) -> Verdict:
    """Unacknowledged messages of a channel that an exception closed can be delivered again."""
    holder, queue = _holding(peer)
    holder.send("queue.declare", queue=peer.name("missing"), passive=True)
    # The exception closes the channel: a barrier on it would be a violation of its own (504).
    must_refuse(holder, holder.reaction(barrier=False))
    return _delivered_again(peer, queue)


@case("framing.closure.connection-closed", covers=_AGAIN)
def closed_connection_gives_back(peer: Peer) -> Verdict:
    """Unacknowledged messages of a closed connection can be delivered again."""
    holder, queue = _holding(peer)
    holder.close()
    return _delivered_again(peer, queue)


@case("framing.closure.socket-dropped", covers=_AGAIN)
def dropped_socket_gives_back(peer: Peer) -> Verdict:
    """Unacknowledged messages of a connection lost without a close handshake can be delivered again."""
    holder, queue = _holding(peer)
    holder.hang_up()
    return _delivered_again(peer, queue)


# reach of errors


@on_queue("framing.errors.channel-scope", covers=["wire/errors/channel-scope"])
def channel_exception_reaches_one_channel(peer: Peer, queue: str) -> Verdict:
    """A channel exception closes only its channel, and the channel number can be opened again."""
    peer.call("channel.open", channel=2)
    peer.send("queue.declare", channel=2, queue=peer.name("missing"), passive=True)
    reaction = peer.reaction(2, barrier=False)
    peer.claim("the other channel continues to work and the closed one can be opened again")
    peer.publish(queue, b"works on")
    body = fetch(peer, queue).body
    peer.call("channel.open", channel=2)
    return worst([judge_reaction(peer, reaction), equals(peer, body, b"works on", "message")])


@on_channel("framing.errors.connection-scope", covers=["wire/errors/connection-scope"])
def connection_exception_ends_the_connection(peer: Peer) -> Verdict:
    """A connection exception closes the connection with all its channels, and then the socket."""
    # Channel 2 was never opened: 504 is a hard error, so the whole connection goes.
    peer.send("basic.qos", channel=2, prefetch_count=1)
    reaction = peer.reaction(2, barrier=False)
    return worst([judge_reaction(peer, reaction), ends_connection(peer, peer.expect_end())])


@on_queue("framing.errors.connection-entities", covers=["wire/errors/connection-scope"])
def connection_exception_lets_go(peer: Peer, queue: str) -> Verdict:
    """After a connection exception, the exclusive queue of the connection no longer exists."""
    peer.send("basic.qos", channel=2, prefetch_count=1)
    reaction = peer.reaction(2, barrier=False)
    peer.claim("the queue no longer exists")
    peer.expect_end()
    # An exclusive queue ends with its connection (amqp-0-9-1 queue/declare/exclusive/lifetime).
    gone = vanishes(peer.another().open_channel(), queue)
    return worst([judge_reaction(peer, reaction), equals(peer, gone, True, "queue gone")])


def _holding(peer: Peer) -> tuple[Peer, str]:
    """Another connection with one message of a shared queue, not acknowledged; and the queue."""
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    peer.publish(queue, b"held")
    arrive(peer, queue, 1)
    # Two connections: how the holder ends must not touch the one that looks for the message.
    holder = peer.another().open_channel()
    owed(holder.get(queue, no_ack=False), "basic.get-ok")
    return holder, queue


def _delivered_again(peer: Peer, queue: str) -> Verdict:
    peer.claim("the message again, as redelivered")
    # A consumer waits, as nothing says how soon the message is back; basic.get could look too early.
    peer.consume(queue, no_ack=True)
    again = peer.delivery()
    flag, reported = _AGAIN[1], f"redelivered {again['redelivered']}"
    body = equals(peer, again.body, b"held", "body")
    return worst([body, holds(peer, again["redelivered"], reported, "redelivered True", row=flag)])
