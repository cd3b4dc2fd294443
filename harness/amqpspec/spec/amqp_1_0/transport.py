"""What connections, sessions and links say to each other: AMQP 1.0, Part 2.

Knows: performatives, their types, error conditions.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.typed import Choice, Composite, Restricted, TypedField

PERFORMATIVES = (
    Composite(
        "open",
        "amqp:open:list",
        0x10,
        (
            TypedField("container-id", "string", mandatory=True),
            TypedField("hostname", "string"),
            TypedField("max-frame-size", "uint", default="4294967295"),
            TypedField("channel-max", "ushort", default="65535"),
            TypedField("idle-time-out", "milliseconds"),
            TypedField("outgoing-locales", "ietf-language-tag", multiple=True),
            TypedField("incoming-locales", "ietf-language-tag", multiple=True),
            TypedField("offered-capabilities", "symbol", multiple=True),
            TypedField("desired-capabilities", "symbol", multiple=True),
            TypedField("properties", "fields"),
        ),
        provides=("frame",),
    ),
    Composite(
        "begin",
        "amqp:begin:list",
        0x11,
        (
            TypedField("remote-channel", "ushort"),
            TypedField("next-outgoing-id", "transfer-number", mandatory=True),
            TypedField("incoming-window", "uint", mandatory=True),
            TypedField("outgoing-window", "uint", mandatory=True),
            TypedField("handle-max", "handle", default="4294967295"),
            TypedField("offered-capabilities", "symbol", multiple=True),
            TypedField("desired-capabilities", "symbol", multiple=True),
            TypedField("properties", "fields"),
        ),
        provides=("frame",),
    ),
    Composite(
        "attach",
        "amqp:attach:list",
        0x12,
        (
            TypedField("name", "string", mandatory=True),
            TypedField("handle", "handle", mandatory=True),
            TypedField("role", "role", mandatory=True),
            TypedField("snd-settle-mode", "sender-settle-mode", default="mixed"),
            TypedField("rcv-settle-mode", "receiver-settle-mode", default="first"),
            TypedField("source", "*", requires="source"),
            TypedField("target", "*", requires="target"),
            TypedField("unsettled", "map"),
            TypedField("incomplete-unsettled", "boolean", default="false"),
            TypedField("initial-delivery-count", "sequence-no"),
            TypedField("max-message-size", "ulong"),
            TypedField("offered-capabilities", "symbol", multiple=True),
            TypedField("desired-capabilities", "symbol", multiple=True),
            TypedField("properties", "fields"),
        ),
        provides=("frame",),
    ),
    Composite(
        "flow",
        "amqp:flow:list",
        0x13,
        (
            TypedField("next-incoming-id", "transfer-number"),
            TypedField("incoming-window", "uint", mandatory=True),
            TypedField("next-outgoing-id", "transfer-number", mandatory=True),
            TypedField("outgoing-window", "uint", mandatory=True),
            TypedField("handle", "handle"),
            TypedField("delivery-count", "sequence-no"),
            TypedField("link-credit", "uint"),
            TypedField("available", "uint"),
            TypedField("drain", "boolean", default="false"),
            TypedField("echo", "boolean", default="false"),
            TypedField("properties", "fields"),
        ),
        provides=("frame",),
    ),
    Composite(
        "transfer",
        "amqp:transfer:list",
        0x14,
        (
            TypedField("handle", "handle", mandatory=True),
            TypedField("delivery-id", "delivery-number"),
            TypedField("delivery-tag", "delivery-tag"),
            TypedField("message-format", "message-format"),
            TypedField("settled", "boolean"),
            TypedField("more", "boolean", default="false"),
            TypedField("rcv-settle-mode", "receiver-settle-mode"),
            TypedField("state", "*", requires="delivery-state"),
            TypedField("resume", "boolean", default="false"),
            TypedField("aborted", "boolean", default="false"),
            TypedField("batchable", "boolean", default="false"),
        ),
        provides=("frame",),
    ),
    Composite(
        "disposition",
        "amqp:disposition:list",
        0x15,
        (
            TypedField("role", "role", mandatory=True),
            TypedField("first", "delivery-number", mandatory=True),
            TypedField("last", "delivery-number"),
            TypedField("settled", "boolean", default="false"),
            TypedField("state", "*", requires="delivery-state"),
            TypedField("batchable", "boolean", default="false"),
        ),
        provides=("frame",),
    ),
    Composite(
        "detach",
        "amqp:detach:list",
        0x16,
        (
            TypedField("handle", "handle", mandatory=True),
            TypedField("closed", "boolean", default="false"),
            TypedField("error", "error"),
        ),
        provides=("frame",),
    ),
    Composite("end", "amqp:end:list", 0x17, (TypedField("error", "error"),), provides=("frame",)),
    Composite("close", "amqp:close:list", 0x18, (TypedField("error", "error"),), provides=("frame",)),
)
"""What AMQP frames carry, by descriptor."""

DEFINITIONS = (
    Restricted(
        "role",
        "boolean",
        choices=(
            Choice("sender", False),
            Choice("receiver", True),
        ),
    ),
    Restricted(
        "sender-settle-mode",
        "ubyte",
        choices=(
            Choice("unsettled", 0),
            Choice("settled", 1),
            Choice("mixed", 2),
        ),
    ),
    Restricted(
        "receiver-settle-mode",
        "ubyte",
        choices=(
            Choice("first", 0),
            Choice("second", 1),
        ),
    ),
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
    Composite(
        "error",
        "amqp:error:list",
        0x1D,
        (
            TypedField("condition", "symbol", mandatory=True, requires="error-condition"),
            TypedField("description", "string"),
            TypedField("info", "fields"),
        ),
    ),
    Restricted(
        "amqp-error",
        "symbol",
        choices=(
            Choice("internal-error", "amqp:internal-error"),
            Choice("not-found", "amqp:not-found"),
            Choice("unauthorized-access", "amqp:unauthorized-access"),
            Choice("decode-error", "amqp:decode-error"),
            Choice("resource-limit-exceeded", "amqp:resource-limit-exceeded"),
            Choice("not-allowed", "amqp:not-allowed"),
            Choice("invalid-field", "amqp:invalid-field"),
            Choice("not-implemented", "amqp:not-implemented"),
            Choice("resource-locked", "amqp:resource-locked"),
            Choice("precondition-failed", "amqp:precondition-failed"),
            Choice("resource-deleted", "amqp:resource-deleted"),
            Choice("illegal-state", "amqp:illegal-state"),
            Choice("frame-size-too-small", "amqp:frame-size-too-small"),
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "connection-error",
        "symbol",
        choices=(
            Choice("connection-forced", "amqp:connection:forced"),
            Choice("framing-error", "amqp:connection:framing-error"),
            Choice("redirect", "amqp:connection:redirect"),
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "session-error",
        "symbol",
        choices=(
            Choice("window-violation", "amqp:session:window-violation"),
            Choice("errant-link", "amqp:session:errant-link"),
            Choice("handle-in-use", "amqp:session:handle-in-use"),
            Choice("unattached-handle", "amqp:session:unattached-handle"),
        ),
        provides=("error-condition",),
    ),
    Restricted(
        "link-error",
        "symbol",
        choices=(
            Choice("detach-forced", "amqp:link:detach-forced"),
            Choice("transfer-limit-exceeded", "amqp:link:transfer-limit-exceeded"),
            Choice("message-size-exceeded", "amqp:link:message-size-exceeded"),
            Choice("redirect", "amqp:link:redirect"),
            Choice("stolen", "amqp:link:stolen"),
        ),
        provides=("error-condition",),
    ),
)
"""Types of fields, the error and its conditions."""
