"""Recovering unacknowledged messages (amqp-0-9-1 class basic, methods recover-async and recover)."""

from __future__ import annotations

from amqpspec.peer.events import Arrival
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply, equals, judge_arrival, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import settled
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._messages import awaited, bodies, send, sent_ahead, taken

_RECIPIENT = "domain/redelivered/implementation-recipient"
_TWO = (b"1", b"2")
_NOT_IMPLEMENTED = 540


@case("basic.recover-async.all", covers=["basic/recover-async"])
def recover_async_brings_all_back(peer: Peer) -> Verdict:
    """Recover-async redelivers all unacknowledged messages of the channel, and no others."""
    queue = _three_of_which_one_acknowledged(peer)
    peer.claim("the unacknowledged messages again")
    if (refused := _recover_async(peer, requeue=True)) is not None:
        return refused
    received = awaited(peer, 2, None)
    for more in settled(queue, (peer, 1), (peer, 2)):
        received += more
    return equals(peer, sorted(bodies(received)), [b"1", b"3"], "messages delivered again")


@case("basic.recover-async.one-channel", covers=["basic/recover-async"])
def recover_async_leaves_other_channels_alone(peer: Peer) -> Verdict:
    """Recover-async does not affect unacknowledged messages of another channel."""
    peer.open_channel().open_channel(2)
    queues = {1: peer.queue(exclusive=False), 2: peer.queue(exclusive=False)}
    for channel, queue in queues.items():
        peer.consume(queue, channel)
        send(peer, queue, _TWO, channel)
        sent_ahead(peer, 2, channel)
    peer.claim("the messages of one channel")
    if (refused := _recover_async(peer, requeue=True)) is not None:
        return refused
    again = bodies(awaited(peer, 2) + settled(queues[1], (peer, 1))[0])
    received = sorted(again), bodies(settled(queues[2], (peer, 2))[0])
    return equals(peer, received, ([*_TWO], []), "messages on this channel, and on another one")


@case("basic.recover-async.original", covers=["basic/recover-async/requeue"])
def recover_async_to_the_old_recipient(peer: Peer) -> Verdict:
    """Without requeue, recover-async redelivers the messages to their original consumer."""
    queue, other = _two_at_one_of_two_consumers(peer)
    peer.claim("the messages at their previous consumer")
    if (refused := _recover_async(peer, requeue=False)) is not None:
        return refused
    mine = awaited(peer, 2)
    more, theirs = settled(queue, (peer, 1), (other, 1))
    received = sorted(bodies(mine + more)), bodies(theirs)
    return equals(peer, received, ([*_TWO], []), "messages at this consumer, and at another one")


@on_channel("basic.recover-async.beside-a-get", covers=["basic/recover-async"])
def recover_async_beside_a_get(peer: Peer) -> Verdict:
    """Without requeue, a consumer's messages are redelivered even if basic.get has fetched one on its channel."""
    fetched, consumed = peer.queue(), peer.queue()
    for queue in (fetched, consumed):
        send(peer, queue, (queue.encode(),))
    taken(peer, fetched, 1)
    peer.consume(consumed)
    peer.deliveries(1)
    peer.claim("the message of the consumer again")
    peer.send("basic.recover-async", requeue=False)
    refusal = (reaction := peer.reaction()).refusal
    if refusal is not None and refusal.code == _NOT_IMPLEMENTED:
        return does_not_apply(peer, "recover without requeue is not implemented")
    if refusal is not None:
        return judge_reaction(peer, reaction)
    return equals(peer, bodies(awaited(peer, 1)), [consumed.encode()], "messages delivered again")


@case("basic.recover-async.requeue", covers=["basic/recover-async/requeue"])
def recover_async_to_anybody(peer: Peer) -> Verdict:
    """With requeue, recover-async requeues the messages, and another consumer can receive them."""
    other = _two_without_a_consumer(peer)
    peer.claim("the messages at another consumer")
    if (refused := _recover_async(peer, requeue=True)) is not None:
        return refused
    return equals(peer, sorted(bodies(awaited(other, 2))), [*_TWO], "messages at another consumer")


@case("basic.recover-async.redelivered", covers=["basic/recover-async/redelivered"])
def recover_async_marks(peer: Peer) -> Verdict:
    """Messages that recover-async redelivers are marked redelivered."""
    _three_of_which_one_acknowledged(peer)
    peer.claim("deliveries marked redelivered")
    peer.send("basic.recover-async", requeue=True)
    return _marked(peer)


@case("basic.recover.redelivered", covers=["basic/recover/redelivered"])
def recover_marks(peer: Peer) -> Verdict:
    """Messages that recover requeues are marked redelivered."""
    _three_of_which_one_acknowledged(peer)
    peer.claim("deliveries marked redelivered")
    peer.call("basic.recover", requeue=True)
    return _marked(peer)


