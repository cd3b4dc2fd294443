"""Faults of confirm."""

from amqpspec.reference.faults.fault import Fault

_EVERY = ("confirm/every-message", "confirm/all-messages-acknowledged")

FAULTS: tuple[Fault, ...] = (
    Fault(
        "confirms-never-sent",
        (*_EVERY, "confirm/sequence", "confirm/all-queues", "confirm/unroutable-messages"),
        "nothing is confirmed",
    ),
    Fault("unrouted-never-confirmed", _EVERY, "a message that reached no queue is not confirmed"),
    Fault(
        "confirm-multiple-not-set",
        ("confirm/all-messages-acknowledged", "confirm/every-message"),
        "several messages are confirmed by the number of the last one alone",
    ),
    Fault("confirmed-twice", ("confirm/all-messages-acknowledged",), "each confirmation is sent twice"),
    Fault("confirms-start-at-zero", ("confirm/sequence",), "the first message has the number 0"),
    Fault("confirms-counted-from-open", ("confirm/sequence",), "messages before select are counted"),
    Fault("confirm-select-restarts-count", ("confirm/sequence",), "a second select begins the count anew"),
    Fault("confirm-count-shared-by-channels", ("confirm/sequence",), "all channels share one count"),
    Fault(
        "confirm-before-enqueue", ("confirm/all-queues",), "a message is confirmed before it is in its queues"
    ),
    Fault(
        "confirm-before-return",
        ("confirm/unroutable-messages",),
        "a message that cannot be routed is confirmed before it is returned",
    ),
)
