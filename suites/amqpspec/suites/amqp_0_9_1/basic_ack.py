"""Acknowledgements: of one or many deliveries, once (amqp-0-9-1 class basic, method ack)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._messages import (
    bodies,
    fetched,
    gathered,
    left_unacknowledged,
    reopened,
    send,
    taken,
)
from amqpspec.suites.amqp_0_9_1._queues import arrive

# Tags count deliveries on a channel from 1, and no case needs this many.
_UNKNOWN = 1000
_FIVE = (b"1", b"2", b"3", b"4", b"5")


@on_queue("basic.ack.twice", covers=["basic/ack/multiple/exists-once"])
def acknowledged_twice(peer: Peer, queue: str) -> Verdict:
    """A second acknowledgement of a message is refused."""
    first, _ = fetched(peer, queue, (b"1", b"2"))
    peer.send("basic.ack", delivery_tag=first["delivery_tag"])
    # basic.ack has no reply: without the barrier, the server could see two of them at once.
    peer.barrier(queue=queue)
    peer.send("basic.ack", delivery_tag=first["delivery_tag"])
    return rejects_violation(peer)


@on_queue("basic.ack.after-multiple", covers=["basic/ack/multiple/exists-once"])
def acknowledged_again_by_itself(peer: Peer, queue: str) -> Verdict:
    """A second acknowledgement of a message that was acknowledged with multiple is refused."""
    messages = fetched(peer, queue, _FIVE)
    peer.send("basic.ack", delivery_tag=messages[2]["delivery_tag"], multiple=True)
    peer.barrier(queue=queue)
    peer.send("basic.ack", delivery_tag=messages[1]["delivery_tag"])
    return rejects_violation(peer)


@on_queue("basic.ack.unknown", covers=["basic/ack/multiple/exists-unknown"])
def unknown_tag(peer: Peer, queue: str) -> Verdict:
    """Acknowledging an unknown delivery tag is refused."""
    fetched(peer, queue, (b"1",))
    peer.send("basic.ack", delivery_tag=_UNKNOWN)
    return rejects_violation(peer)


@on_queue("basic.ack.unknown-multiple", covers=["basic/ack/multiple/exists-unknown"])
def unknown_tag_of_many(peer: Peer, queue: str) -> Verdict:
    """Acknowledging with multiple up to an unknown delivery tag is refused."""
    fetched(peer, queue, (b"1", b"2"))
    peer.send("basic.ack", delivery_tag=_UNKNOWN, multiple=True)
    return rejects_violation(peer)


@on_channel(
    "basic.ack.transacted.unknown",
    covers=["basic/ack/multiple/exists-transacted", "basic/ack/multiple/exists-unknown"],
    needs=["tx"],
)
def unknown_tag_in_a_transaction(peer: Peer) -> Verdict:
    """In a transaction, acknowledging an unknown delivery tag is refused immediately."""
    peer.call("tx.select")
    queue = peer.queue()
    send(peer, queue, (b"1",), transacted=True)
    # Committed first: what a transaction publishes is in the queue only then.
    peer.call("tx.commit")
    arrive(peer, queue, 1)
    taken(peer, queue, 1)
    peer.send("basic.ack", delivery_tag=_UNKNOWN)
    return rejects_violation(peer)


@on_channel("basic.ack.transacted.twice", covers=["basic/ack/multiple/exists-transacted"], needs=["tx"])
def acknowledged_twice_in_a_transaction(peer: Peer) -> Verdict:
    """In a transaction, a second acknowledgement is refused immediately, not at commit."""
    peer.call("tx.select")
    queue = peer.queue()
    send(peer, queue, (b"1",), transacted=True)
    peer.call("tx.commit")
    arrive(peer, queue, 1)
    (message,) = taken(peer, queue, 1)
    peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    peer.barrier(queue=queue)
    peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    return rejects_violation(peer)


@on_queue(
    "basic.ack.transacted.after-multiple", covers=["basic/ack/multiple/exists-transacted"], needs=["tx"]
)
def acknowledged_again_by_itself_in_a_transaction(peer: Peer, queue: str) -> Verdict:
    """In a transaction, acknowledging a message that multiple already covered is refused immediately."""
    messages = fetched(peer, queue, (b"1", b"2", b"3"))
    peer.call("tx.select")
    peer.send("basic.ack", delivery_tag=messages[2]["delivery_tag"], multiple=True)
    peer.barrier(queue=queue)
    peer.send("basic.ack", delivery_tag=messages[1]["delivery_tag"])
    return rejects_violation(peer)


@case("basic.ack.single", covers=["basic/ack/multiple"])
def single_acknowledgement(peer: Peer) -> Verdict:
    """Without multiple, only the message of the tag is acknowledged."""
    return _acknowledged(peer, 2, multiple=False, left=[b"1", b"2", b"4", b"5"])


@case("basic.ack.multiple", covers=["basic/ack/multiple"])
def acknowledgement_up_to(peer: Peer) -> Verdict:
    """With multiple, all messages up to and including the tag are acknowledged."""
    return _acknowledged(peer, 2, multiple=True, left=[b"4", b"5"])


@case("basic.ack.all", covers=["basic/ack/multiple"])
def acknowledgement_of_all(peer: Peer) -> Verdict:
    """With multiple and the tag zero, all outstanding messages are acknowledged."""
    return _acknowledged(peer, None, multiple=True, left=[])


def _acknowledged(peer: Peer, which: int | None, multiple: bool, left: list[bytes]) -> Verdict:
    """Acknowledge one of five messages, or the tag zero; judge what arrives again when the channel has ended."""
    peer.open_channel()
    queue = peer.queue()
    messages = fetched(peer, queue, _FIVE)
    peer.claim(f"{len(left)} of 5 messages unacknowledged")
    tag = 0 if which is None else messages[which]["delivery_tag"]
    peer.send("basic.ack", delivery_tag=tag, multiple=multiple)
    left = [*left, left_unacknowledged(peer, queue)]
    reopened(peer)
    # Sorted: the order in which messages return is not judged here.
    again = sorted(bodies(gathered(peer, queue, len(left))))
    return equals(peer, again, left, "messages delivered again")
