"""Rejecting: where a rejected message goes, and where it does not (amqp-0-9-1 class basic, methods reject and nack)."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import first_of, settled
from amqpspec.suites.amqp_0_9_1._cases import on_queue
from amqpspec.suites.amqp_0_9_1._messages import (
    awaited,
    bodies,
    fetched,
    gathered,
    left_unacknowledged,
    reopened,
    send,
    taken,
)
from amqpspec.suites.amqp_0_9_1._queues import counts

_UNKNOWN = 1000
_FIVE = (b"1", b"2", b"3", b"4", b"5")
# 16 MiB in all: far more than sockets keep in their buffers.
_LARGE_OCTETS = 256 << 10
_LARGE_MESSAGES = 64
# Enough rounds for a race between two consumers to show; enough looks for a count to stand still.
_REJECTIONS = 30
_LOOKS = 50


@case("basic.reject.while-sending", covers=["basic/reject/while-sending"])
def reject_is_heard_while_sending(peer: Peer) -> Verdict:
    """A server processes a reject while the contents that it is sending are blocked."""
    return _heard_while_sending(peer, "basic.reject")


@case("basic.reject.same-channel", covers=["basic/reject/requeue/same-channel"])
def rejected_stays_away(peer: Peer) -> Verdict:
    """A rejected message is not redelivered on the channel that rejected it."""
    return _stays_away(peer, "basic.reject")


@case("basic.reject.not-got-again", covers=["basic/reject/requeue/same-channel"])
def rejected_is_not_got(peer: Peer) -> Verdict:
    """basic.get on the channel that rejected a message does not return it again."""
    return _not_got_again(peer, "basic.reject")


@case("basic.nack.not-got-again", covers=["basic/nack/requeue/same-channel"], needs=["nack"])
def rejected_by_nack_is_not_got(peer: Peer) -> Verdict:
    """basic.get on the channel that rejected a message by nack does not return it again."""
    return _not_got_again(peer, "basic.nack")


@case("basic.reject.alternative", covers=["basic/reject/requeue/alternative"])
def rejected_goes_elsewhere(peer: Peer) -> Verdict:
    """A rejected message is delivered to another consumer of its queue."""
    return _goes_elsewhere(peer, "basic.reject")


@case("basic.reject.requeue", covers=["basic/reject/requeue/flag"])
def rejected_returns(peer: Peer) -> Verdict:
    """With requeue, a rejected message is available in its queue again."""
    return _returns(peer, "basic.reject", [b"1"], requeue=True)


@case("basic.reject.discard", covers=["basic/reject/requeue/flag"])
def rejected_leaves(peer: Peer) -> Verdict:
    """Without requeue, a rejected message is removed from its queue."""
    return _returns(peer, "basic.reject", [], requeue=False)


@case("basic.nack.while-sending", covers=["basic/nack/while-sending"], needs=["nack"])
def nack_is_heard_while_sending(peer: Peer) -> Verdict:
    """A server processes a nack while the contents that it is sending are blocked."""
    return _heard_while_sending(peer, "basic.nack")


@on_queue("basic.nack.twice", covers=["basic/nack/multiple/exists-once"], needs=["nack"])
def rejected_twice(peer: Peer, queue: str) -> Verdict:
    """A second nack of a message is refused."""
    first, _ = fetched(peer, queue, (b"1", b"2"))
    peer.send("basic.nack", delivery_tag=first["delivery_tag"], requeue=False)
    peer.barrier(queue=queue)
    peer.send("basic.nack", delivery_tag=first["delivery_tag"], requeue=False)
    return rejects_violation(peer)


@on_queue("basic.nack.unknown", covers=["basic/nack/multiple/exists-unknown"], needs=["nack"])
def unknown_tag(peer: Peer, queue: str) -> Verdict:
    """A nack of an unknown delivery tag is refused."""
    fetched(peer, queue, (b"1",))
    peer.send("basic.nack", delivery_tag=_UNKNOWN)
    return rejects_violation(peer)


@on_queue("basic.nack.unknown-multiple", covers=["basic/nack/multiple/exists-unknown"], needs=["nack"])
def unknown_tag_of_many(peer: Peer, queue: str) -> Verdict:
    """A nack with multiple up to an unknown delivery tag is refused."""
    fetched(peer, queue, (b"1", b"2"))
    peer.send("basic.nack", delivery_tag=_UNKNOWN, multiple=True)
    return rejects_violation(peer)


@on_queue(
    "basic.nack.after-ack",
    covers=["basic/nack/multiple/exists-unknown", "basic/nack/multiple/exists-once"],
    needs=["nack"],
)
def rejected_after_acknowledgement(peer: Peer, queue: str) -> Verdict:
    """A nack of a message that was acknowledged is refused."""
    (message,) = fetched(peer, queue, (b"1",))
    peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    peer.barrier(queue=queue)
    peer.send("basic.nack", delivery_tag=message["delivery_tag"])
    return rejects_violation(peer)


@case("basic.nack.single", covers=["basic/nack/multiple"], needs=["nack"])
def single_rejection(peer: Peer) -> Verdict:
    """Without multiple, nack rejects only the message of the tag."""
    return _rejected(peer, 2, multiple=False, left=[b"1", b"2", b"4", b"5"])


@case("basic.nack.multiple", covers=["basic/nack/multiple"], needs=["nack"])
def rejection_up_to(peer: Peer) -> Verdict:
    """With multiple, nack rejects all messages up to and including the tag."""
    return _rejected(peer, 2, multiple=True, left=[b"4", b"5"])


@case("basic.nack.all", covers=["basic/nack/multiple"], needs=["nack"])
def rejection_of_all(peer: Peer) -> Verdict:
    """With multiple and the tag zero, nack rejects all outstanding messages."""
    return _rejected(peer, None, multiple=True, left=[])


@case("basic.nack.same-channel", covers=["basic/nack/requeue/same-channel"], needs=["nack"])
def nacked_stays_away(peer: Peer) -> Verdict:
    """A message rejected by nack is not redelivered on the channel that rejected it."""
    return _stays_away(peer, "basic.nack")


@case("basic.nack.alternative", covers=["basic/nack/requeue/alternative"], needs=["nack"])
def nacked_goes_elsewhere(peer: Peer) -> Verdict:
    """A message rejected by nack is delivered to another consumer of its queue."""
    return _goes_elsewhere(peer, "basic.nack")


@case("basic.nack.requeue", covers=["basic/nack/requeue/flag"], needs=["nack"])
def nacked_return(peer: Peer) -> Verdict:
    """With requeue, messages rejected by nack are available in their queue again."""
    return _returns(peer, "basic.nack", [b"1", b"2"], requeue=True, multiple=True)


@case("basic.nack.discard", covers=["basic/nack/requeue/flag"], needs=["nack"])
def nacked_leave(peer: Peer) -> Verdict:
    """Without requeue, messages rejected by nack are removed from their queue."""
    return _returns(peer, "basic.nack", [], requeue=False, multiple=True)


def _heard_while_sending(peer: Peer, method: str) -> Verdict:
    """Reject a message on a connection that does not read while much is sent to it; another client gets the message."""
    peer.open_channel()
    queue, large = peer.queue(exclusive=False), peer.queue(exclusive=False)
    for _ in range(_LARGE_MESSAGES):
        peer.publish(large, bytes(_LARGE_OCTETS))
    (message,) = fetched(peer, queue, (b"rejected",))
    other = peer.another().open_channel()
    peer.claim("the rejected message for another client")
    peer.consume(large, no_ack=True)
    peer.delivery()
    # From here on the server is stuck in the middle of its contents, for no one reads them.
    _stands_still(other, large)
    other.consume(queue, no_ack=True)
    peer.send(method, delivery_tag=message["delivery_tag"], requeue=True)
    return equals(peer, other.delivery().body, b"rejected", "message")


def _stands_still(peer: Peer, queue: str) -> None:
    """Check that a queue delivers no more messages: many consecutive counts are equal. Raises Unmet."""
    # No clock: a look is a round trip on another connection, and fifty alike show that nothing
    # leaves the queue any more.
    counts: list[int] = []
    while len(counts) < _LOOKS or len(set(counts[-_LOOKS:])) > 1:
        counts.append(peer.call("queue.declare", queue=queue, passive=True)["message_count"])


def _stays_away(peer: Peer, method: str) -> Verdict:
    """Reject the only delivery of a consumer with requeue; judge whether it is delivered again.

    A message that another channel rejects after it takes the same way, and may come; no text demands that it does.
    """
    peer.open_channel().open_channel(2)
    queue = peer.queue()
    send(peer, queue, (b"of another",))
    (behind,) = taken(peer, queue, 1, channel=2)
    peer.consume(queue)
    send(peer, queue, (b"1",))
    tag = peer.delivery()["delivery_tag"]
    peer.claim("no delivery of the message on the channel that rejected it")
    peer.send(method, delivery_tag=tag, requeue=True)
    peer.barrier(queue=queue)
    peer.send(method, channel=2, delivery_tag=behind["delivery_tag"], requeue=True)
    came = awaited(peer, 1) + settled(queue, (peer, 1))[0]
    if b"of another" not in bodies(came):  # held back, or a dead letter: only time proves it
        peer.rest_on_time()
    return holds(peer, b"1" not in bodies(came), f"deliveries after the rejection {bodies(came)}")


def _not_got_again(peer: Peer, method: str) -> Verdict:
    """Reject one of two messages with requeue; judge whether basic.get gives it to the same channel.

    If it does not, a second channel rejects the message, too, and is judged as well.
    """
    peer.open_channel().open_channel(2)
    queue = peer.queue()
    first, _ = fetched(peer, queue, (b"1", b"2"))
    peer.claim("basic.get-empty on the channel that rejected the message")
    got = _got_after(peer, method, queue, first)
    if got is None and (second := peer.get(queue, 2, no_ack=False)) is not None:
        got = _got_after(peer, method, queue, second)
    return equals(peer, got and got.body, None, "message")


def _got_after(peer: Peer, method: str, queue: str, rejected: MethodArrived) -> MethodArrived | None:
    """What basic.get gives to the channel that has rejected a message."""
    peer.send(method, channel=rejected.channel, delivery_tag=rejected["delivery_tag"], requeue=True)
    # The server's own count tells when the message is back. It may never be: no one else is there to take it.
    for _ in range(_LOOKS):
        if counts(peer, queue, rejected.channel)[0]:
            break
    return peer.get(queue, rejected.channel, no_ack=False)


def _goes_elsewhere(peer: Peer, method: str) -> Verdict:
    """Reject a delivery with requeue where another connection consumes too; judge who gets it.

    It is done many times, so that a server which offers it to both is detected whichever is faster.
    """
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    peer.consume(queue)
    send(peer, queue, (b"1",))
    rejected = peer.delivery()
    other = peer.another().open_channel()
    other.consume(queue)
    peer.claim("the message for the other consumer")
    holder, idle = peer, other
    for _ in range(_REJECTIONS):
        holder.send(method, delivery_tag=rejected["delivery_tag"], requeue=True)
        (where, _), again = first_of((holder, 1), (idle, 1))
        if where is holder:
            return equals(peer, [again.body], [], "deliveries to the consumer that rejected")
        # The message is done with; a new one starts the next round, with whichever consumer gets
        # it as the one that rejects.
        idle.send("basic.ack", delivery_tag=again["delivery_tag"])
        send(idle, queue, (b"1",))
        (holder, _), rejected = first_of((peer, 1), (other, 1))
        idle = other if holder is peer else peer
    return equals(peer, rejected.body, b"1", "delivery to the other consumer")


def _returns(peer: Peer, method: str, left: list[bytes], **args: bool) -> Verdict:
    """Reject what was fetched; judge what the queue has for another client's consumer, while the channel is open.

    The consumer is there before, for a message that no one waits for may become a dead letter instead.
    """
    peer.open_channel()
    queue = peer.queue(exclusive=False)
    sent = send(peer, queue, (b"1", b"2") if "multiple" in args else (b"1",))
    last = taken(peer, queue, len(sent))[-1]
    left = [*left, left_unacknowledged(peer, queue)]
    other = peer.another().open_channel()
    other.consume(queue, no_ack=True)
    peer.claim(f"{len(left)} messages for the other client")
    peer.send(method, delivery_tag=last["delivery_tag"], **args)
    # One more is rejected after it, to be requeued: when it arrives, nothing else is still being returned.
    peer.send(method, delivery_tag=last["delivery_tag"] + 1, requeue=True)
    received = awaited(other, len(left)) + settled(queue, (other, 1))[0]
    return equals(peer, sorted(bodies(received)), left, "messages in the queue")


def _rejected(peer: Peer, which: int | None, multiple: bool, left: list[bytes]) -> Verdict:
    """Reject one of five messages, or the tag zero; judge what arrives again when the channel has ended."""
    peer.open_channel()
    queue = peer.queue()
    messages = fetched(peer, queue, _FIVE)
    peer.claim(f"{len(left)} of 5 messages not rejected")
    tag = 0 if which is None else messages[which]["delivery_tag"]
    peer.send("basic.nack", delivery_tag=tag, multiple=multiple, requeue=False)
    left = [*left, left_unacknowledged(peer, queue)]
    reopened(peer)
    again = sorted(bodies(gathered(peer, queue, len(left))))
    return equals(peer, again, left, "messages delivered again")
