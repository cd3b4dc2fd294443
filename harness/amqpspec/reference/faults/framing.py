"""Faults of octets: frames, bits, contents.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault("frame-end-wrong", ("wire/frame/end-octet-sent",), "body frames end in another octet"),
    Fault(
        "frame-larger-than-agreed",
        (
            "wire/frame/size-sent",
            "connection/tune-ok/frame-max/all-frames",
        ),
        "a body frame is one octet larger than agreed",
    ),
    Fault(
        "method-inside-content",
        (
            "wire/content/synchronisation",
            "wire/content/split-bodies",
        ),
        "a method is sent between the header and the body of a content",
    ),
    Fault(
        "body-truncated",
        (
            "wire/content/unmodified",
            "wire/content/split-bodies",
        ),
        "a content has one octet less than its header says",
    ),
    Fault("body-modified", ("wire/content/unmodified",), "the body of a message is turned round"),
    Fault(
        "properties-dropped",
        (
            "wire/content/unmodified",
            "wire/content/property-flags",
        ),
        "a message loses its properties",
    ),
    Fault(
        "unknown-header-not-answered",
        ("amq_wlp_header_02", "amq_wlp_header_03", "amq_wlp_header_04"),
        "first octets that the broker does not know end the socket without a header",
    ),
    Fault(
        "frame-decoded-before-its-end",
        ("amq_wlp_frame_02",),
        "a frame is carried out before its end octet is checked",
    ),
    Fault(
        "frame-size-checked-at-its-end",
        ("amq_wlp_frame_03",),
        "the size of a frame is checked once all of it has come",
    ),
    Fault(
        "routing-key-cut", ("wire/strings/shortstr-full-length",), "routing keys come back with 127 octets"
    ),
    Fault(
        "declare-flags-read-backwards",
        ("wire/bits/packing",),
        "the flags of queue.declare are read backwards",
    ),
    Fault(
        "arrays-dropped-from-headers",
        ("wire/table/all-types-round-trip",),
        "arrays are missing from the headers of a delivered message",
    ),
    Fault(
        "tables-with-arrays-not-read",
        ("wire/table/all-types-round-trip",),
        "arguments with an array among them are refused",
    ),
    Fault(
        "field-names-begin-with-letters-only",
        ("amq_wlp_table_01",),
        "field names that begin with $ or # are refused",
    ),
    Fault(
        "contents-within-contents-taken",
        ("amq_wlp_content_04", "amq_wlp_content_05"),
        "a weight is let pass, and a second content header thrown away",
    ),
    Fault("empty-body-in-a-frame", ("wire/content/zero-body",), "a body of no octets is sent as a frame"),
    Fault(
        "one-content-per-connection",
        ("wire/content/interleaved-channels",),
        "a content that begins on one channel ends those of the others",
    ),
    Fault(
        "property-flags-one-place-off",
        ("wire/content/property-flags",),
        "the flags of a delivered message are one place too low",
    ),
    Fault(
        "continued-flags-not-read",
        ("wire/content/property-flags-continued",),
        "a second word of property flags is refused",
    ),
    Fault(
        "unagreed-heartbeat-refused",
        ("amq_wlp_heartbeat_02",),
        "a heartbeat where none were agreed on is refused",
    ),
    Fault(
        "only-heartbeats-are-life",
        ("wire/heartbeat/any-octet",),
        "a client that sends other octets than heartbeats is taken for dead",
    ),
    Fault("dead-after-one-interval", ("wire/heartbeat/missed",), "one silent interval ends the connection"),
    Fault("shared-queue-not-found", ("wire/channels/visibility",), "a passive declare finds no shared queue"),
    Fault(
        "messages-of-others-not-got",
        ("wire/channels/visibility",),
        "get gives a client its own messages only",
    ),
    Fault(
        "channel-exception-ends-connection",
        ("wire/errors/channel-scope",),
        "what should close a channel closes the connection",
    ),
    Fault(
        "closes-carry-another-code",
        (
            "constant/access-refused",
            "constant/not-found",
            "constant/resource-locked",
            "constant/precondition-failed",
            "constant/frame-error",
            "constant/syntax-error",
            "constant/command-invalid",
            "constant/channel-error",
            "constant/unexpected-frame",
            "constant/not-allowed",
            "constant/not-implemented",
        ),
        "every close carries a reply code that is not defined",
    ),
    Fault("bits-from-the-high-end", ("wire/bits/packing",), "bits are packed from the high end of an octet"),
    Fault(
        "first-frames-must-be-small",
        (
            "connection/tune/frame-max/minimum",
            "connection/tune-ok/frame-max/minimum",
        ),
        "before tune, frames of more than 1,024 octets are refused",
    ),
)
