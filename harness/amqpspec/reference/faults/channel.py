"""Faults of the channel class: flow and close.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "channel-starts-paused",
        ("channel/flow/initial-state",),
        "a new channel delivers nothing until flow starts it",
    ),
    Fault(
        "flow-ignored",
        (
            "channel/flow/active",
            "channel/flow/initial-state-paused",
        ),
        "deliveries go on although flow stopped them",
    ),
    Fault(
        "flow-never-resumes", ("channel/flow/active",), "what waited is not delivered when flow starts again"
    ),
    Fault(
        "flow-not-confirmed",
        (
            "channel/flow/bidirectional",
            "channel/flow-ok",
        ),
        "flow is not answered",
    ),
    Fault("flow-ok-inverted", ("channel/flow-ok",), "flow-ok says the opposite of flow"),
    Fault(
        "flow-stops-whole-connection",
        ("channel/flow/active",),
        "flow pauses and resumes every channel of the connection",
    ),
    Fault(
        "flow-answered-after-the-contents",
        ("channel/flow/bidirectional",),
        "flow is answered once there is nothing left to deliver",
    ),
    Fault("flow-stops-get", ("channel/flow/get",), "get finds nothing on a paused channel"),
    Fault(
        "channel-works-on-after-close",
        ("channel/close/stability-discard",),
        "methods are executed after channel.close was sent",
    ),
    Fault(
        "crossing-channel-close-ignored",
        ("channel/close/stability-crossing",),
        "a close that crosses the server's own is not answered",
    ),
    Fault("channel-close-not-confirmed", ("channel/close-ok",), "channel.close is not answered"),
    Fault(
        "closed-channel-number-stays-taken",
        ("channel/grammar", "channel/close-ok"),
        "the number of a closed channel cannot be opened again",
    ),
    Fault(
        "unacked-lost-with-channel",
        (
            "wire/channels/closure",
            "basic/explicit-ack",
            "domain/redelivered/implementation-flag",
        ),
        "unacknowledged messages vanish with their channel",
    ),
)
