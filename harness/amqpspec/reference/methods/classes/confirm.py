"""The confirm class: select.

Knows: that a channel is either transacted or confirming. Must not know: how confirms are sent.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call


@handles("confirm.select")
def select(channel: Channel, call: Call) -> None:
    """From now on, published messages are numbered and acknowledged."""
    if channel.transaction is not None:
        channel.refuse("confirm/select/transacted", "the channel is transacted")
    channel.confirming = True
    if channel.faulty("confirm-select-restarts-count"):
        channel.published = channel.confirmed = 0
    channel.reply(call, "confirm.select-ok")


FAULTS = fault_table("""
confirm-select-restarts-count: a second select restarts the count [confirm/sequence]
""")
