"""Transactions: transacted channels, COMMIT, ROLLBACK (transacted-channels, channel.commit, channel.rollback)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import subscribe, topic


def _transacted(peer: Peer) -> str:
    """Channel 1 is plain, channel 2 transacted, each with a handle of its number; returns the name of a queue."""
    peer.open_channel(1)
    peer.open_channel(2, transacted=True)
    peer.open_handle(1, 1)
    peer.open_handle(2, 2)
    return peer.queue(1)


@case(
    "channel.open.transacted",
    covers=["channel/open/transacted", "channel/summary/server/commit", "channel/summary/server/rollback"],
)
def commit_and_rollback_work(peer: Peer) -> Verdict:
    """On a transacted channel, COMMIT publishes the messages sent and ROLLBACK discards them; both are confirmed."""
    name = _transacted(peer)
    peer.claim("the message that was committed")
    peer.store(name, b"rolled back", 2)
    peer.call("channel.rollback", channel_id=2)
    peer.store(name, b"committed", 2)
    peer.call("channel.commit", channel_id=2)
    return equals(peer, peer.left_in(name, 1), [b"committed"], "messages")


@case("transactions.begin", covers=["transactions/begin"])
def no_command_begins_a_transaction(peer: Peer) -> Verdict:
    """Messages sent right after CHANNEL OPEN belong to a transaction, and do not exist before COMMIT."""
    name = _transacted(peer)
    peer.claim("nothing before COMMIT, the message after it")
    peer.store(name, b"first", 2)
    before = peer.left_in(name, 1)
    peer.call("channel.commit", channel_id=2)
    return equals(peer, (before, peer.left_in(name, 1)), ([], [b"first"]), "messages before and after")


@case("transactions.per-channel", covers=["transactions/per-channel"])
def each_channel_has_a_choice(peer: Peer) -> Verdict:
    """A channel without transactions publishes immediately while two others have them;

    COMMIT affects one channel only.
    """
    name = _transacted(peer)
    peer.open_channel(3, transacted=True)
    peer.open_handle(3, 3)
    peer.claim("the message of the plain channel, then that of the channel that commits")
    for handle in (1, 2, 3):
        peer.store(name, b"%d" % handle, handle)
    before = peer.left_in(name, 1)
    peer.call("channel.commit", channel_id=3)
    return equals(peer, (before, peer.left_in(name, 1)), ([b"1"], [b"3"]), "messages before and after")


@case("channel.commit.next", covers=["channel/commit/next", "transactions/begin"])
def a_transaction_behind_commit(peer: Peer) -> Verdict:
    """Messages sent after COMMIT belong to the next transaction, which can be rolled back."""
    name = _transacted(peer)
    peer.store(name, b"one", 2)
    peer.call("channel.commit", channel_id=2)
    peer.claim("only the first message, before and after the rollback")
    peer.store(name, b"two", 2)
    before = peer.left_in(name, 1)
    peer.call("channel.rollback", channel_id=2)
    return equals(peer, (before, peer.left_in(name, 1)), ([b"one"], []), "messages")


@case("channel.commit.extent", covers=["channel/commit/extent"])
def commit_covers_sends_and_acknowledgements(peer: Peer) -> Verdict:
    """COMMIT makes two SENDs and an ACK final: after the channel is closed, only the sent messages exist."""
    name, other = _transacted(peer), peer.queue(1)
    peer.publish_all(name, [b"a", b"b"], 1)
    peer.consume(name, 2)
    last = peer.deliveries(2, 2)[-1]
    peer.claim("both messages that were sent, and none that was acknowledged")
    peer.ack(last.number, 2)
    peer.publish_all(other, [b"c", b"d"], 2)
    peer.call("channel.commit", channel_id=2)
    peer.close_channel(2)
    seen = (peer.left_in(name, 1), peer.left_in(other, 1))
    return equals(peer, seen, ([], [b"c", b"d"]), "messages by queue")


@case("channel.commit.visible", covers=["channel/commit/visible"])
def others_see_messages_with_commit(peer: Peer) -> Verdict:
    """Another connection that reads the queue receives the messages of a transaction at COMMIT, not before it."""
    name = _transacted(peer)
    other = peer.another().open_channel()
    other.reader(name, 1)
    peer.publish_all(name, [b"a", b"b"], 2)
    peer.store(name, b"plain", 1)
    peer.claim("the message outside of the transaction first, the others after COMMIT")
    first = other.bodies(1, 1)
    other.barrier()
    early = other.received(1)
    peer.call("channel.commit", channel_id=2)
    return equals(peer, (first, early, other.bodies(2, 1)), ([b"plain"], [], [b"a", b"b"]), "messages")


@case("channel.commit.mixture", covers=["channel/commit/mixture"])
def queues_and_topics_in_one_transaction(peer: Peer) -> Verdict:
    """COMMIT publishes all messages of a transaction, for a topic and for a queue, in order."""
    name, news = _transacted(peer), topic(peer)
    subscribe(peer, news, 4, 1)
    peer.claim("messages of both kinds after COMMIT, none before")
    peer.store(news, b"t1", 2, service=TOPIC)
    peer.store(name, b"q", 2)
    peer.store(news, b"t2", 2, service=TOPIC)
    peer.barrier(1)
    early = peer.received(4)
    peer.call("channel.commit", channel_id=2)
    seen = (early, peer.bodies(2, 4), peer.left_in(name, 1))
    return equals(peer, seen, ([], [b"t1", b"t2"], [b"q"]), "messages")


@case("channel.commit.confirms-notify", covers=["channel/commit/confirms-notify"])
def commit_settles_what_was_received(peer: Peer) -> Verdict:
    """COMMIT settles messages received in the transaction, without an ACK."""
    name = _transacted(peer)
    peer.publish_all(name, [b"a", b"b"], 1)
    peer.consume(name, 2)
    peer.deliveries(2, 2)
    peer.claim("an empty queue after COMMIT and the end of the channel")
    peer.call("channel.commit", channel_id=2)
    peer.close_channel(2)
    return equals(peer, peer.left_in(name, 1), [], "messages")


@case("channel.rollback.next", covers=["channel/rollback/next"])
def a_transaction_behind_rollback(peer: Peer) -> Verdict:
    """Messages sent after ROLLBACK belong to the next transaction, and do not exist before COMMIT."""
    name = _transacted(peer)
    peer.store(name, b"one", 2)
    peer.call("channel.rollback", channel_id=2)
    peer.claim("nothing before COMMIT, the second message after it")
    peer.store(name, b"two", 2)
    before = peer.left_in(name, 1)
    peer.call("channel.commit", channel_id=2)
    return equals(peer, (before, peer.left_in(name, 1)), ([], [b"two"]), "messages before and after")


@case("channel.rollback.sends", covers=["channel/rollback/extent"])
def rollback_cancels_sends(peer: Peer) -> Verdict:
    """The next COMMIT does not publish messages sent before ROLLBACK."""
    name = _transacted(peer)
    peer.publish_all(name, [b"a", b"b"], 2)
    peer.call("channel.rollback", channel_id=2)
    peer.claim("the message of the next transaction only")
    peer.store(name, b"c", 2)
    peer.call("channel.commit", channel_id=2)
    return equals(peer, peer.left_in(name, 1), [b"c"], "messages")


@case("channel.rollback.prefetch", covers=["channel/rollback/extent"])
def rollback_opens_the_window(peer: Peer) -> Verdict:
    """With a prefetch of 1, ROLLBACK and COMMIT each reopen the window for one message, until all are delivered."""
    name = _transacted(peer)
    peer.publish_all(name, [b"a", b"b"], 1)
    peer.claim("the message again, and the other one, in any order")
    peer.consume(name, 2, prefetch=1)
    seen = peer.bodies(1, 2)
    peer.call("channel.rollback", channel_id=2)
    seen += peer.bodies(1, 2)
    peer.call("channel.commit", channel_id=2)
    seen += peer.bodies(1, 2)
    return equals(peer, sorted(seen), [b"a", b"a", b"b"], "messages")


@case("channel.rollback.deliveries", covers=["channel/rollback/extent"])
def rollback_brings_messages_back(peer: Peer) -> Verdict:
    """ROLLBACK cancels NOTIFYs and ACKs: acknowledged and unacknowledged messages are redelivered."""
    name = _transacted(peer)
    peer.publish_all(name, [b"a", b"b"], 1)
    peer.consume(name, 2)
    first, _ = peer.deliveries(2, 2)
    peer.ack(first.number, 2)
    peer.claim("both messages again")
    peer.call("channel.rollback", channel_id=2)
    return equals(peer, sorted(peer.bodies(2, 2)), [b"a", b"b"], "messages")


@case("channel.rollback.many-times", covers=["channel/rollback/extent"])
def rollback_brings_messages_back_without_end(peer: Peer) -> Verdict:
    """Messages of a queue and of a topic are redelivered after each of eight ROLLBACKs."""
    name, news = _transacted(peer), topic(peer)
    peer.consume(name, 2)
    subscribe(peer, news, 3, 2)
    peer.store(name, b"q", 1)
    peer.store(news, b"t", 1, service=TOPIC)
    peer.claim("both messages, nine times")
    seen = [peer.bodies(1, 2) + peer.bodies(1, 3)]
    for _ in range(8):
        peer.call("channel.rollback", channel_id=2)
        seen.append(peer.bodies(1, 2) + peer.bodies(1, 3))
    return equals(peer, seen, [[b"q", b"t"]] * 9, "messages")
