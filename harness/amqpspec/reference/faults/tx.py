"""Faults of the tx class.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "publish-visible-before-commit",
        (
            "tx/atomic",
            "tx/rollback",
            "basic/publish/transaction",
        ),
        "a transacted publish is seen at once",
    ),
    Fault(
        "ack-applied-before-commit",
        (
            "tx/rollback",
            "tx/atomic",
        ),
        "a transacted acknowledgement holds at once",
    ),
    Fault("commit-does-nothing", ("tx/commit",), "commit is confirmed and not done"),
    Fault("commit-in-part", ("tx/atomic",), "commit leaves out the last thing that was done"),
    Fault(
        "transaction-ends-with-commit", ("tx/commit", "tx/select"), "no new transaction begins after a commit"
    ),
    Fault("rollback-commits", ("tx/rollback",), "rollback commits"),
    Fault(
        "rollback-redelivers",
        ("tx/rollback/no-redelivery",),
        "rollback puts unacknowledged messages back into their queues",
    ),
)
