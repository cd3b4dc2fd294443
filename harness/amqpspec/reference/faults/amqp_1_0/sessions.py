"""Faults of sessions.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "begin-not-answered",
        ("sessions/begin/answer", "sessions/states/begin-sent"),
        "a begin is not answered",
    ),
    Fault(
        "begin-answered-without-remote-channel",
        ("sessions/begin/remote-channel-set", "performatives/begin/remote-channel/answer"),
        "the answer to begin has no remote-channel",
    ),
    Fault(
        "remote-channel-of-begin-is-own",
        ("performatives/begin/remote-channel/answer", "connections/channels/by-direction"),
        "the answer to begin names another channel",
    ),
    Fault(
        "unasked-begin-with-remote-channel",
        ("sessions/begin/remote-channel-empty", "performatives/begin/remote-channel/unset"),
        "the broker begins a session of its own that names a remote channel",
    ),
    Fault(
        "begin-without-window",
        ("performatives/begin/mandatory",),
        "the broker's begin lacks the incoming-window",
    ),
    Fault(
        "highest-channel-taken",
        ("sessions/begin/lowest-channel",),
        "sessions get the highest channel that is free",
    ),
    Fault(
        "own-channel-used-twice",
        ("sessions/begin/unused-channel", "sessions/begin/answer", "model/many-sessions"),
        "all sessions of the broker have channel 0",
    ),
    Fault(
        "flow-before-begin",
        ("sessions/states/begin-rcvd", "performatives/flow/next-incoming-id/unset"),
        "the broker sends a flow before its begin",
    ),
    Fault(
        "pipelined-session-frames-lost",
        (
            "sessions/states/begin-sent",
            "connections/pipelined/frames-before-answer",
            "performatives/flow/next-incoming-id/unset",
        ),
        "frames that come in one read with their begin are thrown away",
    ),
    Fault(
        "begin-beside-failed-session-refused",
        ("sessions/begin/answer",),
        "while a session that failed waits for its end, none can be begun",
    ),
    Fault("end-not-answered", ("sessions/end/handshake",), "an end is not answered"),
    Fault(
        "end-answered-with-error",
        ("sessions/end/handshake",),
        "an end is answered by an end with an error",
    ),
    Fault(
        "frames-after-end",
        ("sessions/states/end-rcvd", "sessions/states/end-sent"),
        "a flow follows the broker's end",
    ),
    Fault(
        "crossing-end-answered",
        ("sessions/simultaneous-end",),
        "an end that crosses the broker's is answered by another one",
    ),
    Fault(
        "ended-channel-stays-mapped",
        ("sessions/simultaneous-end", "sessions/end/handshake", "sessions/errors/discard"),
        "the channel of a session that has ended cannot be used again",
    ),
    Fault(
        "session-works-on-after-end",
        ("sessions/errors/discard", "sessions/states/discarding"),
        "after its end for an error, the broker goes on to work",
    ),
    Fault(
        "discarded-frames-answered",
        ("sessions/states/discarding", "sessions/errors/discard"),
        "frames that come after an end for an error are errors again",
    ),
    Fault("end-without-description", ("performatives/end/error",), "the error of an end has no description"),
    Fault(
        "unsettled-lost-with-session",
        ("sessions/end/with-connection",),
        "what is unsettled when a session ends is lost",
    ),
    Fault(
        "incoming-window-of-partner-ignored",
        (
            "sessions/flow/incoming-window",
            "sessions/flow/remote-incoming-window",
            "sessions/flow/window-formula",
        ),
        "the broker sends beyond the partner's window",
    ),
    Fault(
        "window-without-the-formula",
        ("sessions/flow/remote-incoming-window", "sessions/flow/window-formula"),
        "the partner's window is taken as it stands in its flow",
    ),
    Fault(
        "unset-next-incoming-id-is-now",
        ("sessions/flow/window-without-next-incoming-id", "performatives/flow/next-incoming-id/unset"),
        "without next-incoming-id, the partner's window counts from now",
    ),
    Fault(
        "next-incoming-id-counted-from-zero",
        ("sessions/flow/initial-outgoing-id", "sessions/flow/outgoing-id-arithmetic"),
        "next-incoming-id begins at zero",
    ),
    Fault(
        "next-incoming-id-stands-still",
        ("sessions/flow/next-incoming-id",),
        "next-incoming-id does not move",
    ),
    Fault(
        "next-outgoing-id-stands-still",
        ("sessions/flow/outgoing-id-arithmetic",),
        "next-outgoing-id does not move",
    ),
    Fault(
        "ids-wrap-to-one",
        ("sessions/flow/outgoing-id-arithmetic", "definitions/sequence-no/arithmetic"),
        "serial numbers leave out zero",
    ),
    Fault(
        "outgoing-window-counts-down",
        ("sessions/flow/outgoing-window-policy",),
        "each transfer sent takes one off the outgoing window",
    ),
    Fault(
        "incoming-window-never-told-smaller",
        ("sessions/flow/incoming-window-policy",),
        "flows tell the whole incoming window, always",
    ),
    Fault(
        "windows-never-renewed",
        ("definitions/condition/window-violation", "sessions/states/mapped"),
        "windows and credit are not renewed",
    ),
    Fault(
        "sessions-receive-only",
        ("sessions/states/mapped",),
        "nothing is sent on a session that has received a transfer",
    ),
    Fault(
        "flow-without-outgoing-window",
        ("performatives/flow/mandatory",),
        "the broker's flows lack the outgoing-window",
    ),
    Fault(
        "flow-without-next-incoming-id",
        ("performatives/flow/next-incoming-id/set",),
        "the broker's flows lack next-incoming-id",
    ),
    Fault(
        "delivery-count-without-handle",
        ("performatives/flow/delivery-count/without-handle",),
        "flows for the session have a delivery-count",
    ),
    Fault(
        "link-credit-without-handle",
        ("performatives/flow/link-credit/without-handle",),
        "flows for the session have a link-credit",
    ),
    Fault(
        "available-without-handle",
        ("performatives/flow/available/without-handle",),
        "flows for the session have available",
    ),
    Fault(
        "drain-without-handle",
        ("performatives/flow/drain/without-handle",),
        "flows for the session have drain",
    ),
    Fault(
        "properties-without-handle",
        ("performatives/flow/properties/without-handle",),
        "flows for the session have properties",
    ),
    Fault(
        "session-flow-resets-credit",
        ("performatives/flow/handle/session-only",),
        "a flow for the session sets the credit of its links to zero",
    ),
    Fault(
        "echo-not-answered",
        ("performatives/flow/echo/answered", "links/stopping/echo"),
        "a flow that asks for an answer gets none",
    ),
    Fault(
        "echo-on-link-answered-for-session",
        ("performatives/flow/echo/answered", "links/stopping/echo", "performatives/flow/link-credit/sender"),
        "a flow of a link that asks for an answer gets one for the session",
    ),
    Fault(
        "session-echo-answered-by-a-link",
        ("performatives/flow/echo/link-answer",),
        "a flow of the session that asks for an answer gets one of a link",
    ),
    Fault(
        "echo-answered-twice",
        ("performatives/flow/echo/one-answer",),
        "a flow that asks for an answer gets two",
    ),
    Fault("echo-echoed", ("performatives/flow/echo/no-loop",), "the broker's flows ask for an answer"),
    Fault(
        "delivery-ids-by-twos",
        ("sessions/delivery-sequence", "links/delivery-ids-per-session"),
        "delivery-ids grow by two",
    ),
    Fault(
        "delivery-ids-counted-by-link",
        ("sessions/delivery-sequence", "links/delivery-ids-per-session"),
        "each link counts delivery-ids for itself",
    ),
    Fault(
        "delivery-ids-of-a-link-have-to-follow",
        ("sessions/delivery-sequence",),
        "the deliveries on a link have to have numbers without gaps",
    ),
    Fault(
        "delivery-ids-counted-by-connection",
        ("links/delivery-ids-per-session",),
        "sessions of a connection share one count of delivery-ids",
    ),
)
