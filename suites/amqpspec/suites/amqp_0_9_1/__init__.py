"""The suite of AMQP 0-9-1: one module per class or chapter, cases in the order of the specification.

The wire level comes first, for everything else stands on it; then the classes, the domains and the reply codes.
Modules with an underscore hold steps that cases share.
"""

DIALECT = "amqp-0-9-1"
ORDER = (
    "framing",
    "framing_methods",
    "framing_tables",
    "framing_content",
    "framing_messages",
    "framing_heartbeats",
    "framing_channels",
    "framing_errors",
    "connection",
    "connection_secure",
    "connection_tune",
    "connection_open",
    "channel",
    "exchange",
    "exchange_types",
    "exchange_declare",
    "exchange_lifetime",
    "exchange_delete",
    "exchange_bind",
    "queue",
    "queue_equivalence",
    "queue_lifetime",
    "queue_bind",
    "queue_delete",
    "basic",
    "basic_qos",
    "basic_qos_reopening",
    "basic_consume",
    "basic_publish",
    "basic_deliver",
    "basic_ack",
    "basic_reject",
    "basic_recover",
    "tx",
    "confirm",
    "extensions",
    "domains",
    "domains_no_wait",
    "constants",
)
