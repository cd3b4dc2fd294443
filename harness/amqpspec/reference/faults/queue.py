"""Faults of the queue class, of bindings to queues, and of the domains that several classes share.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

_DECLARING = (
    Fault(
        "unbound-queue-reached",
        ("queue/unattached", "queue/bind/unbound"),
        "a message that no binding fits goes to the queue that its key names",
    ),
    Fault("declare-creates-nothing", ("queue/declare",), "declare-ok is sent and no queue is made"),
    Fault("queue-redeclare-purges", ("queue/declare",), "declaring a queue again empties it"),
    Fault(
        "no-default-binding",
        ("queue/declare/default-binding", "exchange/default-exchange", "exchange/required-instances/direct"),
        "a new queue is not bound to the default exchange",
    ),
    Fault("two-hundred-queues-at-most", ("queue/declare/minimum-queues",), "no more queues after some 200"),
    Fault(
        "nameless-queue-refused",
        ("queue/declare/queue/default-name-empty", "queue/declare/queue/default-name-generated"),
        "a queue has to have a name",
    ),
    Fault(
        "generated-names-repeat",
        ("queue/declare/queue/default-name-generated",),
        "every generated queue name is the same",
    ),
    Fault(
        "declare-ok-without-name",
        ("queue/declare-ok/queue", "queue/declare/queue/default-name-generated"),
        "declare-ok repeats the name that was asked for, even a blank one",
    ),
    Fault("declare-ok-never-names", ("queue/declare-ok/queue",), "the name in declare-ok is blank"),
    Fault(
        "reserved-queue-not-redeclared",
        ("queue/declare/queue/reserved",),
        "a queue with a reserved name cannot be declared again by its owner",
    ),
    Fault(
        "colon-in-queue-name-refused", ("queue/declare/queue/syntax",), "a queue's name may not have a colon"
    ),
)
_COMPARING = (
    Fault("passive-declare-purges", ("queue/declare/passive/exists",), "a passive declare empties the queue"),
    Fault(
        "passive-declare-creates", ("queue/declare/passive/not-found",), "a passive declare creates the queue"
    ),
    Fault(
        "passive-no-wait-creates",
        ("queue/declare/passive/no-wait",),
        "a passive declare without reply creates the queue",
    ),
    Fault(
        "passive-no-wait-answered",
        ("queue/declare/passive/no-wait",),
        "a passive declare without reply gets one",
    ),
    Fault(
        "passive-queue-declare-compares",
        ("queue/declare/passive/ignored-fields",),
        "a passive declare compares the other fields",
    ),
    Fault(
        "same-queue-refused",
        ("queue/declare/passive/equivalent-match", "queue/declare"),
        "no queue can be declared again",
    ),
    Fault(
        "queue-durable-not-compared",
        ("queue/declare/passive/equivalent-check",),
        "a queue may be declared again as anything",
    ),
    Fault(
        "queue-arguments-not-compared",
        ("queue/declare/passive/equivalent-check",),
        "a queue may be declared again with other arguments",
    ),
    Fault(
        "queue-arguments-in-order",
        ("queue/declare/passive/equivalent-match",),
        "the same arguments in another order do not match",
    ),
    Fault(
        "queue-redeclare-takes-auto-delete",
        ("queue/declare/auto-delete/pre-existence",),
        "declaring a queue again changes its auto-delete flag",
    ),
)
_LASTING = (
    Fault(
        "durable-queue-lost",
        ("queue/declare/durable/restart", "queue/declare/durable/persistence"),
        "durable queues do not survive a restart",
    ),
    Fault(
        "transient-queue-survives",
        ("queue/declare/durable/restart",),
        "transient queues survive a restart",
    ),
    Fault("durable-queue-refused", ("queue/declare/durable/types",), "a queue cannot be durable"),
    Fault("transient-queue-refused", ("queue/declare/durable/types",), "a shared queue has to be durable"),
    Fault(
        "durable-binding-lost", ("queue/bind/durable-exchange",), "durable bindings do not survive a restart"
    ),
    Fault(
        "exclusive-queue-outlives-connection",
        (
            "wire/errors/connection-scope",
            "queue/declare/exclusive/lifetime",
        ),
        "an exclusive queue stays when its connection ends",
    ),
    Fault(
        "exclusive-queue-ends-with-channel",
        ("queue/declare/exclusive/lifetime",),
        "an exclusive queue goes with the channel on which it was made",
    ),
    Fault(
        "exclusive-queue-serves-one-channel",
        ("queue/declare/exclusive/lifetime",),
        "an exclusive queue is locked for other channels of its connection",
    ),
    Fault("every-queue-exclusive", ("queue/declare/exclusive/types",), "no queue is shared"),
    Fault(
        "auto-delete-queue-stays",
        ("queue/declare/auto-delete/last-consumer",),
        "an auto-delete queue stays when its last consumer goes",
    ),
    Fault(
        "auto-delete-after-first-consumer",
        ("queue/declare/auto-delete/last-consumer",),
        "an auto-delete queue goes with the first consumer that ends",
    ),
    Fault(
        "auto-delete-without-a-consumer-ever",
        ("queue/declare/auto-delete/never-consumed",),
        "an auto-delete queue goes although it never had a consumer",
    ),
)
_COUNTING = (
    Fault(
        "consumer-count-always-zero", ("queue/declare-ok/consumer-count",), "declare-ok counts no consumers"
    ),
    Fault(
        "consumer-count-includes-paused",
        ("queue/declare-ok/consumer-count",),
        "declare-ok counts consumers that flow has paused",
    ),
    Fault(
        "message-count-includes-unacked",
        ("domain/message-count",),
        "declare-ok counts messages that await an acknowledgement",
    ),
    Fault(
        "message-count-includes-uncommitted",
        ("domain/message-count",),
        "declare-ok counts messages that await a commit",
    ),
    Fault(
        "message-count-one-too-many",
        ("domain/message-count", "queue/declare-ok/consumer-count"),
        "declare-ok counts one message that is not there",
    ),
    Fault("purge-count-zero", ("queue/purge-ok/message-count",), "purge-ok counts nothing"),
    Fault("delete-count-zero", ("queue/delete-ok/message-count",), "delete-ok counts nothing"),
)
_BINDING = (
    Fault(
        "bind-does-nothing",
        (
            "wire/content/synchronisation",
            "queue/bind/unbound",
            "queue/bind/transient-exchange",
            "queue/bind/binding-count",
        ),
        "queue.bind is confirmed and not done",
    ),
    Fault(
        "duplicate-bindings-kept",
        ("queue/bind/duplicates", "exchange/bind/duplicates"),
        "a binding made twice has to be undone twice",
    ),
    Fault("duplicate-binding-refused", ("queue/bind/duplicates",), "a binding cannot be made twice"),
    Fault(
        "delivered-once-per-binding",
        ("queue/bind/unique", "exchange/bind/unique"),
        "a queue gets a message once for each binding that matches",
    ),
    Fault(
        "transient-exchange-not-bound-to",
        ("queue/bind/transient-exchange",),
        "a durable queue cannot be bound to a transient exchange",
    ),
    Fault(
        "blank-key-stays-blank",
        ("queue/bind/routing-key/empty",),
        "blank queue and key do not mean the name of the current queue",
    ),
    Fault(
        "blank-key-means-any-queue",
        ("queue/bind/routing-key/empty",),
        "a blank key means the queue's name even where the queue was named",
    ),
    Fault(
        "unbind-does-nothing",
        ("wire/content/synchronisation", "queue/unattached", "queue/bind/duplicates"),
        "queue.unbind is confirmed and not done",
    ),
    Fault("failed-unbind-confirmed", ("queue/unbind/failure",), "unbinding a missing queue is confirmed"),
)
_ENDING = (
    Fault(
        "purge-does-nothing",
        (
            "wire/content/synchronisation",
            "queue/purge",
        ),
        "purge counts the messages and keeps them",
    ),
    Fault(
        "purge-drops-unacked",
        ("queue/purge/unacknowledged",),
        "purge drops messages that await an acknowledgement",
    ),
    Fault(
        "queue-delete-does-nothing",
        (
            "wire/channels/visibility",
            "queue/delete",
        ),
        "queue.delete is confirmed and not done",
    ),
    Fault(
        "if-unused-always-refused", ("queue/delete/if-unused/in-use",), "if-unused refuses unused queues too"
    ),
    Fault(
        "if-empty-counts-consumers",
        ("queue/delete/if-empty/not-empty",),
        "a consumer makes a queue not empty",
    ),
    Fault("dead-letters-dropped", ("basic/deliver/poison",), "dead messages go nowhere"),
)
_DOMAINS = (
    Fault("consumer-tags-of-connection", ("domain/consumer-tag",), "a tag serves one channel at a time"),
    Fault(
        "cancel-on-every-channel", ("domain/consumer-tag",), "cancel ends the tag on other channels as well"
    ),
    Fault(
        "delivery-tags-of-connection",
        ("domain/delivery-tag/channel-local",),
        "a tag of another channel is taken for one of this",
    ),
    Fault("no-local-blocks-all", ("domain/no-local",), "a no-local consumer gets nothing at all"),
    Fault(
        "no-wait-failure-swallowed",
        ("domain/no-wait", "queue/declare/no-wait"),
        "a method without reply that fails is passed over",
    ),
    Fault(
        "current-queue-forgotten",
        ("domain/queue-name/current",),
        "a blank queue name does not mean the last queue declared",
    ),
)
FAULTS: tuple[Fault, ...] = (
    *_DECLARING, *_COMPARING, *_LASTING, *_COUNTING, *_BINDING, *_ENDING, *_DOMAINS,
)  # fmt: skip
