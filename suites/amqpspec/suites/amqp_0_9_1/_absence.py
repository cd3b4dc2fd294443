"""Proof that nothing arrives: a mark sent after it on the same path has arrived, or, if none can, time has passed.

Knows: consumers, returns, marks. Must not know: verdicts.

A round trip proves only the order of its own channel: servers deliver, requeue and return from other threads, and
what they send by themselves can come long after an answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer

Listener = tuple[Peer, int]
"""A connection and one of its channels, on which consumers listen."""
_MARK = b"mark "
_TURN_S = 0.02


def settled(queue: str, *at: Listener, sender: Listener | None = None) -> list[list[MethodArrived]]:
    """What arrives to each of a queue's consumers before a mark that is sent after it comes to one of them.

    The mark is published by ``sender`` (default: the first listener), outside of transactions. Raises Unmet.
    """
    # PDF §4.7: what came to the queue before the mark leaves it before the mark, for whomever it is.
    peer, channel = sender or at[0]
    mark = new_mark(peer)
    peer.publish(queue, mark, channel=channel)
    got: dict[Listener, list[MethodArrived]] = {one: [] for one in at}
    started_s = peer.now()
    while True:
        try:
            where, message = first_of(*at)
        except Unmet as unmet:
            if not isinstance(unmet.seen, Quiet):
                raise
            peer.rest_on_time()
            break
        if message.body == mark:
            peer.took(peer.now() - started_s)
            break
        got[where].append(message)
    return [unmarked([*got[one], *_under_way(queue, one)]) for one in at]


def _under_way(queue: str, at: Listener) -> list[MethodArrived]:
    """What the queue has given out, and its channel has not passed on yet."""
    peer, channel = at
    peer.barrier(channel, queue=queue)
    return peer.pending("basic.deliver", channel=channel)


def first_of(*at: Listener) -> tuple[Listener, MethodArrived]:
    """The next delivery at any of several listeners, and the listener that received it; raises Unmet if none
    arrives.
    """
    until_s = at[0][0].now() + at[0][0].patience_s
    while True:
        for peer, channel in at:
            within_s = _TURN_S if len(at) > 1 else peer.patience_s
            arrival = peer.arrival("basic.deliver", channel=channel, within_s=within_s)
            if isinstance(arrival, MethodArrived) and arrival.name == "basic.deliver":
                return (peer, channel), arrival
            if not isinstance(arrival, Quiet) or peer.now() >= until_s:
                raise Unmet("basic.deliver", arrival.describe(peer.dialect), arrival)


def witness(peer: Peer, queue: str) -> Listener:
    """A consumer of another connection: it gets what the others may not have, so that everything goes somewhere."""
    other = peer.another().open_channel()
    other.consume(queue, no_ack=True)
    return other, 1


def dismiss(listener: Listener) -> None:
    """End a witness."""
    peer, channel = listener
    peer.call("channel.close", channel=channel, reply_code=200, reply_text="done")


def returned(peer: Peer, channel: int = 1, *, transacted: bool = False) -> list[bytes]:
    """The bodies of what returns before a mandatory mark that is sent after it and reaches no queue.

    In a transaction the mark is committed. Raises Unmet.
    """
    mark = new_mark(peer)
    peer.publish(peer.name("nowhere"), mark, channel=channel, mandatory=True)
    if transacted:
        peer.call("tx.commit", channel=channel)
    bodies: list[bytes] = []
    while mark not in bodies:
        arrival = peer.arrival("basic.return", channel=channel)
        if isinstance(arrival, Quiet):
            # To return what is mandatory is a SHOULD: if it has no effect, only waiting shows it.
            peer.rest_on_time()
            return bodies
        if not isinstance(arrival, MethodArrived) or arrival.name != "basic.return":
            raise Unmet("basic.return", arrival.describe(peer.dialect), arrival)
        bodies.append(arrival.body)
    return bodies[:-1]


def new_mark(peer: Peer) -> bytes:
    """The body of a mark of its own."""
    return b"%b%d" % (_MARK, next(peer.context.numbers))


def unmarked(messages: Iterable[MethodArrived]) -> list[MethodArrived]:
    """The messages that are no marks."""
    return [message for message in messages if not message.body.startswith(_MARK)]
