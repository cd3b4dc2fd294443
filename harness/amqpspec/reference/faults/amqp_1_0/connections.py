"""Faults of connections.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "begin-before-open",
        (
            "connections/opening/open-first",
            "performatives/open/first-frame",
            "connections/states/legal-frames",
        ),
        "the broker sends a begin before its open",
    ),
    Fault(
        "open-on-channel-one",
        ("connections/opening/channel-zero", "connections/opening/limits-before"),
        "the broker's open goes out on channel 1",
    ),
    Fault(
        "open-too-long",
        ("connections/opening/limits-before", "connections/pipelined/within-limits"),
        "the broker's open has more than 512 octets",
    ),
    Fault(
        "open-without-container-id",
        ("performatives/open/mandatory",),
        "the broker's open lacks the container-id",
    ),
    Fault(
        "max-frame-size-below-minimum-announced",
        (
            "definitions/min-max-frame-size/lower-bound",
            "definitions/min-max-frame-size/agreed",
            "performatives/open/max-frame-size/minimum",
        ),
        "the broker announces a max-frame-size of 256",
    ),
    Fault(
        "small-frames-refused",
        ("performatives/open/max-frame-size/minimum", "definitions/min-max-frame-size/agreed"),
        "frames above 256 octets are too large",
    ),
    Fault(
        "max-frame-size-of-partner-ignored",
        (
            "performatives/open/max-frame-size/respected",
            "connections/opening/limits-after",
            "definitions/min-max-frame-size/agreed",
        ),
        "frames are as large as the broker itself takes them",
    ),
    Fault(
        "frames-one-octet-too-long",
        ("performatives/open/max-frame-size/respected", "connections/opening/limits-after"),
        "frames may be one octet larger than the partner takes",
    ),
    Fault(
        "unset-max-frame-size-is-the-least",
        ("performatives/open/max-frame-size/unset",),
        "without max-frame-size, the broker sends frames of 512 octets and takes messages of one frame",
    ),
    Fault(
        "channel-max-of-partner-ignored",
        ("performatives/open/channel-max/respected", "connections/opening/limits-after"),
        "sessions get channels beyond the partner's channel-max",
    ),
    Fault(
        "channel-max-counted-from-one",
        ("performatives/open/channel-max/sessions", "connections/opening/limits-after"),
        "the highest channel is refused",
    ),
    Fault(
        "first-session-only",
        (
            "model/many-sessions",
            "performatives/open/channel-max/sessions",
            "connections/channels/by-direction",
        ),
        "a second session on a connection is refused",
    ),
    Fault(
        "incoming-channel-sought-by-outgoing",
        ("connections/channels/by-direction", "connections/channels/mapping"),
        "frames are sorted by the broker's own channel numbers",
    ),
    Fault(
        "frames-go-to-the-first-session",
        ("connections/channels/mapping",),
        "every frame goes to the session that was begun first",
    ),
    Fault(
        "answers-in-reverse",
        ("model/channels-order",),
        "what gathers for the socket is written last frame first",
    ),
    Fault(
        "pipelined-frames-lost",
        (
            "connections/pipelined/desirable",
            "connections/pipelined/frames-before-answer",
            "connections/pipelined/same-treatment",
            "sessions/states/begin-sent",
        ),
        "what comes in one read with open is thrown away",
    ),
    Fault(
        "split-frames-lost",
        ("connections/pipelined/same-treatment",),
        "a frame that comes in pieces is thrown away",
    ),
    Fault(
        "hostname-demanded",
        ("performatives/open/hostname/default",),
        "an open without hostname is refused",
    ),
    Fault(
        "locales-must-be-given",
        ("performatives/open/outgoing-locales/none",),
        "an open without locales is refused",
    ),
    Fault(
        "properties-with-string-keys",
        ("definitions/fields/symbol-keys",),
        "the keys of the broker's properties are strings",
    ),
    Fault(
        "close-not-answered",
        ("performatives/close/written", "connections/closing/close-frame", "connections/closing/any-channel"),
        "a close is answered by the end of the stream alone",
    ),
    Fault(
        "close-off-channel-zero-ignored",
        ("connections/closing/any-channel",),
        "a close on another channel than 0 is not heard",
    ),
    Fault(
        "pipelined-close-lost",
        ("connections/closing/pipelined-with-open",),
        "a close that comes in one read with open is not heard",
    ),
    Fault(
        "close-on-highest-channel",
        ("connections/closing/channel-zero", "connections/closing/pipelined-with-open"),
        "the broker's close goes out on a channel of its own",
    ),
    Fault(
        "close-sent-twice",
        ("connections/simultaneous-close", "connections/states/end", "connections/closing/last-thing"),
        "a close that crosses the broker's is answered by another one",
    ),
    Fault(
        "errors-end-the-socket-bare",
        ("connections/closing/close-frame",),
        "where a connection is in error, the stream ends without close",
    ),
    Fault(
        "half-close-ends-the-socket-bare",
        ("connections/closing/close-frame",),
        "where the partner ends its stream, the broker does so without close",
    ),
    Fault(
        "connection-works-on-after-close",
        (
            "connections/states/discarding",
            "connections/states/close-sent",
            "connections/closing/last-thing",
            "connections/simultaneous-close",
            "connections/closing/read-on",
        ),
        "after its close for an error, the broker goes on to work",
    ),
    Fault(
        "frame-behind-close",
        (
            "connections/closing/last-thing",
            "connections/states/end",
            "connections/states/close-sent",
            "performatives/close/nothing-after",
        ),
        "the broker sends an end behind its close",
    ),
    Fault(
        "empty-frame-behind-close",
        (
            "performatives/close/nothing-after",
            "connections/closing/last-thing",
            "connections/states/end",
            "connections/empty-frame/not-after-close",
            "connections/states/close-sent",
        ),
        "an empty frame follows the broker's close",
    ),
    Fault(
        "empty-frames-after-close",
        (
            "connections/empty-frame/not-after-close",
            "connections/states/close-sent",
            "connections/states/discarding",
        ),
        "empty frames go on while the broker waits for the other close",
    ),
    Fault(
        "every-breach-closes-again",
        ("connections/states/discarding",),
        "a breach behind the broker's close is answered by another close",
    ),
    Fault(
        "deaf-after-close",
        ("connections/closing/read-on", "connections/simultaneous-close", "connections/states/discarding"),
        "after its close for an error, the broker does not look for the other one",
    ),
    Fault(
        "no-waiting-for-the-other-close",
        ("connections/closing/read-on", "connections/states/discarding"),
        "after its close for an error, the broker resets the connection",
    ),
    Fault(
        "waits-for-close-for-ever",
        ("connections/closing/timeout", "connections/idle-timeout/unresponsive"),
        "who does not answer the broker's close is kept for ever",
    ),
    Fault(
        "socket-kept-after-close",
        ("connections/states/end", "performatives/close/written", "connections/simultaneous-close"),
        "once both closes are out, the stream does not end",
    ),
    Fault(
        "errors-without-error",
        (
            "definitions/error/condition",
            "links/errors/detach-with-error",
            "sessions/errors/end",
            "connections/closing/close-frame",
            "links/establishing/refused-detach",
        ),
        "detach, end and close carry no error",
    ),
    Fault(
        "bare-errors-refused",
        ("definitions/error/condition",),
        "an error of the partner without description closes the connection",
    ),
    Fault("condition-as-string", ("definitions/error/condition",), "the condition of an error is a string"),
    Fault(
        "close-without-description",
        ("performatives/close/error",),
        "the error of a close has no description",
    ),
    Fault(
        "idle-threshold-not-doubled",
        ("connections/idle-timeout/half",),
        "what the broker announces is its whole threshold",
    ),
    Fault(
        "idle-timer-counts-from-open",
        ("connections/idle-timeout/measure", "connections/idle-timeout/flow", "framing/empty-frame"),
        "the idle timer is never set back",
    ),
    Fault(
        "only-empty-frames-are-life",
        ("connections/idle-timeout/flow", "connections/idle-timeout/measure"),
        "flows do not stop the idle timer",
    ),
    Fault(
        "idle-timeout-of-partner-ignored",
        (
            "performatives/open/idle-time-out/required",
            "connections/idle-timeout/independent",
            "connections/idle-timeout/empty-frame",
            "framing/empty-frame",
            "connections/empty-frame/channel-zero",
            "connections/idle-timeout/unsupported",
        ),
        "the broker does not keep the partner's idle timeout",
    ),
    Fault(
        "own-idle-timeout-kept-for-both",
        ("performatives/open/idle-time-out/required", "connections/idle-timeout/independent"),
        "the broker is silent for as long as it bears with others",
    ),
    Fault(
        "idle-timeout-zero-taken-literally",
        ("performatives/open/idle-time-out/zero",),
        "an idle timeout of zero ends the connection at once",
    ),
    Fault(
        "silent-clients-dropped",
        ("performatives/open/idle-time-out/internal",),
        "who says nothing for half a second is dropped",
    ),
    Fault(
        "flows-for-life",
        ("connections/idle-timeout/flow", "connections/idle-timeout/empty-frame", "framing/empty-frame"),
        "where a session is up, the broker sends flows in place of empty frames",
    ),
    Fault(
        "empty-frames-on-any-channel",
        ("connections/empty-frame/channel-zero", "connections/empty-frame/before-open-received"),
        "empty frames go out on the highest channel in use",
    ),
    Fault(
        "empty-frame-before-open",
        (
            "connections/empty-frame/after-open",
            "connections/empty-frame/before-open-received",
            "connections/opening/open-first",
            "performatives/open/first-frame",
            "connections/states/legal-frames",
        ),
        "the broker sends an empty frame before its open",
    ),
    Fault(
        "empty-frame-off-channel-zero-before-open",
        ("connections/empty-frame/before-open-received",),
        "the broker sends an empty frame on channel 1 before its open",
    ),
    Fault(
        "empty-frames-refused-off-channel-zero",
        ("connections/empty-frame/any-channel",),
        "empty frames on other channels than 0 are refused",
    ),
    Fault(
        "empty-frames-count-as-transfers",
        ("connections/empty-frame/no-meaning",),
        "an empty frame counts as a transfer",
    ),
    Fault(
        "empty-frame-breaks-delivery",
        ("connections/empty-frame/no-meaning",),
        "an empty frame ends the delivery that is on its way",
    ),
)
