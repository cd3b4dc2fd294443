"""What messages are made of, what happens to deliveries, where links end: AMQP 1.0, Part 3.

Knows: sections, delivery states and outcomes, sources and targets.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.amqp_1_0.rows import composite, flag, required, several
from amqpspec.spec.typed import Restricted, TypedField, choices

SECTIONS = (
    composite(
        "header",
        0x70,
        flag("durable"),
        TypedField("priority", "ubyte", default="4"),
        TypedField("ttl", "milliseconds"),
        flag("first-acquirer"),
        TypedField("delivery-count", "uint", default="0"),
        provides=("section",),
    ),
    Restricted(
        "delivery-annotations",
        "annotations",
        provides=("section",),
        symbol="amqp:delivery-annotations:map",
        code=0x71,
    ),
    Restricted(
        "message-annotations",
        "annotations",
        provides=("section",),
        symbol="amqp:message-annotations:map",
        code=0x72,
    ),
    composite(
        "properties",
        0x73,
        TypedField("message-id", "*", requires="message-id"),
        TypedField("user-id", "binary"),
        TypedField("to", "*", requires="address"),
        TypedField("subject", "string"),
        TypedField("reply-to", "*", requires="address"),
        TypedField("correlation-id", "*", requires="message-id"),
        TypedField("content-type", "symbol"),
        TypedField("content-encoding", "symbol"),
        TypedField("absolute-expiry-time", "timestamp"),
        TypedField("creation-time", "timestamp"),
        TypedField("group-id", "string"),
        TypedField("group-sequence", "sequence-no"),
        TypedField("reply-to-group-id", "string"),
        provides=("section",),
    ),
    Restricted(
        "application-properties",
        "map",
        provides=("section",),
        symbol="amqp:application-properties:map",
        code=0x74,
        keys=("string",),
    ),
    Restricted("data", "binary", provides=("section",), symbol="amqp:data:binary", code=0x75),
    Restricted("amqp-sequence", "list", provides=("section",), symbol="amqp:amqp-sequence:list", code=0x76),
    Restricted("amqp-value", "*", provides=("section",), symbol="amqp:amqp-value:*", code=0x77),
    Restricted("footer", "annotations", provides=("section",), symbol="amqp:footer:map", code=0x78),
    Restricted("annotations", "map", keys=("symbol", "ulong")),
    Restricted("message-id-ulong", "ulong", provides=("message-id",)),
    Restricted("message-id-uuid", "uuid", provides=("message-id",)),
    Restricted("message-id-binary", "binary", provides=("message-id",)),
    Restricted("message-id-string", "string", provides=("message-id",)),
    Restricted("address-string", "string", provides=("address",)),
)
"""Parts of a message in their order, then the types of their fields."""

DELIVERY_STATES = (
    composite(
        "received",
        0x23,
        required("section-number", "uint"),
        required("section-offset", "ulong"),
        provides=("delivery-state",),
    ),
    composite("accepted", 0x24, provides=("delivery-state", "outcome")),
    composite("rejected", 0x25, TypedField("error", "error"), provides=("delivery-state", "outcome")),
    composite("released", 0x26, provides=("delivery-state", "outcome")),
    composite(
        "modified",
        0x27,
        TypedField("delivery-failed", "boolean"),
        TypedField("undeliverable-here", "boolean"),
        TypedField("message-annotations", "fields"),
        provides=("delivery-state", "outcome"),
    ),
)
"""How far a delivery is, and how it ended."""

_TERMINUS = (
    TypedField("address", "*", requires="address"),
    TypedField("durable", "terminus-durability", default="none"),
    TypedField("expiry-policy", "terminus-expiry-policy", default="session-end"),
    TypedField("timeout", "seconds", default="0"),
    flag("dynamic"),
    TypedField("dynamic-node-properties", "node-properties"),
)
"""What sources and targets begin with."""

ADDRESSING = (
    composite(
        "source",
        0x28,
        *_TERMINUS,
        TypedField("distribution-mode", "symbol", requires="distribution-mode"),
        TypedField("filter", "filter-set"),
        TypedField("default-outcome", "*", requires="outcome"),
        several("outcomes"),
        several("capabilities"),
        provides=("source",),
    ),
    composite(
        "target",
        0x29,
        *_TERMINUS,
        several("capabilities"),
        provides=("target",),
    ),
    Restricted(
        "terminus-durability", "uint", choices=choices({"none": 0, "configuration": 1, "unsettled-state": 2})
    ),
    Restricted(
        "terminus-expiry-policy",
        "symbol",
        choices=choices(
            {
                "link-detach": "link-detach",
                "session-end": "session-end",
                "connection-close": "connection-close",
                "never": "never",
            }
        ),
    ),
    Restricted(
        "std-dist-mode",
        "symbol",
        choices=choices({"move": "move", "copy": "copy"}),
        provides=("distribution-mode",),
    ),
    Restricted("filter-set", "map", keys=("symbol",)),
    Restricted("node-properties", "fields"),
    composite("delete-on-close", 0x2B, provides=("lifetime-policy",)),
    composite("delete-on-no-links", 0x2C, provides=("lifetime-policy",)),
    composite("delete-on-no-messages", 0x2D, provides=("lifetime-policy",)),
    composite("delete-on-no-links-or-messages", 0x2E, provides=("lifetime-policy",)),
)
"""Both ends of a link, and how long nodes made for one live."""
