"""Transactions: select, commit, rollback (amqp-0-9-1 class tx)."""

from __future__ import annotations

from amqpspec.peer.context import owed
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import returned, settled
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import (
    awaited,
    bodies,
    found,
    gathered,
    reopened,
    send,
    taken,
)
from amqpspec.suites.amqp_0_9_1._queues import arrive

_TX = ("tx",)


@case("tx.atomic.commit", covers=["tx/atomic"], needs=_TX)
def all_takes_effect(peer: Peer) -> Verdict:
    """All publications and acknowledgements of a transaction on one queue take effect at its commit."""
    queue = _transaction(peer, acknowledged=b"old", published=(b"1", b"2", b"3"))
    peer.claim("the publications without the acknowledged message")
    peer.call("tx.commit")
    reopened(peer)
    return equals(peer, bodies(gathered(peer, queue, 3)), [b"1", b"2", b"3"], "messages in the queue")


@case("tx.atomic.exception", covers=["tx/atomic"], needs=_TX)
def nothing_takes_effect_after_an_exception(peer: Peer) -> Verdict:
    """If one publication fails and closes the channel, nothing of the transaction takes effect."""
    queue = _transaction(peer, acknowledged=b"old", published=(b"1", b"2"))
    peer.publish("key", b"fails", exchange=peer.name("no-exchange"))
    # Sent, not called: the exception of publish closes the channel and commit gets no answer.
    peer.send("tx.commit")
    peer.expect("channel.close")
    peer.claim("only the old message")
    peer.open_channel()
    return equals(peer, bodies(gathered(peer, queue, 1)), [b"old"], "messages in the queue")


@case("tx.atomic.channel-closed", covers=["tx/atomic"], needs=_TX)
def nothing_takes_effect_after_close(peer: Peer) -> Verdict:
    """If the channel is closed before commit, nothing of the transaction takes effect."""
    queue = _transaction(peer, acknowledged=b"old", published=(b"1", b"2"))
    peer.claim("only the old message")
    reopened(peer)
    return equals(peer, bodies(gathered(peer, queue, 1)), [b"old"], "messages in the queue")


@case("tx.atomic.connection-lost", covers=["tx/atomic"], needs=_TX)
def nothing_takes_effect_after_a_loss(peer: Peer) -> Verdict:
    """If the connection is lost before commit, nothing of the transaction takes effect."""
    queue = _transaction(peer, acknowledged=b"old", published=(b"1", b"2"))
    other = peer.another().open_channel()
    peer.claim("only the old message")
    peer.hang_up()
    return equals(peer, bodies(gathered(other, queue, 1)), [b"old"], "messages in the queue")


@on_channel("tx.select.needed", covers=["tx/select", "tx/commit/transacted"], needs=_TX)
def select_comes_first(peer: Peer) -> Verdict:
    """Commit before select is refused, even on a channel that has published."""
    send(peer, peer.queue(), (b"1",))
    peer.send("tx.commit")
    return rejects_violation(peer)


@case("tx.select.each-channel", covers=["tx/select", "tx/rollback/transacted"], needs=_TX)
def select_is_for_its_channel(peer: Peer) -> Verdict:
    """Select on one channel does not apply to another."""
    peer.open_channel().open_channel(2)
    peer.call("tx.select")
    peer.send("tx.rollback", channel=2)
    return rejects_violation(peer, 2)


@on_channel("tx.select.suffices", covers=["tx/select"], needs=_TX)
def select_suffices(peer: Peer) -> Verdict:
    """After select, every commit and rollback is answered."""
    peer.claim("an answer to each method")
    methods = ("tx.select", "tx.commit", "tx.rollback", "tx.select", "tx.rollback", "tx.commit")
    got = [peer.call(method).name for method in methods]
    return equals(peer, got, [f"{method}-ok" for method in methods], "answers")


