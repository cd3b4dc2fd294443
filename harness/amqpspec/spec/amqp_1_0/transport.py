"""What connections, sessions and links say to each other: AMQP 1.0, Part 2.

Knows: performatives, their types, error conditions.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.amqp_1_0.rows import composite, flag, required, several
from amqpspec.spec.typed import Restricted, TypedField, choices

_ABILITIES = (
    several("offered-capabilities"),
    several("desired-capabilities"),
    TypedField("properties", "fields"),
)
"""What both ends tell about themselves as a connection, a session or a link begins."""

PERFORMATIVES = (
    composite(
        "open",
        0x10,
        required("container-id", "string"),
        TypedField("hostname", "string"),
        TypedField("max-frame-size", "uint", default="4294967295"),
        TypedField("channel-max", "ushort", default="65535"),
        TypedField("idle-time-out", "milliseconds"),
        TypedField("outgoing-locales", "ietf-language-tag", multiple=True),
        TypedField("incoming-locales", "ietf-language-tag", multiple=True),
        *_ABILITIES,
        provides=("frame",),
    ),
    composite(
        "begin",
        0x11,
        TypedField("remote-channel", "ushort"),
        required("next-outgoing-id", "transfer-number"),
        required("incoming-window", "uint"),
        required("outgoing-window", "uint"),
        TypedField("handle-max", "handle", default="4294967295"),
        *_ABILITIES,
        provides=("frame",),
    ),
    composite(
        "attach",
        0x12,
        required("name", "string"),
        required("handle", "handle"),
        required("role", "role"),
        TypedField("snd-settle-mode", "sender-settle-mode", default="mixed"),
        TypedField("rcv-settle-mode", "receiver-settle-mode", default="first"),
        TypedField("source", "*", requires="source"),
        TypedField("target", "*", requires="target"),
        TypedField("unsettled", "map"),
        flag("incomplete-unsettled"),
        TypedField("initial-delivery-count", "sequence-no"),
        TypedField("max-message-size", "ulong"),
        *_ABILITIES,
        provides=("frame",),
    ),
    composite(
        "flow",
        0x13,
        TypedField("next-incoming-id", "transfer-number"),
        required("incoming-window", "uint"),
        required("next-outgoing-id", "transfer-number"),
        required("outgoing-window", "uint"),
        TypedField("handle", "handle"),
        TypedField("delivery-count", "sequence-no"),
        TypedField("link-credit", "uint"),
        TypedField("available", "uint"),
        flag("drain"),
        flag("echo"),
        TypedField("properties", "fields"),
        provides=("frame",),
    ),
    composite(
        "transfer",
        0x14,
        required("handle", "handle"),
        TypedField("delivery-id", "delivery-number"),
        TypedField("delivery-tag", "delivery-tag"),
        TypedField("message-format", "message-format"),
        TypedField("settled", "boolean"),
        flag("more"),
        TypedField("rcv-settle-mode", "receiver-settle-mode"),
        TypedField("state", "*", requires="delivery-state"),
        flag("resume"),
        flag("aborted"),
        flag("batchable"),
        provides=("frame",),
    ),
    composite(
        "disposition",
        0x15,
        required("role", "role"),
        required("first", "delivery-number"),
        TypedField("last", "delivery-number"),
        flag("settled"),
        TypedField("state", "*", requires="delivery-state"),
        flag("batchable"),
        provides=("frame",),
    ),
    composite(
        "detach",
        0x16,
        required("handle", "handle"),
        flag("closed"),
        TypedField("error", "error"),
        provides=("frame",),
    ),
    composite("end", 0x17, TypedField("error", "error"), provides=("frame",)),
    composite("close", 0x18, TypedField("error", "error"), provides=("frame",)),
)
"""What AMQP frames carry, by descriptor."""

DEFINITIONS = (
    Restricted("role", "boolean", choices=choices({"sender": False, "receiver": True})),
    Restricted("sender-settle-mode", "ubyte", choices=choices({"unsettled": 0, "settled": 1, "mixed": 2})),
    Restricted("receiver-settle-mode", "ubyte", choices=choices({"first": 0, "second": 1})),
    Restricted("handle", "uint"),
    Restricted("seconds", "uint"),
    Restricted("milliseconds", "uint"),
    Restricted("delivery-tag", "binary"),
    Restricted("delivery-number", "sequence-no"),
    Restricted("transfer-number", "sequence-no"),
    Restricted("sequence-no", "uint"),
    Restricted("message-format", "uint"),
    Restricted("ietf-language-tag", "symbol"),
    Restricted("fields", "map", keys=("symbol",)),
    composite(
        "error",
        0x1D,
        TypedField("condition", "symbol", mandatory=True, requires="error-condition"),
        TypedField("description", "string"),
        TypedField("info", "fields"),
    ),
    Restricted(
        "amqp-error",
        "symbol",
        choices=choices(
            {
                "internal-error": "amqp:internal-error",
                "not-found": "amqp:not-found",
                "unauthorized-access": "amqp:unauthorized-access",
                "decode-error": "amqp:decode-error",
                "resource-limit-exceeded": "amqp:resource-limit-exceeded",
                "not-allowed": "amqp:not-allowed",
                "invalid-field": "amqp:invalid-field",
                "not-implemented": "amqp:not-implemented",
                "resource-locked": "amqp:resource-locked",
                "precondition-failed": "amqp:precondition-failed",
                "resource-deleted": "amqp:resource-deleted",
                "illegal-state": "amqp:illegal-state",
                "frame-size-too-small": "amqp:frame-size-too-small",
            }
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "connection-error",
        "symbol",
        choices=choices(
            {
                "connection-forced": "amqp:connection:forced",
                "framing-error": "amqp:connection:framing-error",
                "redirect": "amqp:connection:redirect",
            }
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "session-error",
        "symbol",
        choices=choices(
            {
                "window-violation": "amqp:session:window-violation",
                "errant-link": "amqp:session:errant-link",
                "handle-in-use": "amqp:session:handle-in-use",
                "unattached-handle": "amqp:session:unattached-handle",
            }
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "link-error",
        "symbol",
        choices=choices(
            {
                "detach-forced": "amqp:link:detach-forced",
                "transfer-limit-exceeded": "amqp:link:transfer-limit-exceeded",
                "message-size-exceeded": "amqp:link:message-size-exceeded",
                "redirect": "amqp:link:redirect",
                "stolen": "amqp:link:stolen",
            }
        ),
        provides=("error-condition",),
    ),
)
"""Types of fields, the error and its conditions."""
