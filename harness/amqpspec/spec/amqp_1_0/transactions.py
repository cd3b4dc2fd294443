"""How work is done together or not at all: AMQP 1.0, Part 4.

Knows: the coordinator, its messages, states and conditions.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.typed import Choice, Composite, Restricted, TypedField

COORDINATION = (
    Composite(
        "coordinator",
        "amqp:coordinator:list",
        0x30,
        (TypedField("capabilities", "symbol", multiple=True, requires="txn-capability"),),
        provides=("target",),
    ),
    Composite("declare", "amqp:declare:list", 0x31, (TypedField("global-id", "*", requires="global-tx-id"),)),
    Composite(
        "discharge",
        "amqp:discharge:list",
        0x32,
        (
            TypedField("txn-id", "*", mandatory=True, requires="txn-id"),
            TypedField("fail", "boolean"),
        ),
    ),
    Restricted("transaction-id", "binary", provides=("txn-id",)),
    Composite(
        "declared",
        "amqp:declared:list",
        0x33,
        (TypedField("txn-id", "*", mandatory=True, requires="txn-id"),),
        provides=("delivery-state", "outcome"),
    ),
    Composite(
        "transactional-state",
        "amqp:transactional-state:list",
        0x34,
        (
            TypedField("txn-id", "*", mandatory=True, requires="txn-id"),
            TypedField("outcome", "*", requires="outcome"),
        ),
        provides=("delivery-state",),
    ),
    Restricted(
        "txn-capability",
        "symbol",
        choices=(
            Choice("local-transactions", "amqp:local-transactions"),
            Choice("distributed-transactions", "amqp:distributed-transactions"),
            Choice("promotable-transactions", "amqp:promotable-transactions"),
            Choice("multi-txns-per-ssn", "amqp:multi-txns-per-ssn"),
            Choice("multi-ssns-per-txn", "amqp:multi-ssns-per-txn"),
        ),
        provides=("txn-capability",),
    ),
    Restricted(
        "transaction-error",
        "symbol",
        choices=(
            Choice("unknown-id", "amqp:transaction:unknown-id"),
            Choice("transaction-rollback", "amqp:transaction:rollback"),
            Choice("transaction-timeout", "amqp:transaction:timeout"),
        ),
        provides=("error-condition",),
    ),
)
"""The coordinator's types."""