@case("tx.commit.publications", covers=["tx/commit"], needs=_TX)
def commit_publishes(peer: Peer) -> Verdict:
    """Commit makes publications take effect; later ones belong to the next transaction."""
    queue = _transaction(peer, published=(b"1", b"2"))
    peer.open_channel(2)
    other = peer.another().open_channel()
    other.consume(queue, no_ack=True)
    peer.claim("each publication after its own commit")
    got = []
    for body, count in ((b"3", 2), (b"4", 1)):
        peer.call("tx.commit")
        # Published behind commit-ok, so part of the next transaction: it must not come with this one.
        send(peer, queue, (body,), transacted=True)
        first = awaited(other, count)
        got.append(bodies(first + settled(queue, (other, 1), sender=(peer, 2))[0]))
    return equals(peer, got, [[b"1", b"2"], [b"3"]], "messages after each commit")


@on_queue("tx.commit.acknowledgements", covers=["tx/commit"], needs=_TX)
def commit_acknowledges(peer: Peer, queue: str) -> Verdict:
    """Acknowledgements take effect at commit; later ones at the next commit."""
    send(peer, queue, (b"1", b"2"))
    peer.call("tx.select")
    first, second = taken(peer, queue, 2)
    peer.send("basic.ack", delivery_tag=first["delivery_tag"])
    peer.claim("one message acknowledged by commit, the other not")
    peer.call("tx.commit")
    peer.send("basic.ack", delivery_tag=second["delivery_tag"])
    reopened(peer)
    return equals(peer, bodies(gathered(peer, queue, 1)), [b"2"], "messages delivered again")


@case("tx.commit.failed", covers=["tx/commit-ok", "tx/commit/transacted"], needs=_TX)
def failed_commit_ends_its_channel(peer: Peer) -> Verdict:
    """A commit that fails raises a channel exception, and the connection remains open."""
    peer.open_channel().open_channel(2)
    peer.send("tx.commit", channel=2)
    verdict = rejects_violation(peer, 2)
    peer.claim("the connection at work after the exception")
    peer.barrier()
    return verdict


@on_channel("tx.commit.transacted", covers=["tx/commit/transacted"], needs=_TX)
def nothing_to_commit(peer: Peer) -> Verdict:
    """Commit on a channel without transactions is refused."""
    peer.send("tx.commit")
    return rejects_violation(peer)


@on_channel("tx.commit.mandatory", covers=["tx/commit"], needs=["tx"])
def mandatory_in_a_transaction(peer: Peer) -> Verdict:
    """Commit publishes the routable messages of a transaction, whether it returns a mandatory one or not."""
    queue, nowhere = peer.queue(), peer.name("nowhere")
    peer.call("tx.select")
    peer.claim("the routable message in its queue, and no return of the optional one")
    peer.publish(nowhere, b"optional")
    peer.publish(nowhere, b"mandatory", mandatory=True)
    peer.publish(queue, b"routable")
    peer.send("tx.commit")
    # What mandatory does in a transaction is not defined (rule not mandatory of class tx): it is only observed.
    if (answer := peer.arrival("tx.commit-ok")).refusal is not None:
        return observed_either_way(peer, "the commit is refused", answer)
    peer.expected(answer, "tx.commit-ok")
    back = returned(peer, transacted=True)
    arrive(peer, queue, 1)
    left = bodies(peer.drain(queue))
    if left == [b"routable"] and b"optional" not in back:
        return observed_either_way(peer, f"the mandatory message is {'' if back else 'not '}returned")
    return equals(peer, (back, left), ([b"mandatory"], [b"routable"]), "messages returned, and in the queue")


@case("tx.rollback.publications", covers=["tx/rollback"], needs=_TX)
def rollback_forgets_publications(peer: Peer) -> Verdict:
    """Rollback discards publications and starts the next transaction."""
    queue = _transaction(peer, published=(b"forgotten",))
    peer.claim("only the publications of the second transaction")
    peer.call("tx.rollback")
    send(peer, queue, (b"kept",), transacted=True)
    before = peer.call("queue.declare", queue=queue, passive=True)["message_count"]
    peer.call("tx.commit")
    got = bodies(gathered(peer.open_channel(2), queue, 1, 2))
    return equals(peer, (before, got), (0, [b"kept"]), "messages before commit, and after it")