@case("basic.recover.original", covers=["basic/recover/redelivered", _RECIPIENT])
def recover_to_the_old_recipient(peer: Peer) -> Verdict:
    """Without requeue, recover is answered, and the original consumer receives its messages marked redelivered."""
    queue, other = _two_at_one_of_two_consumers(peer)
    peer.claim("the messages at their previous consumer")
    peer.send("basic.recover", requeue=False)
    answer = peer.arrival("basic.recover-ok")
    # Another recipient is a SHOULD not kept; a server that cannot return to the first one violates nothing else.
    if not _is_recover_ok(answer):
        return judge_arrival(peer, answer, _RECIPIENT)
    mine = awaited(peer, 2)
    more, theirs = settled(queue, (peer, 1), (other, 1))
    got = [(delivery.body, delivery["redelivered"]) for delivery in mine + more]
    elsewhere = [(delivery.body, delivery["redelivered"]) for delivery in theirs]
    marked = equals(peer, sorted(got + elsewhere), [(body, True) for body in _TWO], "body and redelivered")
    return worst([marked, equals(peer, elsewhere, [], "at another consumer", _RECIPIENT)])


@case("basic.recover.elsewhere", covers=["basic/recover/redelivered"])
def recover_to_anybody(peer: Peer) -> Verdict:
    """With requeue, recover requeues the messages, and another consumer receives them marked redelivered."""
    other = _two_without_a_consumer(peer)
    peer.claim("the messages, marked redelivered, at another consumer")
    peer.call("basic.recover", requeue=True)
    got = sorted((delivery.body, delivery["redelivered"]) for delivery in awaited(other, 2))
    return equals(peer, got, [(body, True) for body in _TWO], "body and redelivered")


@on_channel("basic.recover-ok", covers=["basic/recover-ok"])
def recover_is_answered(peer: Peer) -> Verdict:
    """Recover is answered with recover-ok, even if there is nothing to recover."""
    peer.claim("basic.recover-ok with nothing to recover")
    peer.send("basic.recover", requeue=True)
    return _answered(peer)


@case("basic.recover-ok.with-messages", covers=["basic/recover-ok"])
def recover_with_messages_is_answered(peer: Peer) -> Verdict:
    """Recover is answered with recover-ok when messages are redelivered."""
    _three_of_which_one_acknowledged(peer)
    peer.claim("basic.recover-ok with two messages to recover")
    peer.send("basic.recover", requeue=True)
    return _answered(peer)


def _answered(peer: Peer) -> Verdict:
    """Whether the next answer is recover-ok."""
    arrival = peer.arrival("basic.recover-ok")
    return equals(peer, arrival.describe(peer.dialect), "basic.recover-ok on channel 1", "answer")


def _is_recover_ok(arrival: Arrival) -> bool:
    return isinstance(arrival, MethodArrived) and arrival.name == "basic.recover-ok"


def _three_of_which_one_acknowledged(peer: Peer) -> str:
    """A queue, two of whose messages are unacknowledged on channel 1, with a second consumer on channel 2."""
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    peer.consume(queue)
    send(peer, queue, (b"1", b"2", b"3"))
    _, second, _ = sent_ahead(peer, 3)
    peer.send("basic.ack", delivery_tag=second["delivery_tag"])
    # basic.ack has no reply: recover must not come before it.
    peer.barrier(queue=queue)
    # A second recipient: with requeue the server may take either, so cases look on both channels.
    peer.open_channel(2)
    peer.consume(queue, channel=2)
    return queue


def _two_at_one_of_two_consumers(peer: Peer) -> tuple[str, Peer]:
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    peer.consume(queue)
    send(peer, queue, _TWO)
    sent_ahead(peer, 2)
    other = peer.another().open_channel()
    other.consume(queue)
    return queue, other


def _two_without_a_consumer(peer: Peer) -> Peer:
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    tag = peer.consume(queue)
    send(peer, queue, _TWO)
    sent_ahead(peer, 2)
    # Cancelled, or the messages could go back to where they were.
    peer.call("basic.cancel", consumer_tag=tag)
    other = peer.another().open_channel()
    other.consume(queue)
    return other


def _recover_async(peer: Peer, requeue: bool) -> Verdict | None:
    """Send recover-async; returns the verdict on a server that refuses it."""
    peer.send("basic.recover-async", requeue=requeue)
    reaction = peer.reaction()
    return None if reaction.refusal is None else judge_reaction(peer, reaction)


def _marked(peer: Peer) -> Verdict:
    """Whether the messages 1 and 3 are delivered again, with the mark."""
    arrival = peer.arrival("basic.deliver", channel=None)
    if not (isinstance(arrival, MethodArrived) and arrival.name == "basic.deliver"):
        return judge_arrival(peer, arrival)
    got = sorted((delivery.body, delivery["redelivered"]) for delivery in [arrival, *awaited(peer, 1, None)])
    return equals(peer, got, [(b"1", True), (b"3", True)], "body and redelivered")
