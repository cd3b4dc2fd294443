"""Faults of frames.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "channel-octets-swapped",
        ("framing/channel",),
        "the octets of a channel number are read the wrong way round",
    ),
    Fault(
        "extended-header-refused",
        ("framing/doff", "framing/extended-header"),
        "a frame with an extended header is malformed",
    ),
    Fault(
        "extended-header-taken-for-body",
        ("framing/extended-header", "framing/doff", "framing/size"),
        "the body is looked for behind eight octets, always",
    ),
    Fault(
        "frame-size-without-its-header",
        ("framing/size",),
        "the size of begin frames does not count the frame header",
    ),
    Fault(
        "payload-before-performative",
        ("framing/payload",),
        "the payload of a transfer stands before its performative",
    ),
    Fault(
        "delivery-annotations-unknown",
        ("framing/payload",),
        "a message with delivery annotations ends the session",
    ),
    Fault(
        "delivery-annotations-end-the-message",
        ("framing/payload",),
        "what stands behind delivery annotations is lost",
    ),
    Fault(
        "list-values-taken-for-fields",
        ("framing/payload",),
        "a message whose value is a list of two or more ends the session",
    ),
    Fault(
        "map-values-taken-for-fields",
        ("framing/payload",),
        "a message whose value is a map ends the session",
    ),
    Fault(
        "list-values-cut",
        ("framing/payload",),
        "of a value that is a list, the first item is kept",
    ),
    Fault(
        "arrays-of-no-width-refused",
        ("framing/payload",),
        "a message whose value is an array with elements that take no octets ends the session",
    ),
    Fault(
        "begin-in-a-frame-of-type-two", ("framing/type",), "the broker's begin is in a frame of another type"
    ),
    Fault("unknown-frame-types-dropped", ("framing/type",), "a frame of an unknown type is passed over"),
    Fault(
        "empty-frames-are-no-life",
        ("framing/empty-frame", "connections/idle-timeout/measure", "connections/idle-timeout/empty-frame"),
        "empty frames do not stop the idle timer",
    ),
    Fault(
        "performatives-by-symbol-refused",
        ("model/nine-frame-bodies", "framing/performative"),
        "a performative whose descriptor is a symbol is none",
    ),
)
