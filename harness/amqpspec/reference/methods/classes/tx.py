"""The tx class: select, commit, rollback.

Knows: that work waits until commit, and that rollback gives acknowledgements back without redelivering.
Must not know: what the work is.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel, Transaction
from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call


@handles("tx.select")
def select(channel: Channel, call: Call) -> None:
    """From now on, publishes and acknowledgements wait."""
    if channel.transaction is None:
        channel.transaction = Transaction()
    channel.send("tx.select-ok")


@handles("tx.commit")
def commit(channel: Channel, call: Call) -> None:
    """Do what waits."""
    if channel.transaction is None:
        channel.refuse("tx/commit/transacted", "the channel is not transacted")
    elif not channel.faulty("commit-does-nothing"):
        work = channel.transaction.take()
        for action in work[:-1] if channel.faulty("commit-in-part") else work:
            action()
        if channel.faulty("transaction-ends-with-commit"):
            channel.transaction = None
    channel.send("tx.commit-ok")


@handles("tx.rollback")
def rollback(channel: Channel, call: Call) -> None:
    """Forget what waits."""
    if channel.transaction is None:
        channel.refuse("tx/rollback/transacted", "the channel is not transacted")
    elif channel.faulty("rollback-commits"):
        for action in channel.transaction.take():
            action()
    else:
        channel.transaction.take()
        # Acknowledgements are undone, deliveries are not: the client still has the messages and may settle them again.
        channel.deliveries.give_back()
        if channel.faulty("rollback-redelivers"):
            channel.give_back(list(channel.deliveries.outstanding.values()))
    channel.send("tx.rollback-ok")


FAULTS = fault_table("""
commit-does-nothing: commit is confirmed and not done [tx/commit]
commit-in-part: commit leaves out the last thing that was done [tx/atomic]
transaction-ends-with-commit: no new transaction begins after a commit [tx/commit tx/select]
rollback-commits: rollback commits [tx/rollback]
rollback-redelivers: rollback puts unacknowledged messages back into their queues [tx/rollback/no-redelivery]
""")
