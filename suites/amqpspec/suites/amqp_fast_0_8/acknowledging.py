"""Acknowledging: which messages an ACK covers (scenario, channel.ack)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.arrivals import MessageArrived, is_reply
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict


def _delivered(peer: Peer, count: int) -> tuple[str, list[MessageArrived]]:
    """A queue with this many messages, all of them delivered on channel 2; returns its name, and the messages."""
    peer.open_channel(1)
    peer.open_channel(2)
    name = peer.queue(1)
    peer.open_handle(1, 1)
    peer.reader(name, 2, 2)
    peer.publish_all(name, [b"%d" % n for n in range(count)], 1)
    return name, peer.deliveries(count, 2)


@case("acknowledging.when", covers=["scenarios/acknowledging/when"])
def acknowledge_at_once_or_later(peer: Peer) -> Verdict:
    """After an ACK for one message at once, then one for two together, only the fourth message is left."""
    name, messages = _delivered(peer, 4)
    peer.claim("the message that was not acknowledged")
    peer.ack(messages[0].number, 2)
    peer.ack(messages[2].number, 2)
    peer.close_channel(2)
    return equals(peer, peer.left_in(name), [b"3"], "messages")


@case("acknowledging.up-to", covers=["scenarios/acknowledging/up-to"])
def an_ack_covers_all_before_it(peer: Peer) -> Verdict:
    """An ACK of the third of five messages leaves two messages."""
    name, messages = _delivered(peer, 5)
    peer.claim("the messages above the number")
    peer.ack(messages[2].number, 2)
    peer.close_channel(2)
    return equals(peer, peer.left_in(name), [b"3", b"4"], "messages")


@case(
    "acknowledging.per-channel",
    covers=["scenarios/acknowledging/per-channel", "channel/ack/all-destinations"],
)
def an_ack_covers_all_handles_of_its_channel(peer: Peer) -> Verdict:
    """An ACK covers messages of two queues on two handles of its channel, and none of another channel."""
    name, messages = _delivered(peer, 2)
    other, third = peer.queue(1), peer.queue(1)
    peer.reader(other, 3, 2)
    peer.open_channel(4)
    peer.reader(third, 4, 4)
    peer.publish_all(other, [b"x", b"y"], 1)
    peer.publish_all(third, [b"far"], 1)
    last = peer.deliveries(2, 3)[-1]
    far = peer.deliveries(1, 4)
    peer.claim("empty queues, but for the one that another channel reads")
    peer.ack(last.number, 2)
    peer.close_channel(2)
    peer.close_channel(4)
    seen = [peer.left_in(queue, 1) for queue in (name, other, third)]
    return equals(peer, (seen, len(messages), len(far)), ([[], [], [b"far"]], 2, 1), "messages by queue")


@case("channel.ack.numbers", covers=["channel/ack/numbers"])
def message_numbers_are_sequential(peer: Peer) -> Verdict:
    """Messages of two handles of a channel have consecutive numbers."""
    _, messages = _delivered(peer, 3)
    other = peer.queue(1)
    peer.reader(other, 3, 2)
    peer.publish_all(other, [b"x", b"y"], 1)
    peer.claim("numbers without a gap")
    numbers = [message.number for message in (*messages, *peer.deliveries(2, 3))]
    return equals(peer, numbers, list(range(numbers[0], numbers[0] + 5)), "numbers")


@case("channel.ack.unknown-number", covers=["channel/ack/unknown-number"])
def an_ack_above_all_messages(peer: Peer) -> Verdict:
    """An ACK with a number above all messages covers all of them and is not an error."""
    name, messages = _delivered(peer, 2)
    peer.claim("a confirmation, and an empty queue")
    peer.ack(messages[-1].number + 1000, 2)
    peer.close_channel(2)
    return equals(peer, peer.left_in(name), [], "messages")


@case("channel.ack.none", covers=["channel/ack/unknown-number"])
def an_ack_without_messages(peer: Peer) -> Verdict:
    """An ACK on a channel that has received nothing is not an error."""
    peer.open_channel(1)
    peer.claim("a confirmation")
    return holds(peer, peer.ack(7)["reply_code"] < 300, "a confirmation")


@case("channel.summary.ack", covers=["channel/summary/server/ack"])
def ack_is_confirmed(peer: Peer) -> Verdict:
    """An ACK with a tag is confirmed once, by CHANNEL REPLY or by HANDLE REPLY for a handle of the channel."""
    _, messages = _delivered(peer, 2)
    peer.claim("one REPLY with the tag")
    reply = peer.call("channel.ack", channel_id=2, message_nbr=messages[0].number, confirm_tag=0x7F01)
    peer.send("channel.ack", channel_id=2, message_nbr=messages[1].number)
    peer.barrier(2)
    where = reply.get("channel_id") == 2 or reply.get("handle_id") == 2
    more = peer.stashed(lambda a: is_reply(a, 0x7F01) or is_reply(a, 0))
    return holds(peer, where and not more, f"{reply.describe(peer.dialect)}, and {len(more)} more")
