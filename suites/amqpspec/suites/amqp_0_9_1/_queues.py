"""Steps that cases about queues share: their messages, whether they exist, who owns them.

Knows: how a client sees a queue. Must not know: verdicts.
"""

from __future__ import annotations

from amqpspec.peer.context import Unmet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer

# A channel that no case uses for itself: a refusal there costs the case nothing.
_SPARE = 4
# Between two looks. It passes as a wait of the peer: cases do not sleep.
_PAUSE_S = 0.05
_END = b"end of queue"


def contents(peer: Peer, queue: str, channel: int = 1) -> list[bytes]:
    """Take everything out of a queue, without acknowledgement; returns the bodies in their order.

    A message sent straight to the queue after all others tells that nothing more is to come. Raises Unmet.
    """
    # What a server does on another thread, such as giving messages back, is done before the mark.
    peer.barrier(channel, queue=queue)
    peer.publish(queue, _END, channel=channel)
    tag = peer.consume(queue, channel, no_ack=True)
    bodies: list[bytes] = []
    while (body := peer.delivery(channel).body) != _END:
        bodies.append(body)
    peer.call("basic.cancel", channel=channel, consumer_tag=tag)
    return bodies


def routed(peer: Peer, queue: str, channel: int = 1) -> list[bytes]:
    """Like ``contents``, for messages that took another path than the mark; waits quietly for them first."""
    # PDF §4.7 keeps order on one path only: one channel, one exchange, one queue. The mark takes the default exchange.
    peer.wait(lambda arrival: False, peer.context.patience.quiet_s)
    return contents(peer, queue, channel)


def arrive(peer: Peer, queue: str, count: int, channel: int = 1) -> None:
    """Wait, within the patience for answers, until a queue without consumers reports this many messages. Raises Unmet.

    How many a queue reports is judged by other cases: the wait ends without an error.
    """
    # basic.publish has no reply, and no text says that its message is in the queue before the next answer. The barrier
    # lets it get there first; a consumer may have taken it.
    peer.barrier(channel, queue=queue)
    until_s = peer.now() + peer.patience_s
    while peer.now() <= until_s:
        messages, consumers = counts(peer, queue, channel)
        if consumers or messages >= count:
            return
        peer.wait(lambda arrival: False, _PAUSE_S)


def fill(peer: Peer, queue: str, count: int, channel: int = 1) -> list[bytes]:
    """Publish this many messages directly to a queue, check that they arrived, return their bodies. Raises Unmet."""
    bodies = [b"message %d" % number for number in range(1, count + 1)]
    for body in bodies:
        peer.publish(queue, body, channel=channel)
    arrive(peer, queue, count, channel)
    return bodies


def counts(peer: Peer, queue: str, channel: int = 1) -> tuple[int, int]:
    """How many messages and how many consumers a passive declare reports for a queue."""
    reported = peer.call("queue.declare", channel=channel, queue=queue, passive=True)
    return reported["message_count"], reported["consumer_count"]


def hold(peer: Peer, queue: str, channel: int = 1, **args: object) -> MethodArrived:
    """Consume one message and leave it unacknowledged; the consumer stays. Raises Unmet."""
    peer.consume(queue, channel, **args)
    return peer.delivery(channel)


def exists(peer: Peer, queue: str, channel: int = _SPARE) -> bool:
    """Whether there is such a queue, asked on a channel that is opened for it; raises Unmet without an answer.

    A queue that is another connection's own is there as well.
    """
    peer.open_channel(channel)
    peer.send("queue.declare", channel=channel, queue=queue, passive=True)
    answer = peer.arrival("queue.declare-ok", channel=channel)
    if isinstance(answer, MethodArrived) and answer.name == "queue.declare-ok":
        peer.call("channel.close", channel=channel, reply_code=200, reply_text="done")
        return True
    if isinstance(answer, MethodArrived) and answer.name == "channel.close":
        # 405 says that another connection holds the queue, hence that it exists (amqp-0-9-1
        # queue/declare/exclusive/passive).
        return peer.dialect.codes[answer["reply_code"]].name == "resource-locked"
    raise Unmet("an answer to a passive declare", answer.describe(peer.dialect), answer)


def vanishes(peer: Peer, queue: str, within_s: float = 0.0) -> bool:
    """Whether a queue goes away, at once or within the patience for answers, or longer: a server may take its time.

    A server that refuses the question with the whole connection has the queue still; then another connection asks.
    """
    # No text says how soon a queue goes once it may; a server that deletes in the background conforms.
    until_s = peer.now() + max(peer.patience_s, within_s)
    asking = peer
    while True:
        try:
            if not exists(asking, queue):
                return True
        except Unmet:
            if not asking.is_over():
                raise
            asking = peer.another()
        if peer.now() > until_s:
            return False
        asking.wait(lambda arrival: False, _PAUSE_S)


def owned_by_another(peer: Peer) -> tuple[str, Peer]:
    """An exclusive queue of the peer's, and a second connection with an open channel."""
    peer.open_channel()
    return peer.queue(exclusive=True), peer.another().open_channel()


def arguments_of(number: int) -> dict[str, int]:
    """Arguments that brokers in use know, each with this value."""
    return {"x-message-ttl": number, "x-expires": number, "x-max-length": number}
