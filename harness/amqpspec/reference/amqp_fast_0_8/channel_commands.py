"""Commands on channels: OPEN, ACK, COMMIT, ROLLBACK, CLOSE.

Knows: their fields, and which rules they can violate. Must not know: how a channel carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from amqpspec.reference.amqp_fast_0_8.channels import Channel
from amqpspec.reference.amqp_fast_0_8.connection import CODES, Connection
from amqpspec.reference.amqp_fast_0_8.limits import CHANNEL_MAX
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers

_HIGH = 0xFF00
Args = Mapping[str, Any]
ChannelCommand = Callable[[Connection, Channel, Args], None]
COMMANDS = Handlers[Callable[[Connection, Args], None]]()


def _on_channel(name: str, rule: str) -> Callable[[ChannelCommand], ChannelCommand]:
    """Register a command on an open channel; it violates a rule if the channel that it names is not open."""

    def registered(command: ChannelCommand) -> ChannelCommand:
        COMMANDS[name] = partial(_on_open_channel, rule, command)
        return command

    return registered


def _on_open_channel(rule: str, command: ChannelCommand, connection: Connection, args: Args) -> None:
    channel = connection.channels.get(args["channel_id"])
    if channel is None:
        connection.refuse(rule, f"channel {args['channel_id']} is not open")
    else:
        command(connection, channel, args)


@COMMANDS.register("channel.open")
def _open(connection: Connection, args: Args) -> None:
    id = args["channel_id"]
    if id > _HIGH and connection.faulty("high-ids-refused"):
        connection.close_channel(id, CODES["resource-error"], "too high")
        return
    if id > _HIGH and connection.faulty("dies-of-high-ids"):
        connection.core.crash_soon()
    if not id:
        connection.refuse("channel/open/channel-id", "channel 0")
    if id in connection.channels:
        connection.refuse("channel/open/open", f"channel {id} is open")
        return
    if len(connection.channels) >= CHANNEL_MAX - connection.faulty("channel-max-one-less"):
        connection.refuse("tuning/channel-max", f"more than {CHANNEL_MAX} channels")
    transacted = args["transacted"]
    if connection.faulty("all-channels-alike") and connection.channels:
        transacted = next(iter(connection.channels.values())).transacted
    channel = Channel(connection, id, transacted, args["restartable"])
    connection.channels[id] = channel
    if connection.faulty("ids-usable-behind-the-answer"):
        connection.splitter.clear()
    _confirm(connection, channel, args)


def _confirm(connection: Connection, channel: Channel, args: Args) -> None:
    tag, id = args["confirm_tag"], channel.id
    if not tag and not connection.faulty("channel-commands-confirmed-unasked"):
        return
    if connection.faulty("channel-commands-not-confirmed"):
        return
    if connection.faulty("channel-reply-with-another-tag"):
        tag = tag % 0xFFFF + 1
    if connection.faulty("channel-reply-names-another-channel"):
        id = id % 0xFFFF + 1
    channel.say("channel.reply", channel_id=id, confirm_tag=tag, reply_code=200)


@_on_channel("channel.ack", "channel/ack/open")
def _ack(connection: Connection, channel: Channel, args: Args) -> None:
    if args["message_nbr"] >= channel.next_in_line and connection.faulty("ack-above-all-refused"):
        connection.close_channel(channel.id, CODES["invalid-field"], "no such message")
        return
    channel.ack(args["message_nbr"])
    if not connection.faulty("ack-not-confirmed"):
        _confirm(connection, channel, args)


@_on_channel("channel.commit", "channel/commit/open")
def _commit(connection: Connection, channel: Channel, args: Args) -> None:
    if not channel.transacted:
        connection.refuse("channel/commit/transacted", f"channel {channel.id} is not transacted")
    if connection.faulty("commit-refused"):
        connection.close_channel(channel.id, 540, "no transactions")
        return
    if not connection.faulty("confirmed-before-it-is-done"):
        channel.commit()
    _confirm(connection, channel, args)


@_on_channel("channel.rollback", "channel/rollback/open")
def _rollback(connection: Connection, channel: Channel, args: Args) -> None:
    if not channel.transacted:
        connection.refuse("channel/rollback/transacted", f"channel {channel.id} is not transacted")
    if not connection.faulty("confirmed-before-it-is-done"):
        channel.rollback()
    _confirm(connection, channel, args)


@_on_channel("channel.close", "channel/close/state")
def _close(connection: Connection, channel: Channel, args: Args) -> None:
    if connection.faulty("client-cannot-close-a-channel"):
        connection.close_channel(channel.id, 503, "not by you")
        connection.close(503, "not by you")
        return
    connection.core.flush()
    connection.drop_channel(channel.id)
    if not connection.faulty("channel-close-not-answered"):
        id = channel.id + 1 if connection.faulty("channel-close-names-another") else channel.id
        connection.reply("channel.close", channel_id=id, reply_code=200)


FAULTS = fault_table("""
channel-max-one-less: the last channel that CHANNEL_MAX allows is refused [tuning/channel-max]
all-channels-alike: whether a channel is transacted is what the first one was [transactions/per-channel]
ids-usable-behind-the-answer: commands that arrive in one read with CHANNEL OPEN are lost
    [ids/at-once channels/pipelining errors/no-waiting]
channel-commands-confirmed-unasked: commands on channels are confirmed without a confirm-tag
    [channel/confirmation/asked]
channel-commands-not-confirmed: commands on channels are not confirmed
    [channel/open/confirmed channel/confirmation/asked channel/summary/server/commit
    channel/summary/server/rollback scenarios/confirmations/asked]
channel-reply-with-another-tag: CHANNEL REPLY has another confirm-tag [channel/reply/confirm-tag]
channel-reply-names-another-channel: CHANNEL REPLY names another channel [channel/reply/channel]
ack-above-all-refused: an ACK with a number above all messages is refused [channel/ack/unknown-number]
dies-of-high-ids: after CHANNEL OPEN with one of the highest ids, the broker is gone for every client [ids/checked]
high-ids-refused: the highest ids of channels are refused [ids/checked]
ack-not-confirmed: ACK is not confirmed [channel/summary/server/ack]
commit-refused: COMMIT closes the channel
    [channel/open/transacted transactions/begin channel/summary/server/commit]
confirmed-before-it-is-done: COMMIT and ROLLBACK are confirmed and do nothing
    [channel/summary/server/commit channel/summary/server/rollback]
client-cannot-close-a-channel: a client that closes a channel is in error
    [channel/close/any-time channel/close/answered]
channel-close-not-answered: CHANNEL CLOSE is not answered
    [channel/close/answered channel/summary/server/close scenarios/errors/server-closes]
channel-close-names-another: the answer to CHANNEL CLOSE names another channel [channel/close/answered]
""")
