"""The commands on channels (20 to 29): opening, acknowledging, transactions, closing.

Knows: codes, fields in order, who sends what, what answers it. Must not know: what happens to a channel.

The summary for servers confirms CHANNEL ACK by HANDLE REPLY, which needs a handle that ACK does not name; as a command
on a channel it is confirmed by CHANNEL REPLY. Both are written, so both are answers.
"""

from __future__ import annotations

from amqpspec.spec.amqp_fast_0_8.connection import CONFIRM, OPTIONS, REPLY
from amqpspec.spec.commands import Command, CommandField
from amqpspec.spec.model import Side

CHANNEL = CommandField("channel-id", "short", at_least=1)
MESSAGE_NBR = CommandField("message-nbr", "long")

COMMANDS = (
    Command(
        "channel.open",
        20,
        Side.CLIENT,
        (
            CHANNEL,
            CONFIRM,
            CommandField("transacted", "bit"),
            CommandField("restartable", "bit"),
            OPTIONS,
            CommandField("out-of-band", "shortstr"),
        ),
    ),
    Command("channel.ack", 21, Side.CLIENT, (CHANNEL, CONFIRM, MESSAGE_NBR), answers=("handle.reply",)),
    Command("channel.commit", 22, Side.CLIENT, (CHANNEL, CONFIRM, OPTIONS)),
    Command("channel.rollback", 23, Side.CLIENT, (CHANNEL, CONFIRM, OPTIONS)),
    Command("channel.reply", 28, Side.SERVER, (CHANNEL, CONFIRM, *REPLY)),
    Command("channel.close", 29, Side.BOTH, (CHANNEL, *REPLY), answers=("channel.close",)),
)
