"""Faults of the basic class: order, windows, consumers, acknowledgements.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "no-wait-answered",
        (
            "domain/no-wait",
            "queue/declare/no-wait",
            "exchange/no-wait",
        ),
        "a method with no-wait is answered",
    ),
    Fault(
        "persistent-message-lost",
        (
            "basic/persistence/respected",
            "basic/persistence/storage",
            "confirm/all-queues",
        ),
        "persistent messages do not survive a restart",
    ),
    Fault(
        "priority-ignored",
        (
            "basic/priority/two-levels",
            "basic/priority/ten-levels",
        ),
        "priorities mean nothing",
    ),
    Fault("priority-five-is-low", ("basic/priority/two-levels",), "priority 5 counts as low"),
    Fault("low-priority-first", ("basic/priority/two-levels",), "low priorities go first"),
    Fault(
        "persistent-overtakes-transient",
        ("basic/priority/order",),
        "persistent messages overtake transient ones",
    ),
    Fault(
        "last-in-first-out",
        (
            "basic/priority/order",
            "wire/content/ordering",
        ),
        "the last message of a queue goes first",
    ),
    Fault(
        "no-ack-waits-for-ack",
        (
            "basic/no-ack",
            "domain/no-ack",
        ),
        "a message delivered without acknowledgement stays in the queue's books",
    ),
    Fault(
        "acked-message-kept",
        (
            "basic/explicit-ack",
            "basic/ack/multiple",
            "basic/get-ok",
        ),
        "an acknowledged message goes back to its queue",
    ),
    Fault(
        "prefetch-ignored",
        (
            "basic/qos/prefetch-count",
            "basic/qos/prefetch-count/no-more",
        ),
        "prefetch limits nothing",
    ),
    Fault(
        "prefetch-one-too-many",
        ("basic/qos/prefetch-count/no-more",),
        "one message more is sent than prefetch-count allows",
    ),
    Fault("prefetch-size-ignored", ("basic/qos/prefetch-size",), "prefetch-size limits nothing"),
    Fault(
        "prefetch-size-limits-first",
        ("basic/qos/prefetch-size/single-message",),
        "a message larger than prefetch-size is never sent",
    ),
    Fault(
        "prefetch-limits-no-ack",
        (
            "basic/qos/prefetch-size",
            "basic/qos/prefetch-count",
        ),
        "prefetch limits consumers that do not acknowledge",
    ),
    Fault(
        "window-never-reopens",
        ("basic/qos/prefetch-count",),
        "an acknowledgement makes no room in the window",
    ),
    Fault(
        "prefetch-one-too-few", ("basic/qos/prefetch-count/less",), "one message less is sent than allowed"
    ),
    Fault(
        "zero-octets-is-a-limit",
        ("basic/qos/prefetch-size",),
        "a prefetch-size of zero next to a prefetch-count lets nothing go ahead",
    ),
    Fault("prefetch-counted-by-consumer", ("basic/qos/global",), "each consumer has a window of its own"),
    Fault("qos-always-global", ("basic/qos/global",), "qos is for the whole connection, whatever was asked"),
    Fault(
        "qos-without-effect-on-consumers",
        ("basic/qos-ok",),
        "qos changes nothing where consumers are at work",
    ),
    Fault("qos-global-means-channel", ("basic/qos/global",), "qos with global set is for one channel"),
    Fault("global-prefetch-ignored", ("basic/qos/global",), "the window of the connection limits nothing"),
    Fault(
        "deliveries-before-consume-ok",
        ("wire/content/synchronisation",),
        "a consumer is served before it is confirmed",
    ),
    Fault(
        "generated-tags-repeat",
        ("basic/consume/consumer-tag/generated",),
        "every generated consumer tag is the same",
    ),
    Fault("consumer-ends-with-first-message", ("basic/consume",), "a consumer gets one message and no more"),
    Fault(
        "consumer-outlives-channel", ("basic/consume",), "a consumer stays in line when its channel is closed"
    ),
    Fault(
        "fifteen-consumers-at-most", ("basic/consume/minimum-consumers",), "a sixteenth consumer is refused"
    ),
    Fault(
        "exclusive-access-never-ends",
        ("basic/consume/exclusive/alone",),
        "an exclusive consumer keeps others away after it was cancelled",
    ),
    Fault(
        "no-local-ignored", ("domain/no-local",), "a no-local consumer gets what its own connection published"
    ),
    Fault(
        "cancelled-consumer-goes-on",
        (
            "wire/content/synchronisation",
            "basic/cancel",
        ),
        "a cancelled consumer is served on",
    ),
    Fault("cancel-requeues-unacked", ("basic/cancel",), "cancel takes delivered messages away again"),
    Fault(
        "cancel-after-queue-is-gone-refused",
        ("basic/cancel/queue-gone",),
        "cancelling a consumer whose queue is gone is refused",
    ),
    Fault(
        "cancel-not-notified",
        ("basic/cancel/by-server",),
        "a client that wants to hear of cancelled consumers does not",
    ),
    Fault(
        "mandatory-ignored",
        (
            "basic/publish/mandatory/return",
            "basic/publish/mandatory/implemented",
            "constant/no-route",
        ),
        "an unroutable mandatory message is dropped",
    ),
    Fault(
        "immediate-ignored",
        (
            "basic/publish/immediate/return",
            "basic/publish/immediate/implemented",
            "constant/no-consumers",
        ),
        "an immediate message waits for a consumer",
    ),
    Fault(
        "everything-unroutable-returned",
        ("basic/publish/mandatory/return",),
        "an unroutable message is returned although it is not mandatory",
    ),
    Fault(
        "immediate-always-meant",
        ("basic/publish/immediate/return",),
        "a message that no consumer is ready for is returned although it is not immediate",
    ),
    Fault(
        "delivered-message-returned",
        (
            "basic/publish/mandatory/return",
            "basic/publish/immediate/return",
        ),
        "a mandatory or immediate message is returned although it found its queue",
    ),
    Fault(
        "return-code-wrong",
        (
            "basic/return",
            "constant/no-route",
            "constant/no-consumers",
        ),
        "a message is returned with another code",
    ),
    Fault(
        "origin-forgotten",
        (
            "basic/deliver/origin",
            "basic/return",
        ),
        "a message does not say its exchange and key",
    ),
    Fault(
        "deliver-names-another-consumer",
        (
            "basic/consume",
            "basic/consume/consumer-tag/generated",
        ),
        "a delivery names another consumer of the channel",
    ),
    Fault(
        "redelivered-never-set",
        (
            "domain/redelivered/implementation-flag",
            "basic/recover/redelivered",
            "basic/recover-async/redelivered",
        ),
        "redelivered is never set",
    ),
    Fault("redelivered-always-set", ("domain/redelivered/implementation-flag",), "redelivered is always set"),
    Fault(
        "redelivered-forgotten-on-requeue",
        ("domain/redelivered/implementation-flag",),
        "a message that went back to its queue counts as new",
    ),
    Fault(
        "deliveries-not-counted",
        (
            "basic/deliver/count",
            "basic/deliver/poison",
        ),
        "a message may come back without end",
    ),
    Fault(
        "get-ok-counts-itself",
        (
            "basic/get-ok",
            "domain/message-count",
        ),
        "get-ok counts its own message as still waiting",
    ),
    Fault("get-empty-not-said", ("basic/get-empty",), "get on an empty queue is not answered"),
    Fault("delivery-tags-start-at-zero", ("domain/delivery-tag/non-zero",), "the first delivery tag is zero"),
    Fault(
        "delivery-tags-repeat",
        ("basic/ack/multiple",),
        "delivery tags stand still after 2",
    ),
    Fault(
        "multiple-leaves-last",
        (
            "basic/ack/multiple",
            "basic/nack/multiple",
        ),
        "multiple leaves the message that it names",
    ),
    Fault(
        "multiple-takes-one-more",
        (
            "basic/ack/multiple",
            "basic/nack/multiple",
        ),
        "multiple takes the message after the one that it names",
    ),
    Fault(
        "multiple-means-one",
        (
            "basic/ack/multiple",
            "basic/nack/multiple",
        ),
        "multiple is not understood",
    ),
    Fault(
        "multiple-always-meant",
        (
            "basic/ack/multiple",
            "basic/nack/multiple",
        ),
        "a single message cannot be meant",
    ),
    Fault(
        "tag-zero-means-none",
        (
            "basic/ack/multiple",
            "basic/nack/multiple",
        ),
        "multiple with the tag zero does nothing",
    ),
    Fault(
        "deaf-while-sending",
        (
            "basic/reject/while-sending",
            "basic/nack/while-sending",
        ),
        "nothing is read while what is sent is stuck",
    ),
    Fault(
        "rejected-goes-back-to-rejecter",
        (
            "basic/reject/requeue/same-channel",
            "basic/nack/requeue/same-channel",
            "basic/reject/requeue/alternative",
            "basic/nack/requeue/alternative",
        ),
        "a rejected message goes to the channel that rejected it",
    ),
    Fault(
        "requeue-flag-ignored",
        (
            "basic/reject/requeue/flag",
            "basic/nack/requeue/flag",
        ),
        "a message rejected for requeuing is discarded",
    ),
    Fault(
        "discard-requeues",
        (
            "basic/reject/requeue/flag",
            "basic/nack/requeue/flag",
        ),
        "a message rejected for good is requeued",
    ),
    Fault(
        "recover-does-nothing",
        (
            "basic/recover/redelivered",
            "basic/recover-async",
            "basic/recover-async/requeue",
        ),
        "recover brings nothing back",
    ),
    Fault(
        "recover-always-requeues",
        (
            "basic/recover-async/requeue",
            "domain/redelivered/implementation-recipient",
        ),
        "recover without requeue does not go back to the same consumer",
    ),
    Fault(
        "recover-forgets-redelivered",
        (
            "basic/recover/redelivered",
            "basic/recover-async/redelivered",
        ),
        "recovered messages are not marked as redelivered",
    ),
    Fault("recover-not-confirmed", ("basic/recover-ok",), "recover is not answered"),
    Fault(
        "recover-ok-after-messages",
        ("wire/content/synchronisation",),
        "recover is answered after the messages that it brings back",
    ),
)
