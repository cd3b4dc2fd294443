"""How work is done together or not at all: AMQP 1.0, Part 4.

Knows: the coordinator, its messages, states and conditions.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.amqp_1_0.rows import composite
from amqpspec.spec.typed import Restricted, TypedField, choices

_TXN_ID = TypedField("txn-id", "*", mandatory=True, requires="txn-id")

COORDINATION = (
    composite(
        "coordinator",
        0x30,
        TypedField("capabilities", "symbol", multiple=True, requires="txn-capability"),
        provides=("target",),
    ),
    composite("declare", 0x31, TypedField("global-id", "*", requires="global-tx-id")),
    composite(
        "discharge",
        0x32,
        _TXN_ID,
        TypedField("fail", "boolean"),
    ),
    Restricted("transaction-id", "binary", provides=("txn-id",)),
    composite("declared", 0x33, _TXN_ID, provides=("delivery-state", "outcome")),
    composite(
        "transactional-state",
        0x34,
        _TXN_ID,
        TypedField("outcome", "*", requires="outcome"),
        provides=("delivery-state",),
    ),
    Restricted(
        "txn-capability",
        "symbol",
        choices=choices(
            {
                "local-transactions": "amqp:local-transactions",
                "distributed-transactions": "amqp:distributed-transactions",
                "promotable-transactions": "amqp:promotable-transactions",
                "multi-txns-per-ssn": "amqp:multi-txns-per-ssn",
                "multi-ssns-per-txn": "amqp:multi-ssns-per-txn",
            }
        ),
        provides=("txn-capability",),
    ),
    Restricted(
        "transaction-error",
        "symbol",
        choices=choices(
            {
                "unknown-id": "amqp:transaction:unknown-id",
                "transaction-rollback": "amqp:transaction:rollback",
                "transaction-timeout": "amqp:transaction:timeout",
            }
        ),
        provides=("error-condition",),
    ),
)
"""The coordinator's types."""
