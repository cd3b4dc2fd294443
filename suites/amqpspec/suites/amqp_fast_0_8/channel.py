"""Channels: OPEN, REPLY, CLOSE (channel.open to the flow of channels)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import NOWHERE, silent, topic
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_NEEDS_A_CHANNEL: dict[str, tuple[str, dict[str, Any]]] = {
    "channel/ack/open": ("channel.ack", {"message_nbr": 1}),
    "channel/commit/open": ("channel.commit", {}),
    "channel/rollback/open": ("channel.rollback", {}),
    "channel/close/state": ("channel.close", {}),
}


@case("channel.open.channel-id", covers=["channel/open/channel-id"])
def channel_zero(peer: Peer) -> Verdict:
    """A channel-id of zero is refused, with and without an open channel."""
    peer.open_connection()
    peer.send("channel.open", channel_id=0, confirm_tag=1)
    other = peer.another().open_channel(1)
    other.send("channel.open", channel_id=0)
    return worst([rejects_violation(line, 0, barrier="ping") for line in (peer, other)])


@case("channel.open.confirmed", covers=["channel/open/confirmed"])
def channel_open_is_confirmed(peer: Peer) -> Verdict:
    """CHANNEL OPEN with a confirm-tag is answered with one CHANNEL REPLY, for each of two channels."""
    peer.open_connection()
    peer.claim("two REPLYs")
    for channel in (1, 0x0102):
        peer.open_channel(channel)
    replies = [f.args["channel_id"] for f in peer.listener.frames if f.name == "channel.reply"]
    seen = (replies, silent(peer, "channel.reply", channels=(1, 0x0102)))
    return equals(peer, seen, ([1, 0x0102], []), "REPLYs")


@case("channel.open.open", covers=["channel/open/open"])
@case("channel.summary.open", covers=["channel/summary/server/open", "transactions/not-nested"])
def open_an_open_channel(peer: Peer) -> Verdict:
    """A second OPEN of a channel, transacted like the first, is refused."""
    peer.open_channel(1)
    peer.open_channel(2, transacted=True)
    peer.send("channel.open", channel_id=2, transacted=True, confirm_tag=1)
    return rejects_violation(peer, 2, barrier="ping")


@case("channel.ack.open", covers=["channel/ack/open"])
@case("channel.commit.open", covers=["channel/commit/open"])
@case("channel.rollback.open", covers=["channel/rollback/open"])
@case("channel.close.state", covers=["channel/close/state"])
def a_command_on_a_channel_that_is_not_open(peer: Peer) -> Verdict:
    """A command on a channel that was never opened is refused, although another channel is open."""
    name, fields = _NEEDS_A_CHANNEL[peer.context.requirements[0].id]
    peer.open_channel(1, transacted=True)
    peer.send_octets(peer.octets(name, channel_id=NOWHERE, **fields))
    return rejects_violation(peer, NOWHERE, barrier="ping")


@case("channel.commit.not-transacted", covers=["channel/commit/transacted"])
@case("channel.rollback.not-transacted", covers=["channel/rollback/transacted"])
def a_transaction_where_there_is_none(peer: Peer) -> Verdict:
    """COMMIT or ROLLBACK on a channel without transactions is refused, although another channel has them."""
    name = "channel.commit" if "commit" in peer.context.requirements[0].id else "channel.rollback"
    peer.open_channel(1, transacted=True)
    peer.open_channel(2)
    peer.send(name, channel_id=2, confirm_tag=1)
    return rejects_violation(peer, 2, barrier="ping")


@case("channel.reply.channel", covers=["channel/reply/channel"])
def a_reply_names_its_channel(peer: Peer) -> Verdict:
    """CHANNEL REPLY names the channel of its command, for commands on two channels in one write."""
    peer.open_channel(3, transacted=True)
    peer.open_channel(0x0102, transacted=True)
    tags = {3: peer.fresh_tag(), 0x0102: peer.fresh_tag()}
    peer.claim("each tag with its channel")
    octets = [peer.octets("channel.commit", channel_id=id, confirm_tag=tag) for id, tag in tags.items()]
    peer.send_octets(b"".join(octets))
    seen = {
        reply["channel_id"]: reply["confirm_tag"] for reply in (peer.expect("channel.reply") for _ in tags)
    }
    return equals(peer, seen, tags, "tags by channel")


@case("channel.reply.confirm-tag", covers=["channel/reply/confirm-tag"])
def the_tag_of_a_channel_reply(peer: Peer) -> Verdict:
    """CHANNEL REPLY contains the tag of its command, at both ends of the range, and a code of success."""
    peer.open_connection()
    peer.claim("the tags, and codes from 200 to 299")
    seen = []
    for channel, tag in enumerate((1, 0x0100, 0xFFFF), start=1):
        peer.send("channel.open", channel_id=channel, confirm_tag=tag)
        reply = peer.expect("channel.reply", channel=channel)
        seen.append((reply["confirm_tag"], reply["reply_code"] // 100))
    return equals(peer, seen, [(1, 2), (0x0100, 2), (0xFFFF, 2)], "tags and severities")


@case("channel.confirmation.asked", covers=["channel/confirmation/asked"])
def channel_commands_are_confirmed_where_asked(peer: Peer) -> Verdict:
    """OPEN, COMMIT and ROLLBACK are confirmed with a tag, and not confirmed without one."""
    peer.open_connection()
    peer.claim("REPLYs to the three commands that request one")
    for tag in (0, 0x7F02):
        peer.send("channel.open", channel_id=1 + bool(tag), transacted=True, confirm_tag=tag)
        peer.send("channel.commit", channel_id=1 + bool(tag), confirm_tag=tag and tag + 1)
        peer.send("channel.rollback", channel_id=1 + bool(tag), confirm_tag=tag and tag + 2)
    found = [reply["confirm_tag"] for reply in silent(peer, "channel.reply", channels=(1, 2))]
    return equals(peer, found, [0x7F02, 0x7F03, 0x7F04], "tags")


@case("channel.confirmation.before-an-error", covers=["channel/confirmation/asked"])
def what_came_before_an_error_is_confirmed(peer: Peer) -> Verdict:
    """Of two commands in one write, the first is confirmed even if the second closes the channel, by error or CLOSE."""
    peer.open_channel(1)
    seen, tags = [], []
    for channel, last in ((2, "channel.close"), (3, "channel.commit")):
        peer.open_channel(channel)
        tags.append(peer.fresh_tag())
        peer.claim("the REPLY to ACK, then CHANNEL CLOSE")
        sound = peer.octets("channel.ack", channel_id=channel, message_nbr=1, confirm_tag=tags[-1])
        peer.send_octets(sound + peer.octets(last, channel_id=channel))
        seen.append(peer.expect("channel.reply", "handle.reply")["confirm_tag"])
        peer.arrival("channel.close", "connection.close", channel=channel)
    return equals(peer, seen, tags, "tags")


@case("channel.confirmation.before-a-fatal-error", covers=["channel/confirmation/asked"])
def what_came_before_a_fatal_error_is_confirmed(peer: Peer) -> Verdict:
    """Of two commands in one write, the first is confirmed even if the second closes the connection."""
    verdicts = []
    for last in ("connection.reply", "connection.close"):
        line = peer.another().open_channel(1)
        tag = line.fresh_tag()
        line.claim("the REPLY to ACK, then CONNECTION CLOSE")
        sound = line.octets("channel.ack", message_nbr=1, confirm_tag=tag)
        line.send_octets(sound + line.octets(last))
        reply = line.expect("channel.reply", "handle.reply")
        closed = line.wait(line.closes, line.patience_s).kind.partition(" ")[0]
        verdicts.append(
            equals(line, (reply["confirm_tag"], closed), (tag, "connection.close"), "tag, and what follows")
        )
    return worst(verdicts)


# --- CLOSE


@case("channel.close.any-time", covers=["channel/close/any-time", "channel/close/answered"])
def close_a_channel_at_any_time(peer: Peer) -> Verdict:
    """CHANNEL CLOSE is answered on a new channel and within a message, and does not affect a third channel."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_channel(3)
    peer.open_handle(2, 2)
    peer.open_handle(3, 3)
    message = encode_message(b"in two parts")
    name = topic(peer)
    peer.send_octets(peer.fragments(name, message, 2, chunk=len(message) - 3, service_type=TOPIC)[0])
    peer.claim("CHANNEL CLOSE with a code of success for each")
    seen = []
    for channel in (1, 2):
        answer = peer.close_channel(channel)
        seen.append((answer["channel_id"], answer["reply_code"] // 100))
    peer.store(name, b"third", 3, service=TOPIC)
    return equals(peer, seen, [(1, 2), (2, 2)], "channels and severities")


@case(
    "channel.close.released",
    covers=["channel/close/released", "channel/close/answered", "channel/summary/server/close"],
)
def close_releases_a_channel(peer: Peer) -> Verdict:
    """After CHANNEL CLOSE, its unacknowledged message is requeued and its transaction is rolled back."""
    peer.open_channel(1)
    name = peer.queue(1)
    peer.open_handle(1, 1)
    peer.publish_all(name, [b"acknowledged", b"read"], 1)
    peer.open_channel(2, transacted=True)
    peer.reader(name, 2, 2)
    peer.open_handle(3, 2)
    first, _ = peer.deliveries(2, 2)
    peer.ack(first.number, 2)
    peer.call("channel.commit", channel_id=2)
    peer.open_channel(4)
    peer.store(name, b"rolled back", 3)
    peer.claim("no message that was sent in the transaction")
    peer.close_channel(2)
    peer.open_channel(5)
    peer.store(name, b"behind", 1)
    return holds(peer, b"rolled back" not in (found := peer.left_in(name, 5)), f"messages {found}")


@case("channel.close.unacknowledged", covers=["channel/close/released"])
def close_gives_messages_back(peer: Peer) -> Verdict:
    """After CHANNEL CLOSE, a waiting reader receives the unacknowledged messages of two queues."""
    other = peer.another().open_channel()
    peer.open_channel(1)
    peer.open_channel(2)
    names = [peer.queue(1), peer.queue(1)]
    peer.open_handle(1, 1)
    for handle, name in enumerate(names, start=2):
        peer.reader(name, handle, 2)
        peer.publish_all(name, [b"acknowledged", b"read"], 1)
        first, _ = peer.deliveries(2, handle)
        if handle == 2:
            peer.ack(first.number, 2)
        other.reader(name, handle)
    peer.claim("the messages that were not acknowledged, and not the one that was")
    peer.close_channel(2)
    seen = (other.bodies(1, 2), sorted(other.bodies(2, 3)))
    other.barrier()
    return equals(
        peer, (*seen, other.received(2)), ([b"read"], [b"acknowledged", b"read"], []), "messages by queue"
    )


def _in_error(peer: Peer) -> None:
    """Make the target send CHANNEL CLOSE for channel 2, and leave that unanswered."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_handle(2, 2)
    peer.polite = False
    peer.send("channel.commit", channel_id=2)
    arrival = peer.arrival("channel.close", "connection.close", channel=2)
    if not arrival.kind.startswith("channel.close"):
        raise Unmet("CHANNEL CLOSE", arrival.describe(peer.dialect))


@case("channel.close.reads-on", covers=["channel/close/reads-on", "channel/close/ended"])
def the_target_waits_for_the_other_channel_close(peer: Peer) -> Verdict:
    """After its CHANNEL CLOSE, the target accepts the client's silently, and the channel can be opened again."""
    _in_error(peer)
    peer.claim("no further CHANNEL CLOSE, and a channel that opens")
    peer.send_octets(peer.octets("channel.close", channel_id=2))
    found = silent(peer, "channel.close", channels=(1,))
    peer.open_channel(2)
    peer.open_handle(2, 2)
    peer.store(topic(peer), b"x", 2, service=TOPIC)
    return equals(peer, found, [], "further CLOSEs")


@case("channel.close.repeated", covers=["channel/close/repeated"])
def channel_close_is_repeated(peer: Peer) -> Verdict:
    """After its CHANNEL CLOSE, the target answers other commands on the channel with another CHANNEL CLOSE."""
    _in_error(peer)
    peer.claim("CHANNEL CLOSE for each command, and none for the other channel")
    seen = []
    for _ in range(2):
        peer.send("channel.rollback", channel_id=2, confirm_tag=1)
        seen.append([close["channel_id"] for close in silent(peer, "channel.close", "channel.reply")])
    peer.barrier(1)
    return equals(peer, seen, [[2], [2]], "channels of CLOSEs")