@on_queue("tx.rollback.acknowledgements", covers=["tx/rollback"], needs=_TX)
def rollback_forgets_acknowledgements(peer: Peer, queue: str) -> Verdict:
    """Rollback discards acknowledgements: the message can be acknowledged again, or is redelivered."""
    send(peer, queue, (b"1", b"2"))
    peer.call("tx.select")
    first, second = taken(peer, queue, 2)
    for message in (first, second):
        peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    peer.claim("one message acknowledged in the second transaction, the other not")
    peer.call("tx.rollback")
    peer.send("basic.ack", delivery_tag=second["delivery_tag"])
    peer.call("tx.commit")
    reopened(peer)
    return equals(peer, bodies(gathered(peer, queue, 1)), [b"1"], "messages delivered again")


@on_queue("tx.rollback.no-redelivery", covers=["tx/rollback/no-redelivery"], needs=_TX)
def rollback_delivers_nothing(peer: Peer, queue: str) -> Verdict:
    """Rollback alone redelivers nothing; a recover after it does."""
    peer.call("tx.select")
    peer.consume(queue)
    send(peer, queue, (b"1",), transacted=True)
    peer.call("tx.commit")
    peer.send("basic.ack", delivery_tag=peer.delivery()["delivery_tag"])
    # A second consumer, as recover with requeue may deliver to either.
    peer.open_channel(2)
    peer.consume(queue, channel=2, no_ack=True)
    peer.open_channel(3)
    peer.claim("no delivery after rollback, one after recover, to either consumer")
    peer.call("tx.rollback")
    mine, theirs = settled(queue, (peer, 1), (peer, 2), sender=(peer, 3))
    after_rollback = bodies(mine + theirs)
    peer.call("basic.recover", requeue=True)
    after_recover = bodies(awaited(peer, 1, None))
    return equals(peer, (after_rollback, after_recover), ([], [b"1"]), "after rollback, after recover")


@on_shared_queue("tx.rollback.recovered", covers=["tx/rollback"], needs=_TX)
def rollback_forgets_what_was_recovered(peer: Peer, queue: str) -> Verdict:
    """After a rollback, a recovered message no longer belongs to the channel, and another client can acknowledge it."""
    send(peer, queue, (b"1",))
    peer.call("tx.select")
    (message,) = taken(peer, queue, 1)
    peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    peer.call("tx.rollback")
    peer.call("basic.recover", requeue=True)
    other = peer.another().open_channel()
    message = owed(found(other, queue), "the recovered message")
    peer.claim("no message that another client has acknowledged")
    peer.call("tx.rollback")
    reopened(peer)
    other.send("basic.ack", delivery_tag=message["delivery_tag"])
    other.barrier(queue=queue)
    return equals(peer, bodies(gathered(peer, queue, 0)), [], "messages delivered again")


@on_channel("tx.rollback.transacted", covers=["tx/rollback/transacted"], needs=_TX)
def nothing_to_roll_back(peer: Peer) -> Verdict:
    """Rollback on a channel without transactions is refused."""
    peer.send("tx.rollback")
    return rejects_violation(peer)


def _transaction(peer: Peer, published: tuple[bytes, ...], acknowledged: bytes = b"") -> str:
    """Open a transaction that publishes to a queue, and acknowledges what was in it before; returns its name."""
    peer.open_channel()
    # Shared, so that another connection finds it when this one is lost.
    queue = peer.queue(exclusive=False)
    if acknowledged:
        send(peer, queue, (acknowledged,))
    peer.call("tx.select")
    if acknowledged:
        (message,) = taken(peer, queue, 1)
        peer.send("basic.ack", delivery_tag=message["delivery_tag"])
    send(peer, queue, published, transacted=True)
    return queue
