"""What messages are made of, what happens to deliveries, where links end: AMQP 1.0, Part 3.

Knows: sections, delivery states and outcomes, sources and targets.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.typed import Choice, Composite, Restricted, TypedField

SECTIONS = (
    Composite(
        "header",
        "amqp:header:list",
        0x70,
        (
            TypedField("durable", "boolean", default="false"),
            TypedField("priority", "ubyte", default="4"),
            TypedField("ttl", "milliseconds"),
            TypedField("first-acquirer", "boolean", default="false"),
            TypedField("delivery-count", "uint", default="0"),
        ),
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
    Composite(
        "properties",
        "amqp:properties:list",
        0x73,
        (
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
        ),
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
    Composite(
        "received",
        "amqp:received:list",
        0x23,
        (
            TypedField("section-number", "uint", mandatory=True),
            TypedField("section-offset", "ulong", mandatory=True),
        ),
        provides=("delivery-state",),
    ),
    Composite("accepted", "amqp:accepted:list", 0x24, provides=("delivery-state", "outcome")),
    Composite(
        "rejected",
        "amqp:rejected:list",
        0x25,
        (TypedField("error", "error"),),
        provides=("delivery-state", "outcome"),
    ),
    Composite("released", "amqp:released:list", 0x26, provides=("delivery-state", "outcome")),
    Composite(
        "modified",
        "amqp:modified:list",
        0x27,
        (
            TypedField("delivery-failed", "boolean"),
            TypedField("undeliverable-here", "boolean"),
            TypedField("message-annotations", "fields"),
        ),
        provides=("delivery-state", "outcome"),
    ),
)
"""How far a delivery is, and how it ended."""

ADDRESSING = (
    Composite(
        "source",
        "amqp:source:list",
        0x28,
        (
            TypedField("address", "*", requires="address"),
            TypedField("durable", "terminus-durability", default="none"),
            TypedField("expiry-policy", "terminus-expiry-policy", default="session-end"),
            TypedField("timeout", "seconds", default="0"),
            TypedField("dynamic", "boolean", default="false"),
            TypedField("dynamic-node-properties", "node-properties"),
            TypedField("distribution-mode", "symbol", requires="distribution-mode"),
            TypedField("filter", "filter-set"),
            TypedField("default-outcome", "*", requires="outcome"),
            TypedField("outcomes", "symbol", multiple=True),
            TypedField("capabilities", "symbol", multiple=True),
        ),
        provides=("source",),
    ),
    Composite(
        "target",
        "amqp:target:list",
        0x29,
        (
            TypedField("address", "*", requires="address"),
            TypedField("durable", "terminus-durability", default="none"),
            TypedField("expiry-policy", "terminus-expiry-policy", default="session-end"),
            TypedField("timeout", "seconds", default="0"),
            TypedField("dynamic", "boolean", default="false"),
            TypedField("dynamic-node-properties", "node-properties"),
            TypedField("capabilities", "symbol", multiple=True),
        ),
        provides=("target",),
    ),
    Restricted(
        "terminus-durability",
        "uint",
        choices=(
            Choice("none", 0),
            Choice("configuration", 1),
            Choice("unsettled-state", 2),
        ),
    ),
    Restricted(
        "terminus-expiry-policy",
        "symbol",
        choices=(
            Choice("link-detach", "link-detach"),
            Choice("session-end", "session-end"),
            Choice("connection-close", "connection-close"),
            Choice("never", "never"),
        ),
    ),
    Restricted(
        "std-dist-mode",
        "symbol",
        choices=(
            Choice("move", "move"),
            Choice("copy", "copy"),
        ),
        provides=("distribution-mode",),
    ),
    Restricted("filter-set", "map", keys=("symbol",)),
    Restricted("node-properties", "fields"),
    Composite("delete-on-close", "amqp:delete-on-close:list", 0x2B, provides=("lifetime-policy",)),
    Composite("delete-on-no-links", "amqp:delete-on-no-links:list", 0x2C, provides=("lifetime-policy",)),
    Composite(
        "delete-on-no-messages", "amqp:delete-on-no-messages:list", 0x2D, provides=("lifetime-policy",)
    ),
    Composite(
        "delete-on-no-links-or-messages",
        "amqp:delete-on-no-links-or-messages:list",
        0x2E,
        provides=("lifetime-policy",),
    ),
)
"""Both ends of a link, and how long nodes made for one live."""
